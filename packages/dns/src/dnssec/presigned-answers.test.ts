import assert from "node:assert/strict";
import test from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { silentLogger } from "@meridian/runtime";
import { Authority } from "../server/authority.ts";
import { question, exchange, stillClock } from "../testdata/case-zone.ts";
import { askSigned, signZones, testKeys } from "../testdata/signed-zone.ts";
import { UpdateServer } from "../update/update-server.ts";
import { parseZoneFile } from "../zone/zone-file.ts";
import { parseMessage, type Message } from "../message/message.ts";
import { AnswerSigner } from "./answer-signer.ts";
import { ZoneKeys } from "./zone-keys.ts";

const apex = "$ORIGIN p.test.\n$TTL 60\n@ SOA ns host 7 60 60 600 30\n@ NS ns\nns A 192.0.2.53\n";
const signature = (type: string, labels: number, { ttl = 60, tag = 1 } = {}): string =>
  `${type} 13 ${labels} ${ttl} 20300101000000 20200101000000 ${tag} p.test. ${"A".repeat(84)}AA==`;

/** Signatures are not verified here, so any will do. */
const signedText = `${apex}
@ RRSIG ${signature("SOA", 2)}
@ RRSIG ${signature("NS", 2)}
@ 30 NSEC ns NS SOA RRSIG NSEC
@ 30 RRSIG ${signature("NSEC", 2, { ttl: 30 })}
ns RRSIG ${signature("A", 3)}
ns 30 NSEC www A RRSIG NSEC
ns 30 RRSIG ${signature("NSEC", 3, { ttl: 30 })}
www A 192.0.2.1
www RRSIG ${signature("A", 3)}
www RRSIG ${signature("A", 3, { tag: 2 })}
www 30 NSEC p.test. A RRSIG NSEC
www 30 RRSIG ${signature("NSEC", 3, { ttl: 30 })}
`;

function serve(text: string): Authority {
  const { zone, problems } = parseZoneFile(text);
  assert.ok(zone !== undefined, JSON.stringify(problems));
  const authority = new Authority({ random: new Simulation({ seed: 1 }).random("a"), clock: stillClock });
  authority.setZone(zone);
  return authority;
}

const problemsOf = (text: string): string =>
  (parseZoneFile(text).problems ?? []).map(({ line, message }) => `${line}: ${message}`).join("\n");
const shown = (records: Message["answers"]): string[] =>
  records.map(({ name, ttl, type, data }) => `${name} ${ttl} ${type} ${data.split(" ")[0]}`);

test("every signature of a set comes along, with the set's TTL, to those who ask for it only", () => {
  const authority = serve(signedText);
  const { answers, authority: rest } = askSigned(authority, ["wWw.p.test", "A"]);
  assert.deepEqual(shown(answers), [
    "wWw.p.test 60 A 192.0.2.1",
    "wWw.p.test 60 RRSIG A",
    "wWw.p.test 60 RRSIG A",
  ]);
  assert.deepEqual(rest, []);
  const plain = parseMessage(exchange(authority, question("www.p.test", "A"))!);
  assert.deepEqual(shown(plain.answers), ["www.p.test 60 A 192.0.2.1"]);
});

test("a denial is that of the zone, and leaves NXDOMAIN as it is", () => {
  const denied = askSigned(serve(signedText), ["x.ns.p.test", "A"]);
  assert.equal(denied.rcode, 3);
  assert.deepEqual(shown(denied.authority), [
    "p.test 30 SOA ns.p.test.",
    "p.test 30 RRSIG SOA",
    "ns.p.test 30 NSEC www.p.test.",
    "ns.p.test 30 RRSIG NSEC",
  ]);
});

test("signatures that are asked for have each the TTL of what it covers, and come once", () => {
  const served = serve(signedText);
  const { answers } = askSigned(served, ["www.p.test", "RRSIG"]);
  assert.deepEqual(shown(answers), [
    "www.p.test 60 RRSIG A",
    "www.p.test 60 RRSIG A",
    "www.p.test 30 RRSIG NSEC",
  ]);
  using snapshot = served.zone("p.test")!.snapshot();
  const ttls = [...snapshot.records()].filter(({ type }) => type === 46).map(({ ttl }) => ttl);
  assert.deepEqual(ttls.sort(), [30, 30, 30, 60, 60, 60, 60, 60]);
});

test("what does not fit with its signatures is truncated", () => {
  const answer = askSigned(serve(signedText), ["www.p.test", "NS"], { payloadSize: 512 });
  assert.equal(answer.truncated, false);
  const many = Array.from(
    { length: 5 },
    (_, tag) => `ns RRSIG ${signature("A", 3, { tag: tag + 2 })}\n`,
  ).join("");
  const large = askSigned(serve(signedText + many), ["ns.p.test", "A"], { payloadSize: 512 });
  assert.equal(large.truncated, true);
  assert.deepEqual(large.answers, []);
});

