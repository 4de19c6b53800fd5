import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMessage, type Message } from "../message/message.ts";
import type { Authority } from "../server/authority.ts";
import { authorityOf, caseZoneText, describe, exchange, question } from "../testdata/case-zone.ts";
import { askSigned, SetClock, signZones } from "../testdata/signed-zone.ts";

const zoneText = `${caseZoneText}
signed NS ns.signed
signed DS 12345 13 2 ${"00".repeat(32)}
ns.signed A 192.0.2.55
under A 192.0.2.60
under NS ns.signed
`;

function signedAuthority(texts: readonly string[] = [zoneText]): Authority {
  const authority = authorityOf(texts);
  signZones(authority, ["p.test"]);
  return authority;
}

/** Records by section, signatures as `RRSIG(type)`, addresses and texts left out. */
function outline(message: Message): string {
  const section = (title: string, records: Message["answers"]): string =>
    records.length === 0
      ? ""
      : ` ${title}: ${records
          .map(({ name, type, data }) => {
            if (type === "RRSIG") return `${name} RRSIG(${data.split(" ")[0]})`;
            return type === "NSEC" ? `${name} NSEC ${data}` : `${name} ${type}`;
          })
          .join(", ")}`;
  const flags = `${message.authoritative ? " aa" : ""}${message.truncated ? " tc" : ""}`;
  return (
    ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN"][message.rcode] +
    flags +
    section("an", message.answers) +
    section("ns", message.authority) +
    section("ar", message.additional)
  );
}

