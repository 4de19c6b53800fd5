import assert from "node:assert/strict";
import test from "node:test";
import { Authority } from "../server/authority.ts";
import {
  authorityOf,
  caseZoneText,
  describe,
  exchange,
  question,
  steadyRandom,
} from "../testdata/case-zone.ts";
import type { RecordSet } from "./record-set.ts";
import { isNewerSerial, nextSerial } from "./serial.ts";
import { Zone } from "./zone.ts";

const options = {
  origin: "Cloud.Example.com",
  soa: {
    mname: "gslb-ns-eu-cloud.example.com",
    rname: "hostmaster.example.com",
    serial: 5,
    refresh: 1,
    retry: 2,
    expire: 3,
    minimum: 20,
    ttl: 60,
  },
  nameServers: ["gslb-ns-eu-cloud.example.com", "gslb-ns-us-cloud.example.com"],
  nameServerTtl: 30,
};
const soaText = "cloud.example.com SOA gslb-ns-eu-cloud.example.com. hostmaster.example.com.";

function a(name: string, ...data: string[]): RecordSet {
  return { name, type: "A", ttl: 30, data };
}

function put(zone: Zone, ...sets: RecordSet[]): boolean {
  const changes = new Map<string, RecordSet[]>();
  for (const set of sets) changes.set(set.name, [...(changes.get(set.name) ?? []), set]);
  return zone.replace(changes);
}

function served(zone: Zone): (name: string, type: string) => string {
  const authority = new Authority({ random: steadyRandom });
  authority.setZone(zone);
  return (name, type) => describe(exchange(authority, question(name, type)));
}

test("the apex has exactly the given name servers, without addresses that are not in the zone", () => {
  const ask = served(new Zone(options));
  assert.equal(
    ask("cloud.example.com", "NS"),
    "NOERROR aa an: cloud.example.com NS gslb-ns-eu-cloud.example.com., cloud.example.com NS gslb-ns-us-cloud.example.com.",
  );
  assert.equal(ask("cloud.example.com", "SOA"), `NOERROR aa an: ${soaText} 5 1 2 3 20`);
});

test("a negative answer's SOA has the lesser of its TTL and the minimum", () => {
  const authority = new Authority({ random: steadyRandom });
  authority.setZone(new Zone(options));
  const reply = exchange(authority, question("x.cloud.example.com", "A"))!;
  const ttlAt = 12 + 21 + 4 + 2 + 4;
  assert.equal(new DataView(reply.buffer, reply.byteOffset).getUint32(ttlAt), 20);
});

test("a batch is one serial step, one that changes nothing is none, and the serial never goes back", () => {
  const zone = new Zone(options);
  assert.equal(put(zone, a("a.cloud.example.com", "192.0.2.1"), a("b.cloud.example.com", "192.0.2.2")), true);
  assert.equal(zone.serial, 6);
  assert.equal(put(zone, a("a.cloud.example.com", "192.0.2.1")), false);
  assert.equal(zone.serial, 6);
  zone.replace(new Map([["a.cloud.example.com", []]]), { serial: 100 });
  assert.equal(zone.serial, 100);
  zone.replace(new Map([["b.cloud.example.com", []]]), { serial: 50 });
  assert.equal(zone.serial, 101);
  zone.setSoa({ serial: 3 });
  assert.equal(zone.serial, 101);
  zone.setSoa({ minimum: 5 });
  assert.equal(zone.serial, 102);
  zone.setNameServers(["ns.example.net"]);
  assert.equal(zone.serial, 103);
  zone.setNameServers(["ns.example.net"]);
  assert.equal(zone.serial, 103);
});

test("serials are compared around the circle", () => {
  assert.equal(isNewerSerial(1, 0xffff_ffff), true);
  assert.equal(isNewerSerial(0xffff_ffff, 1), false);
  assert.equal(isNewerSerial(0x8000_0000, 0), false);
  assert.equal(isNewerSerial(7, 7), false);
  assert.equal(nextSerial(0xffff_ffff), 0);
});

test("an owner without data exists: NODATA, and no wildcard stands in", () => {
  const zone = new Zone(options);
  put(zone, a("*.cloud.example.com", "192.0.2.9"), a("app.cloud.example.com"));
  const ask = served(zone);
  assert.match(ask("app.cloud.example.com", "A"), /^NOERROR aa ns: cloud.example.com SOA/);
  assert.match(ask("x.app.cloud.example.com", "A"), /^NXDOMAIN/);
  zone.replace(new Map([["APP.cloud.example.com", []]]));
  assert.equal(ask("app.cloud.example.com", "A"), "NOERROR aa an: app.cloud.example.com A 192.0.2.9");
});