test("of a referral that is too long with its proof, glue stays that nobody else could tell", () => {
  const servers = Array.from({ length: 12 }, (_, index) => `sub NS server-${index}.elsewhere.p.test.`);
  const addresses = servers.map((_, index) => `server-${index}.elsewhere A 192.0.2.${index}`);
  const glue = [
    "sub NS ns.sub",
    "ns.sub A 192.0.2.99",
    "sub DS 1 13 2 AABB",
    `sub RRSIG ${signature("DS", 3)}`,
  ];
  const authority = serve(`${signedText}${[...servers, ...addresses, ...glue].join("\n")}\n`);
  const whole = askSigned(authority, ["x.sub.p.test", "A"]);
  assert.equal(whole.additional.length, 13);
  const payloadSize = whole.octets.length - 20;
  const cut = askSigned(authority, ["x.sub.p.test", "A"], { payloadSize });
  assert.equal(cut.truncated, false);
  assert.deepEqual(shown(cut.additional), ["ns.sub.p.test 60 A 192.0.2.99"]);
  assert.deepEqual(
    cut.authority.slice(13).map(({ type }) => type),
    ["DS", "RRSIG"],
  );
});

test("a chain from a zone that is signed as it is asked into one that came signed has the signatures of both", () => {
  const authority = serve(signedText);
  const other = parseZoneFile(
    `${apex.replaceAll("p.test", "o.test")}alias CNAME www.p.test.\ngone CNAME nothing.p.test.\n`,
  );
  authority.setZone(other.zone!);
  signZones(authority, ["o.test"]);
  const { answers } = askSigned(authority, ["alias.o.test", "A"]);
  assert.deepEqual(shown(answers), [
    "alias.o.test 60 CNAME www.p.test.",
    "www.p.test 60 A 192.0.2.1",
    "www.p.test 60 RRSIG A",
    "www.p.test 60 RRSIG A",
    "alias.o.test 60 RRSIG CNAME",
  ]);
  const gone = askSigned(authority, ["gone.o.test", "A"]);
  assert.deepEqual(
    gone.authority.map(({ type }) => type),
    ["SOA", "RRSIG", "NSEC", "RRSIG"],
  );
  assert.equal(gone.rcode, 3);
});

test("the owner of an NSEC3 is no name of the zone, save where something is below it", () => {
  const hash = "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom";
  const nsec3 = `${apex}@ RRSIG ${signature("SOA", 2)}
@ 0 NSEC3PARAM 1 0 0 -
${hash} 30 NSEC3 1 0 0 - ${hash.toUpperCase()} NS SOA
${hash} 30 RRSIG ${signature("NSEC3", 3, { ttl: 30 })}
*.w A 192.0.2.1
`;
  const ask = (text: string, name: string, type: string): string => {
    const { rcode, answers } = parseMessage(exchange(serve(text), question(name, type))!);
    return `${rcode} ${answers.length}`;
  };
  for (const name of [`${hash}.p.test`, `x.${hash}.p.test`])
    for (const type of ["NSEC3", "RRSIG", "A", "ANY"]) assert.equal(ask(nsec3, name, type), "3 0");
  assert.equal(ask(`${nsec3}x.${hash} A 192.0.2.2\n`, `x.${hash}.p.test`, "A"), "0 1");
  assert.equal(ask(`${nsec3}x.${hash} A 192.0.2.2\n`, `${hash}.p.test`, "A"), "0 0");
  assert.equal(ask(nsec3, "a.w.p.test", "A"), "0 1");
});

test("a file with signatures but an unsigned SOA, or with costly NSEC3, is refused", () => {
  assert.match(
    problemsOf(`${apex}www A 192.0.2.1\nwww RRSIG ${signature("A", 3)}\n`),
    /^7: .*SOA is not signed/,
  );
  assert.match(problemsOf(`${apex}@ NSEC ns SOA\n`), /^6: .*SOA is not signed/);
  const iterations = `${signedText}@ NSEC3PARAM 1 0 151 -\n`;
  assert.match(problemsOf(iterations), /151 more iterations .* over 150 is not served/);
});

test("what would void the signatures is refused: keys of ours, updates, single signatures", async () => {
  const authority = serve(signedText);
  const zone = authority.zone("p.test")!;
  const context = { clock: stillClock, log: silentLogger, answers: new AnswerSigner({ clock: stillClock }) };
  assert.throws(() => new ZoneKeys(zone, { keys: testKeys }, context), /BadZone|signed already/);
  const node = new Simulation({ seed: 1 }).node({ name: "n", addresses: ["10.0.0.1"] });
  await assert.rejects(
    UpdateServer.open(node.runtime, { authority, zones: [{ zone, journal: "j", rules: [] }] }),
    /signed elsewhere/,
  );
  const unsigned = serve(apex).zone("p.test")!;
  const set = { name: "ns.p.test", type: "RRSIG", ttl: 60, data: [signature("A", 3)] };
  assert.match(unsigned.check(new Map([["ns.p.test", [set]]]))[0]!.message, /its SOA has no signature/);
});