const soa = "p.test SOA, p.test RRSIG(SOA)";
const cases: readonly (readonly [title: string, asked: readonly [string, string], expected: string])[] = [
  ["an address", ["www.p.test", "AAAA"], "NOERROR aa an: www.p.test AAAA, www.p.test RRSIG(AAAA)"],
  [
    "one signature for a set",
    ["www.p.test", "A"],
    "NOERROR aa an: www.p.test A, www.p.test A, www.p.test RRSIG(A)",
  ],
  [
    "a wildcard's answer, as the name that was asked for",
    ["a.b.wild.p.test", "A"],
    "NOERROR aa an: a.b.wild.p.test A, a.b.wild.p.test RRSIG(A)",
  ],
  ["the wildcard itself", ["*.wild.p.test", "A"], "NOERROR aa an: *.wild.p.test A, *.wild.p.test RRSIG(A)"],
  [
    "a missing type",
    ["www.p.test", "MX"],
    `NOERROR aa ns: ${soa}, www.p.test NSEC \\000.www.p.test. A AAAA RRSIG NSEC, www.p.test RRSIG(NSEC)`,
  ],
  [
    "a type that a wildcard does not have",
    ["x.wild.p.test", "MX"],
    `NOERROR aa ns: ${soa}, x.wild.p.test NSEC \\000.x.wild.p.test. A TXT RRSIG NSEC, x.wild.p.test RRSIG(NSEC)`,
  ],
  [
    "a missing name",
    ["nx.p.test", "A"],
    `NOERROR aa ns: ${soa}, nx.p.test NSEC \\000.nx.p.test. RRSIG NSEC NXNAME, nx.p.test RRSIG(NSEC)`,
  ],
  [
    "a missing name far below",
    ["a.b.nx.p.test", "A"],
    `NOERROR aa ns: ${soa}, a.b.nx.p.test NSEC \\000.a.b.nx.p.test. RRSIG NSEC NXNAME, a.b.nx.p.test RRSIG(NSEC)`,
  ],
  [
    "a name that no wildcard may stand in for",
    ["localtargets-a.wild.p.test", "A"],
    `NOERROR aa ns: ${soa}, localtargets-a.wild.p.test NSEC \\000.localtargets-a.wild.p.test. RRSIG NSEC NXNAME, localtargets-a.wild.p.test RRSIG(NSEC)`,
  ],
  [
    "an empty non-terminal",
    ["d.p.test", "A"],
    `NOERROR aa ns: ${soa}, d.p.test NSEC \\000.d.p.test. RRSIG NSEC, d.p.test RRSIG(NSEC)`,
  ],
  [
    "an empty wildcard",
    ["x.wc2.p.test", "A"],
    `NOERROR aa ns: ${soa}, x.wc2.p.test NSEC \\000.x.wc2.p.test. RRSIG NSEC, x.wc2.p.test RRSIG(NSEC)`,
  ],
  [
    "a chain",
    ["alias2.p.test", "AAAA"],
    "NOERROR aa an: alias2.p.test CNAME, alias.p.test CNAME, www.p.test AAAA, alias2.p.test RRSIG(CNAME), alias.p.test RRSIG(CNAME), www.p.test RRSIG(AAAA)",
  ],
  [
    "a chain to nothing",
    ["dangling.p.test", "A"],
    `NOERROR aa an: dangling.p.test CNAME, dangling.p.test RRSIG(CNAME) ns: ${soa}, nope.p.test NSEC \\000.nope.p.test. RRSIG NSEC NXNAME, nope.p.test RRSIG(NSEC)`,
  ],
  [
    "a chain to a missing type",
    ["alias.p.test", "MX"],
    `NOERROR aa an: alias.p.test CNAME, alias.p.test RRSIG(CNAME) ns: ${soa}, www.p.test NSEC \\000.www.p.test. A AAAA RRSIG NSEC, www.p.test RRSIG(NSEC)`,
  ],
  [
    "a chain that leads away",
    ["ext.p.test", "A"],
    "NOERROR aa an: ext.p.test CNAME, ext.p.test RRSIG(CNAME)",
  ],
  [
    "a DNAME, but not the CNAME made from it",
    ["a.dn.p.test", "A"],
    "NOERROR aa an: dn.p.test DNAME, a.dn.p.test CNAME, a.target.p.test A, dn.p.test RRSIG(DNAME), a.target.p.test RRSIG(A)",
  ],
  [
    "a DNAME to nothing",
    ["b.dn.p.test", "A"],
    `NOERROR aa an: dn.p.test DNAME, b.dn.p.test CNAME, dn.p.test RRSIG(DNAME) ns: ${soa}, b.target.p.test NSEC \\000.b.target.p.test. RRSIG NSEC NXNAME, b.target.p.test RRSIG(NSEC)`,
  ],
  [
    "addresses that come along",
    ["mail.p.test", "MX"],
    "NOERROR aa an: mail.p.test MX, mail.p.test RRSIG(MX) ar: www.p.test A, www.p.test A, www.p.test AAAA, www.p.test RRSIG(A), www.p.test RRSIG(AAAA)",
  ],
  [
    "a referral to an unsigned zone",
    ["x.sub.p.test", "A"],
    "NOERROR ns: sub.p.test NS, sub.p.test NSEC \\000.sub.p.test. NS RRSIG NSEC, sub.p.test RRSIG(NSEC) ar: ns.sub.p.test A",
  ],
  [
    "a referral to a signed zone",
    ["x.signed.p.test", "A"],
    "NOERROR ns: signed.p.test NS, signed.p.test DS, signed.p.test RRSIG(DS) ar: ns.signed.p.test A",
  ],
  [
    "a chain to a referral",
    ["deepcn.p.test", "A"],
    "NOERROR aa an: deepcn.p.test CNAME, deepcn.p.test RRSIG(CNAME) ns: sub.p.test NS, sub.p.test NSEC \\000.sub.p.test. NS RRSIG NSEC, sub.p.test RRSIG(NSEC) ar: ns.sub.p.test A",
  ],
  [
    "the DS set of a zone cut",
    ["signed.p.test", "DS"],
    "NOERROR aa an: signed.p.test DS, signed.p.test RRSIG(DS)",
  ],
  [
    "a missing DS set, glue at the cut not counted",
    ["under.p.test", "DS"],
    `NOERROR aa ns: ${soa}, under.p.test NSEC \\000.under.p.test. NS RRSIG NSEC, under.p.test RRSIG(NSEC)`,
  ],
  [
    "DS at the apex",
    ["p.test", "DS"],
    `NOERROR aa ns: ${soa}, p.test NSEC \\000.p.test. NS SOA RRSIG NSEC DNSKEY CDS CDNSKEY, p.test RRSIG(NSEC)`,
  ],
  ["the key set", ["p.test", "DNSKEY"], "NOERROR aa an: p.test DNSKEY, p.test DNSKEY, p.test RRSIG(DNSKEY)"],
  ["CDS", ["p.test", "CDS"], "NOERROR aa an: p.test CDS, p.test RRSIG(CDS)"],
  ["CDNSKEY", ["p.test", "CDNSKEY"], "NOERROR aa an: p.test CDNSKEY, p.test RRSIG(CDNSKEY)"],
  [
    "NSEC3PARAM, which compact denial has not",
    ["p.test", "NSEC3PARAM"],
    `NOERROR aa ns: ${soa}, p.test NSEC \\000.p.test. NS SOA RRSIG NSEC DNSKEY CDS CDNSKEY, p.test RRSIG(NSEC)`,
  ],
  [
    "NSEC, which every name has",
    ["www.p.test", "NSEC"],
    "NOERROR aa an: www.p.test NSEC \\000.www.p.test. A AAAA RRSIG NSEC, www.p.test RRSIG(NSEC)",
  ],
  ["RRSIG: that of NSEC is enough", ["www.p.test", "RRSIG"], "NOERROR aa an: www.p.test RRSIG(NSEC)"],
  [
    "NSEC of a missing name",
    ["nx.p.test", "NSEC"],
    `NOERROR aa ns: ${soa}, nx.p.test NSEC \\000.nx.p.test. RRSIG NSEC NXNAME, nx.p.test RRSIG(NSEC)`,
  ],
  ["ANY: one set", ["www.p.test", "ANY"], "NOERROR aa an: www.p.test AAAA, www.p.test RRSIG(AAAA)"],
  [
    "an unknown type",
    ["t666.p.test", "TYPE666"],
    "NOERROR aa an: t666.p.test TYPE666, t666.p.test RRSIG(TYPE666)",
  ],
  ["NXNAME itself", ["nx.p.test", "NXNAME"], "FORMERR"],
];
for (const [title, asked, expected] of cases) {
  test(`signed: ${title}`, () => {
    assert.equal(outline(askSigned(signedAuthority(), asked)), expected);
  });
}