test("names that start localtargets- are never made from a wildcard, but may be published, the asterisk's too", () => {
  const zone = new Zone(options);
  put(zone, a("*.cloud.example.com", "192.0.2.9"), a("localtargets-*.cloud.example.com", "192.0.2.8"));
  const ask = served(zone);
  assert.match(ask("localtargets-app.cloud.example.com", "A"), /^NXDOMAIN/);
  assert.match(ask("LocalTargets-app.cloud.example.com", "A"), /^NXDOMAIN/);
  assert.match(ask("localtargets.cloud.example.com", "A"), /^NOERROR aa an/);
  assert.equal(
    ask("localtargets-*.cloud.example.com", "A"),
    "NOERROR aa an: localtargets-*.cloud.example.com A 192.0.2.8",
  );
});

test("removing the last owner below a name removes what stood only for it", () => {
  const zone = new Zone(options);
  put(zone, a("x.y.z.cloud.example.com", "192.0.2.1"));
  const ask = served(zone);
  assert.match(ask("z.cloud.example.com", "A"), /^NOERROR/);
  assert.equal(zone.nameCount, 4);
  zone.replace(new Map([["x.y.z.cloud.example.com", []]]));
  assert.match(ask("z.cloud.example.com", "A"), /^NXDOMAIN/);
  assert.equal(zone.nameCount, 1);
});

test("owners that differ in case are one, and so are their sets", () => {
  const zone = new Zone(options);
  zone.replace(
    new Map([
      ["App.cloud.example.com", [a("App.cloud.example.com", "192.0.2.1")]],
      ["app.cloud.example.com", [{ ...a("app.cloud.example.com", "192.0.2.2", "192.0.2.1"), ttl: 10 }]],
    ]),
  );
  assert.equal(
    served(zone)("aPP.cloud.example.com", "A"),
    "NOERROR aa an: aPP.cloud.example.com A 192.0.2.1, aPP.cloud.example.com A 192.0.2.2",
  );
  assert.equal(zone.recordSetsOf("app.cloud.example.com")[0]!.ttl, 10);
});

const refusals: readonly (readonly [string, RecordSet, RegExp])[] = [
  ["a name elsewhere", a("app.example.com", "192.0.2.1"), /not in the zone/],
  ["a name that only ends alike", a("app.mycloud.example.com", "192.0.2.1"), /not in the zone/],
  ["an address that is none", a("app.cloud.example.com", "192.0.2.300"), /not an IPv4 address/],
  ["an IPv6 address in an A set", a("app.cloud.example.com", "2001:db8::1"), /not an IPv4 address/],
  ["a TTL below 0", { ...a("app.cloud.example.com", "192.0.2.1"), ttl: -1 }, /TTL -1/],
  ["a label over 63", a(`${"x".repeat(64)}.cloud.example.com`, "192.0.2.1"), /over 63 octets/],
  ["NS at the apex", { ...a("cloud.example.com", "x."), type: "NS" }, /setNameServers/],
  ["CNAME at the apex", { ...a("cloud.example.com", "x."), type: "CNAME" }, /RFC 1034/],
  ["two CNAMEs", { ...a("app.cloud.example.com", "x.", "y."), type: "CNAME" }, /one CNAME only/],
  ["NS at a wildcard", { ...a("*.cloud.example.com", "x."), type: "NS" }, /wildcard/],
  ["DNAME at a wildcard", { ...a("*.cloud.example.com", "x."), type: "DNAME" }, /wildcard/],
  ["a type of questions", { ...a("app.cloud.example.com", "x"), type: "AXFR" }, /not of zone data/],
  ["a type that is none", { ...a("app.cloud.example.com", "x"), type: "FOO" }, /TYPEnnn/],
  [
    "a negative weight",
    {
      ...a("app.cloud.example.com", "192.0.2.1"),
      policy: { kind: "weighted", groups: [{ weight: -1, data: [] }] },
    },
    /weight -1/,
  ],
];
for (const [name, set, message] of refusals) {
  test(`a zone refuses ${name}, and nothing of the batch is in it`, () => {
    const zone = new Zone(options);
    const changes = new Map([
      ["good.cloud.example.com", [a("good.cloud.example.com", "192.0.2.1")]],
      [set.name, [set]],
    ]);
    const problems = zone.check(changes);
    assert.equal(problems.length, 1);
    assert.match(problems[0]!.message, message);
    assert.throws(() => zone.replace(changes), { code: "BadZone" });
    assert.equal(zone.serial, 5);
    assert.equal(zone.nameCount, 1);
  });
}