test("without DO answers are as if the zone were not signed, and NXDOMAIN is NXDOMAIN", () => {
  const authority = signedAuthority();
  assert.match(
    describe(exchange(authority, question("nx.p.test", "A", { edns: true }))),
    /^NXDOMAIN aa ns: p\.test SOA \S+ \S+ [\d ]+ opt$/,
  );
  assert.match(
    describe(exchange(authority, question("www.p.test", "AAAA"))),
    /^NOERROR aa an: www\.p\.test AAAA 2001:db8::1$/,
  );
});

test("the CO flag keeps NXDOMAIN and comes back, but not from an unsigned zone", () => {
  const authority = signedAuthority([zoneText, zoneText.replaceAll("p.test", "u.test")]);
  const signed = askSigned(authority, ["nx.p.test", "A"], { compactOk: true });
  assert.match(outline(signed), /^NXDOMAIN aa ns: p\.test SOA, .* NXNAME, nx\.p\.test RRSIG\(NSEC\)$/);
  assert.equal(signed.octets[signed.octets.length - 4]! & 0xc0, 0xc0);
  const unsigned = askSigned(authority, ["nx.u.test", "A"], { compactOk: true });
  assert.equal(outline(unsigned), "NXDOMAIN aa ns: u.test SOA");
  assert.equal(unsigned.octets[unsigned.octets.length - 4]! & 0xc0, 0x80);
});