test("CNAME beside other data is refused", () => {
  const name = "app.cloud.example.com";
  const problems = new Zone(options).check(
    new Map([[name, [a(name, "192.0.2.1"), { ...a(name, "x."), type: "CNAME" }]]]),
  );
  assert.deepEqual(
    problems.map(({ owner, type }) => [owner, type]),
    [[name, "CNAME"]],
  );
});

test("rotation starts each answer one record further on", () => {
  const name = "app.cloud.example.com";
  const zone = new Zone(options);
  put(zone, { ...a(name, "192.0.2.1", "192.0.2.2", "192.0.2.3"), policy: { kind: "rotate" } });
  const ask = served(zone);
  const firsts = Array.from({ length: 4 }, () => /A 192\.0\.2\.(\d)/.exec(ask(name, "A"))![1]);
  assert.deepEqual(firsts, ["1", "2", "3", "1"]);
});

test("weights choose which group is in the answer, in proportion; weight 0 only when all are 0", () => {
  const name = "app.cloud.example.com";
  const groups = [
    { weight: 9, data: ["192.0.2.1", "192.0.2.2"] },
    { weight: 1, data: ["192.0.2.3"] },
    { weight: 0, data: ["192.0.2.4"] },
    { weight: 5, data: [] },
  ];
  const zone = new Zone(options);
  put(zone, {
    ...a(name, "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"),
    policy: { kind: "weighted", groups },
  });
  const ask = served(zone);
  const counts = new Map<string, number>();
  for (let index = 0; index < 10_000; index++) {
    const key = [...ask(name, "A").matchAll(/A 192\.0\.2\.(\d)/g)]
      .map((match) => match[1])
      .sort()
      .join("");
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  assert.deepEqual([...counts.keys()].sort(), ["12", "3"]);
  assert.ok(Math.abs(counts.get("3")! - 1_000) < 120, `${counts.get("3")}`);
  put(zone, {
    ...a(name, "192.0.2.4"),
    policy: { kind: "weighted", groups: [{ weight: 0, data: ["192.0.2.4"] }] },
  });
  assert.equal(ask(name, "A"), `NOERROR aa an: ${name} A 192.0.2.4`);
});

test("W-02: answers are counted by the tag of the group that was drawn, up to 32 tags", () => {
  const name = "app.cloud.example.com";
  const authority = new Authority({ random: steadyRandom });
  const zone = new Zone(options);
  authority.setZone(zone);
  const drawnOf = (tags: readonly string[]): readonly number[] => tags.map((tag) => authority.drawnFor(tag));
  const askFor = (type: string): void => void exchange(authority, question(name, type));
  const weighted = (tag: string | undefined): void => {
    const groups = [{ weight: 1, data: ["192.0.2.1"], ...(tag === undefined ? {} : { tag }) }];
    put(zone, { ...a(name, "192.0.2.1"), policy: { kind: "weighted", groups } });
  };
  const tags = Array.from({ length: 40 }, (_, index) => `site-${index}`);
  for (const tag of tags) {
    weighted(tag);
    askFor("A");
    askFor("TXT");
  }
  askFor("A");
  const known = drawnOf(tags);
  assert.deepEqual(new Set(known.slice(0, 32)), new Set([1]));
  assert.deepEqual(
    known.slice(32),
    Array.from({ length: 8 }, () => 0),
  );
  assert.deepEqual(drawnOf(["", "elsewhere"]), [9, 0], "those beyond 32, the last one twice");
  weighted(undefined);
  askFor("A");
  put(zone, a(name, "192.0.2.1"));
  askFor("A");
  assert.deepEqual(drawnOf([""]), [10]);
});

test("recordSets gives everything back, in canonical order", () => {
  const zone = new Zone(options);
  put(
    zone,
    a("b.cloud.example.com", "192.0.2.1"),
    a("z.a.cloud.example.com", "192.0.2.2"),
    a("a.cloud.example.com", "192.0.2.3"),
  );
  assert.deepEqual(
    [...zone.recordSets()].map((set) => `${set.name} ${set.type}`),
    [
      "cloud.example.com SOA",
      "cloud.example.com NS",
      "a.cloud.example.com A",
      "z.a.cloud.example.com A",
      "b.cloud.example.com A",
    ],
  );
});

test("a zone belongs to one authority", () => {
  const zone = new Zone(options);
  const authority = new Authority({ random: steadyRandom });
  authority.setZone(zone);
  authority.setZone(zone);
  assert.throws(() => new Authority({ random: steadyRandom }).setZone(zone), { code: "BadZone" });
  assert.equal(authority.removeZone("CLOUD.example.com"), true);
  assert.equal(authority.removeZone("cloud.example.com"), false);
  new Authority({ random: steadyRandom }).setZone(zone);
});

test("the deepest zone answers; its parent answers for DS and refers where it is alone", () => {
  const parent =
    "$ORIGIN example.com.\n$TTL 60\n@ SOA a b 1 2 3 4 5\n@ NS ns.x.\ncloud NS ns.y.\ncloud DS 1 13 2 aabb\nalias CNAME h.cloud\n";
  const child =
    "$ORIGIN cloud.example.com.\n$TTL 60\n@ SOA a b 1 2 3 4 5\n@ NS ns.y.\nh A 192.0.2.1\nup CNAME alias.example.com.\n";
  const both = authorityOf([parent, child]);
  const ask = (name: string, type: string): string => describe(exchange(both, question(name, type)));
  assert.equal(ask("h.cloud.example.com", "A"), "NOERROR aa an: h.cloud.example.com A 192.0.2.1");
  assert.equal(ask("cloud.example.com", "DS"), "NOERROR aa an: cloud.example.com DS 1 13 2 aabb");
  assert.equal(
    ask("up.cloud.example.com", "A"),
    "NOERROR aa an: up.cloud.example.com CNAME alias.example.com., alias.example.com CNAME h.cloud.example.com., h.cloud.example.com A 192.0.2.1",
  );
  assert.equal(
    ask("alias.example.com", "MX"),
    "NOERROR aa an: alias.example.com CNAME h.cloud.example.com. ns: cloud.example.com SOA a.cloud.example.com. b.cloud.example.com. 1 2 3 4 5",
  );
  both.removeZone("cloud.example.com");
  assert.equal(ask("h.cloud.example.com", "A"), "NOERROR ns: cloud.example.com NS ns.y.");
});

test("DNAME: a synthesised CNAME in the case asked, the rest of the chain, and YXDOMAIN where it grows too long", () => {
  const authority = authorityOf([caseZoneText]);
  const ask = (name: string, type: string): string => describe(exchange(authority, question(name, type)));
  assert.equal(
    ask("A.dn.p.test", "A"),
    "NOERROR aa an: dn.p.test DNAME target.p.test., A.dn.p.test CNAME A.target.p.test., A.target.p.test A 192.0.2.20",
  );
  assert.match(ask("dn.p.test", "A"), /^NOERROR aa ns/);
  assert.equal(
    ask("x.dnx.p.test", "A"),
    "NOERROR aa an: dnx.p.test DNAME www.example.org., x.dnx.p.test CNAME x.www.example.org.",
  );
  const long = ["a", "b", "c"].map((letter) => letter.repeat(63)).join(".");
  assert.match(ask(`${"d".repeat(46)}.${long}.dnx.p.test`, "A"), /^YXDOMAIN aa an: dnx.p.test DNAME/);
});

test("addresses of names in MX and SRV data come along", () => {
  const authority = authorityOf([caseZoneText]);
  assert.equal(
    describe(exchange(authority, question("srv.p.test", "SRV"))),
    "NOERROR aa an: srv.p.test SRV 1 2 443 www.p.test. ar: www.p.test A 192.0.2.1, www.p.test A 192.0.2.2, www.p.test AAAA 2001:db8::1",
  );
});

test("an update that hands the apex back does not double what signing put there", () => {
  const zone = new Zone(options);
  const key: RecordSet = { name: "cloud.example.com", type: "DNSKEY", ttl: 60, data: ["257 3 13 AAAA"] };
  zone.setApexExtra([key]);
  const text: RecordSet = { name: "cloud.example.com", type: "TXT", ttl: 60, data: ['"x"'] };
  put(zone, key, text);
  const types = zone.recordSetsOf("cloud.example.com").map(({ type }) => type);
  assert.deepEqual(types.sort(), ["DNSKEY", "NS", "SOA", "TXT"]);
});