test("TTLs: a signature has its set's, and NSEC the lesser of the SOA's and its minimum", () => {
  const authority = signedAuthority();
  const { answers } = askSigned(authority, ["www.p.test", "AAAA"]);
  assert.deepEqual(
    answers.map(({ ttl }) => ttl),
    [60, 60],
  );
  assert.equal(answers[1]!.data.split(" ")[3], "60");
  const { authority: denial } = askSigned(authority, ["nx.p.test", "A"]);
  assert.deepEqual(
    denial.map(({ ttl }) => ttl),
    [30, 30, 30, 30],
  );
  const referral = askSigned(authority, ["x.sub.p.test", "A"]);
  assert.deepEqual(
    referral.authority.map(({ ttl }) => ttl),
    [60, 30, 30],
  );
});

test("labels: all of an expanded name, and not the asterisk of a wildcard", () => {
  const authority = signedAuthority();
  const labels = (name: string): string =>
    askSigned(authority, [name, "A"]).answers.at(-1)!.data.split(" ")[2]!;
  assert.equal(labels("a.b.wild.p.test"), "5");
  assert.equal(labels("*.wild.p.test"), "3");
});

test("each zone of a chain signs its own, and an unsigned one nothing", () => {
  const other =
    "$ORIGIN q.test.\n$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\nto CNAME www.p.test.\nout CNAME nx.r.test.\n";
  const unsigned = "$ORIGIN r.test.\n$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\nto CNAME nx.q.test.\n";
  const authority = authorityOf([zoneText, other, unsigned]);
  signZones(authority, ["p.test", "q.test"]);
  const signers = askSigned(authority, ["to.q.test", "AAAA"]).answers.filter(({ type }) => type === "RRSIG");
  assert.deepEqual(
    signers.map(({ data }) => data.split(" ")[7]),
    ["q.test.", "p.test."],
  );
  assert.equal(
    outline(askSigned(authority, ["out.q.test", "A"])),
    "NXDOMAIN aa an: out.q.test CNAME, out.q.test RRSIG(CNAME) ns: r.test SOA",
  );
  assert.match(
    outline(askSigned(authority, ["to.r.test", "A"])),
    /^NOERROR aa an: to\.r\.test CNAME ns: q\.test SOA, q\.test RRSIG\(SOA\), nx\.q\.test NSEC .* NXNAME/,
  );
});

test("a zone below a signed zone on the same server: DS comes from the parent", () => {
  const child = "$ORIGIN signed.p.test.\n$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\nns A 192.0.2.55\n";
  const authority = authorityOf([zoneText, child]);
  signZones(authority, ["p.test", "signed.p.test"]);
  const signerOf = (type: string): string =>
    askSigned(authority, ["signed.p.test", type])
      .answers.find((record) => record.type === "RRSIG")!
      .data.split(" ")[7]!;
  assert.equal(signerOf("DS"), "p.test.");
  assert.equal(signerOf("DNSKEY"), "signed.p.test.");
});

test("what does not fit with its signatures is truncated, and addresses that came along are left out", () => {
  const authority = signedAuthority();
  assert.equal(
    outline(askSigned(authority, ["www.p.test", "A"], { payloadSize: 512 })),
    "NOERROR aa an: www.p.test A, www.p.test A, www.p.test RRSIG(A)",
  );
  assert.equal(outline(askSigned(authority, ["big.p.test", "TXT"], { payloadSize: 640 })), "NOERROR aa tc");
  assert.match(
    outline(askSigned(authority, ["big.p.test", "TXT"], { client: { transport: "tcp" } })),
    /RRSIG\(TXT\)$/,
  );
  assert.match(
    outline(askSigned(authority, ["many.p.test", "A"], { client: { transport: "tcp" } })),
    /RRSIG\(A\)$/,
  );
  const lean = askSigned(authority, ["mail.p.test", "MX"], { payloadSize: 512 });
  assert.ok(lean.octets.length <= 512 && !lean.truncated);
  assert.equal(outline(lean).replace(/ ar:.*/, ""), "NOERROR aa an: mail.p.test MX, mail.p.test RRSIG(MX)");
});

test("names of 253 to 255 octets are denied, too", () => {
  const authority = signedAuthority();
  const label = (octets: number): string => "a".repeat(octets);
  for (const octets of [251, 252, 253, 254, 255]) {
    // `p.test` and the root take 8 octets, three labels 64 each, and the first what is left.
    const name = `${label(octets - 8 - 192 - 1)}.${label(63)}.${label(63)}.${label(63)}.p.test`;
    const nsec = askSigned(authority, [name, "A"]).authority.find(({ type }) => type === "NSEC");
    assert.equal(nsec?.name, name);
  }
});

test("however a set is turned, it is one signature; a weighted set has one for each group", () => {
  const authority = authorityOf([zoneText]);
  const zone = authority.zone("p.test")!;
  const weighted = {
    kind: "weighted",
    groups: [1, 1].map((weight, index) => ({ weight, data: [`192.0.2.${index}`] })),
  } as const;
  zone.replace(
    new Map([
      [
        "turn.p.test",
        [
          {
            name: "turn.p.test",
            type: "A",
            ttl: 5,
            data: ["192.0.2.1", "192.0.2.2", "192.0.2.3"],
            policy: { kind: "rotate" },
          },
        ],
      ],
      [
        "drawn.p.test",
        [{ name: "drawn.p.test", type: "A", ttl: 5, data: ["192.0.2.0", "192.0.2.1"], policy: weighted }],
      ],
    ]),
  );
  const { answers } = signZones(authority, ["p.test"]);
  const orders = new Set<string>();
  for (let turn = 0; turn < 6; turn++) {
    const { answers: records } = askSigned(authority, ["turn.p.test", "A"]);
    orders.add(
      records
        .filter(({ type }) => type === "A")
        .map(({ data }) => data)
        .join(),
    );
  }
  assert.equal(orders.size, 3);
  assert.equal(answers.counters.made, 1);
  for (let draw = 0; draw < 20; draw++) askSigned(authority, ["drawn.p.test", "A"]);
  assert.ok(answers.counters.made <= 3);
});

test("a set with another TTL or content is signed anew, and one in other case is not", () => {
  const authority = authorityOf([zoneText]);
  const { answers } = signZones(authority, ["p.test"]);
  const put = (ttl: number, data: string): void =>
    void authority
      .zone("p.test")!
      .replace(new Map([["x.p.test", [{ name: "x.p.test", type: "A", ttl, data: [data] }]]]));
  put(60, "192.0.2.1");
  askSigned(authority, ["x.p.test", "A"]);
  const mixed = askSigned(authority, ["X.P.tESt", "A"]);
  assert.deepEqual(
    mixed.answers.map(({ name }) => name),
    ["X.P.tESt", "X.P.tESt"],
  );
  assert.equal(answers.counters.made, 1);
  put(30, "192.0.2.1");
  assert.equal(askSigned(authority, ["x.p.test", "A"]).answers[1]!.data.split(" ")[3], "30");
  put(30, "192.0.2.2");
  askSigned(authority, ["x.p.test", "A"]);
  assert.equal(answers.counters.made, 3);
});

test("signatures are backdated, hold for days, and are made again at half their life", () => {
  const clock = new SetClock();
  const authority = authorityOf([zoneText], { clock });
  const { answers } = signZones(authority, ["p.test"], { clock, lifetimeSeconds: 5 * 86_400 });
  const times = (): readonly number[] =>
    askSigned(authority, ["www.p.test", "AAAA"])
      .answers[1]!.data.split(" ")
      .slice(4, 6)
      .map((text) => Date.parse(text.replace(/(....)(..)(..)(..)(..)(..)/, "$1-$2-$3T$4:$5:$6Z")) / 1000);
  const start = clock.now() / 1000;
  const [expiration, inception] = times() as [number, number];
  assert.equal(inception, start - 3_600);
  assert.ok(expiration <= start + 5 * 86_400 && expiration >= start + 4.5 * 86_400);
  clock.advance(2 * 86_400);
  assert.deepEqual(times(), [expiration, inception]);
  clock.advance(86_400);
  assert.equal(times()[1], clock.now() / 1000 - 3_600);
  clock.advance(-3 * 86_400);
  assert.equal(times()[1], start - 3_600, "a wall clock that went back gets signatures that hold then");
  assert.equal(answers.counters.made, 3);
});

test("a flood of names costs a bounded number of signatures, and is told to come over TCP", () => {
  const clock = new SetClock();
  const authority = authorityOf([zoneText], { clock });
  const { answers } = signZones(authority, ["p.test"], { clock, signaturesPerSecond: 20 });
  askSigned(authority, ["p.test", "SOA"]);
  const flood = (from: number): string[] =>
    Array.from({ length: 50 }, (_, index) => outline(askSigned(authority, [`f${from + index}.p.test`, "A"])));
  const first = flood(0);
  assert.equal(first.filter((text) => text === "NOERROR aa tc" || text === "NXDOMAIN aa tc").length, 40);
  assert.equal(first.filter((text) => text.includes("NSEC")).length, 10);
  assert.equal(answers.counters.refused, 40);
  assert.match(
    outline(askSigned(authority, ["www.p.test", "A"])),
    /RRSIG\(A\)$/,
    "what exists has a budget of its own",
  );
  assert.match(outline(askSigned(authority, ["f1.p.test", "A"])), /NXNAME/, "what was signed costs nothing");
  assert.match(
    outline(askSigned(authority, ["f40.p.test", "A"], { client: { transport: "tcp" } })),
    /NXNAME/,
  );
  assert.match(outline(askSigned(authority, ["p.test", "DNSKEY"])), /RRSIG\(DNSKEY\)$/);
  clock.advance(1);
  assert.equal(flood(100).filter((text) => text.includes("NSEC")).length, 10);
});

test("over TCP, what may not be signed is SERVFAIL, never unsigned", () => {
  const clock = new SetClock();
  const authority = authorityOf([zoneText], { clock });
  signZones(authority, ["p.test"], { clock, signaturesPerSecond: 4 });
  const texts = Array.from({ length: 10 }, (_, index) =>
    outline(askSigned(authority, [`t${index}.p.test`, "A"], { client: { transport: "tcp" } })),
  );
  assert.ok(
    texts.slice(2).every((text) => text.startsWith("SERVFAIL")),
    texts.join("\n"),
  );
});

test("the octets of kept signatures are bounded under a flood", () => {
  const clock = new SetClock();
  const authority = authorityOf([zoneText], { clock });
  const { answers } = signZones(authority, ["p.test"], {
    clock,
    cacheOctetsMax: 64_000,
    signaturesPerSecond: 1e9,
  });
  for (let index = 0; index < 500; index++) {
    askSigned(authority, [`f${index}.p.test`, "A"]);
    askSigned(authority, ["www.p.test", "AAAA"]);
  }
  assert.ok(answers.cacheOctets <= 64_000 + 1_000, `${answers.cacheOctets}`);
  // SOA and the address set are asked for all the time and stay.
  assert.equal(answers.counters.made, 502);
});

test("AD and CD are never set, and RD comes back as asked (RFC 4035 §3.1.6)", () => {
  const octets = exchange(
    signedAuthority(),
    question("www.p.test", "A", {
      recursionDesired: true,
      checkingDisabled: true,
      edns: { payloadSize: 1232, version: 0, dnssecOk: true, options: [] },
    }),
  )!;
  const { authenticData, checkingDisabled, recursionDesired } = parseMessage(octets);
  assert.deepEqual([authenticData, checkingDisabled, recursionDesired], [false, false, true]);
});
