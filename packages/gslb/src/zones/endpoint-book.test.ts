import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultAnswerModes } from "../decide/answer-modes.ts";
import type { DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import { EndpointBook, type BookedObject } from "./endpoint-book.ts";

function object(
  key: string,
  records: readonly DnsEndpointRecord[],
  more: Partial<BookedObject> = {},
): BookedObject {
  return { key, since: "2026-01-01T00:00:00Z", isOwn: false, records, ...more };
}

const a = (
  dnsName: string,
  targets: readonly string[],
  more: Partial<DnsEndpointRecord> = {},
): DnsEndpointRecord => ({ dnsName, recordType: "A", recordTTL: 5, targets, ...more });

function book(...objects: readonly BookedObject[]): EndpointBook {
  const made = new EndpointBook();
  for (const each of objects) made.set(each);
  return made;
}

const dataOf = (made: EndpointBook, name: string): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(made.resolve(name, "x").sets.map((set) => [set.type, set.data]));

test("only the names that an object gives or gave are dirty", () => {
  const made = book(object("d/one", [a("a.x", ["192.0.2.1"]), a("b.x", ["192.0.2.1"])]));
  assert.deepEqual(
    [...made.set(object("d/one", [a("B.x", ["192.0.2.1"]), a("c.x", ["192.0.2.1"])]))].sort(),
    ["a.x", "b.x", "c.x"],
  );
  assert.deepEqual([...made.remove("d/one")].sort(), ["b.x", "c.x"]);
  assert.deepEqual([...made.names()], []);
});

test("spellings of one name are merged, each target once", () => {
  const made = book(
    object("d/one", [a("APP.x", ["192.0.2.1"], { recordTTL: 7 }), a("app.x", ["192.0.2.2", "192.0.2.1"])]),
  );
  const { sets } = made.resolve("app.x", "x");
  assert.deepEqual(
    sets.map(({ name, ttl, data }) => ({ name, ttl, data })),
    [{ name: "app.x", ttl: 7, data: ["192.0.2.1", "192.0.2.2"] }],
  );
});

test("escapes in a name and types given as numbers are other spellings, and not ways around the rules", () => {
  const own = object("d/app", [a("app.x", ["192.0.2.1"]), a("localtargets-app.x", ["192.0.2.1"])], {
    isOwn: true,
    since: "2025-01-01T00:00:00Z",
  });
  const of = (dnsName: string, recordType: string, target: string): DnsEndpointRecord => ({
    dnsName,
    recordType,
    targets: [target],
  });
  const around: readonly (readonly [string, DnsEndpointRecord])[] = [
    ["app.x", of("app.x", "TYPE1", "203.0.113.66")],
    ["app.x", of("app.x", "type00001", "203.0.113.66")],
    ["app.x", of("app.x", "TYPE5", "evil.example.net")],
    ["app.x", of("app.x", "TYPE6", "\\# 0")],
    ["app.x", of("app.x", "TYPE28", "2001:db8::66")],
    ["app.x", of("\\097pp.x", "A", "203.0.113.66")],
    ["app.x", of("\\APP.x.", "A", "203.0.113.66")],
    ["app.x", of("a\\pp.x", "TYPE2", "evil.example.net")],
    ["x", of("\\120", "TYPE39", "evil.example.net")],
    ["localtargets-app.x", of("\\108ocaltargets-app.x", "A", "203.0.113.66")],
    ["localtargets-new.x", of("\\076ocaltargets-new.x", "AAAA", "2001:db8::66")],
  ];
  for (const [name, record] of around) {
    const made = book(own, object("d/evil", [record]));
    const told = `${record.dnsName} ${record.recordType}`;
    const { sets, problems } = made.resolve(name, "y");
    const expected = book(own).resolve(name, "y").sets;
    assert.deepEqual(sets, expected, told);
    assert.deepEqual(
      problems.map(({ key }) => key),
      ["d/evil"],
      told,
    );
    assert.deepEqual([...made.names()].sort(), [...new Set(["app.x", "localtargets-app.x", name])].sort());
  }
});

test("a name that DNS cannot have is nobody else's", () => {
  const made = book(
    object("d/one", [a("app.x", ["192.0.2.1"])]),
    object("d/two", [a("app.x..", ["192.0.2.2"]), a("\u212Ait.x", ["192.0.2.2"]), a("\\999pp.x", [])]),
  );
  assert.deepEqual([...made.names()], ["app.x", "app.x..", "\u212Ait.x", "\\999pp.x"]);
});

test("objects share a name by type", () => {
  const made = book(
    object("d/one", [a("app.x", ["192.0.2.1"])]),
    object("d/two", [{ dnsName: "app.x", recordType: "TXT", targets: ["v=1"] }]),
  );
  assert.deepEqual(dataOf(made, "app.x"), { A: ["192.0.2.1"], TXT: ['"v=1"'] });
  assert.deepEqual(made.resolve("app.x", "x").problems, []);
});

test("D46: of two objects with one name and type the older has it, whatever came first", () => {
  const older = object("d/z", [a("app.x", ["192.0.2.1"])], { since: "2025-12-31T00:00:00Z" });
  const younger = object("d/a", [a("app.x", ["192.0.2.9"])]);
  for (const order of [
    [older, younger],
    [younger, older],
  ]) {
    const made = book(...order);
    assert.deepEqual(dataOf(made, "app.x"), { A: ["192.0.2.1"] });
    assert.deepEqual(
      made.resolve("app.x", "x").problems.map(({ key }) => key),
      ["d/a"],
    );
    assert.match(made.resolve("app.x", "x").problems[0]!.message, /held by the older DNSEndpoint d\/z/);
  }
  const made = book(older, younger);
  made.remove("d/z");
  assert.deepEqual(dataOf(made, "app.x"), { A: ["192.0.2.9"] });
});

test("D46: only the operator's own objects own localtargets names", () => {
  const evil = object("d/evil", [a("LocalTargets-app.x", ["203.0.113.66"])], {
    since: "2020-01-01T00:00:00Z",
  });
  const own = object("d/app", [a("localtargets-app.x", ["192.0.2.1"])], { isOwn: true });
  const made = book(evil, own);
  assert.deepEqual(dataOf(made, "localtargets-app.x"), { A: ["192.0.2.1"] });
  assert.deepEqual(
    made.resolve("localtargets-app.x", "x").problems.map(({ key }) => key),
    ["d/evil"],
  );
});

test("nobody gives what the operator makes: the SOA and the keys of a zone, also not by a wildcard", () => {
  const types = ["SOA", "DNSKEY", "CDS", "CDNSKEY", "TYPE48"];
  for (const dnsName of ["x", "*.x"])
    for (const recordType of types) {
      const { sets, problems } = book(
        object("d/evil", [{ dnsName, recordType, targets: ["\\# 1 00"] }], { isOwn: true }),
      ).resolve(dnsName, "x");
      assert.deepEqual(sets, []);
      assert.match(problems[0]!.message, /is made by the operator; remove it/);
    }
});

test("D46: nobody adds addresses of the other family to a balanced host", () => {
  const v6 = { dnsName: "app.x", recordType: "AAAA", recordTTL: 5, targets: ["2001:db8::1"] };
  const own = object("d/app", [v6], { isOwn: true });
  const later = { since: "2026-02-01T00:00:00Z" };
  const made = book(own, object("d/evil", [a("app.x", ["203.0.113.66"])], later));
  assert.deepEqual(dataOf(made, "app.x"), { AAAA: ["2001:db8::1"] });
  assert.deepEqual(
    made.resolve("app.x", "x").problems.map(({ key }) => key),
    ["d/evil"],
  );
  const plain = book(object("d/one", [v6]), object("d/two", [a("app.x", ["192.0.2.1"])]));
  assert.deepEqual(dataOf(plain, "app.x"), { AAAA: ["2001:db8::1"], A: ["192.0.2.1"] });
});

test("a host without targets is known and empty; a localtargets name without is not there", () => {
  const made = book(object("d/app", [a("app.x", []), a("localtargets-app.x", [])], { isOwn: true }));
  assert.deepEqual(dataOf(made, "app.x"), { A: [] });
  assert.deepEqual(made.resolve("localtargets-app.x", "x").sets, []);
});

test("a CNAME stands alone: the older side has the name", () => {
  const cname = { dnsName: "app.x", recordType: "CNAME", targets: ["other.example.net"] };
  const older = { since: "2025-01-01T00:00:00Z" };
  const first = book(object("d/c", [cname], older), object("d/a", [a("app.x", ["192.0.2.1"])]));
  assert.deepEqual(dataOf(first, "app.x"), { CNAME: ["other.example.net."] });
  const second = book(object("d/c", [cname]), object("d/a", [a("app.x", ["192.0.2.1"])], older));
  assert.deepEqual(dataOf(second, "app.x"), { A: ["192.0.2.1"] });
});

test("a target that the type cannot hold is left out and told; the others stay", () => {
  const made = book(object("d/one", [a("app.x", ["1.2.3.4.5", "192.0.2.1", "2001:db8::1"])]));
  assert.deepEqual(dataOf(made, "app.x"), { A: ["192.0.2.1"] });
  assert.equal(made.resolve("app.x", "x").problems.length, 1);
});

test("labels say how answers are chosen", () => {
  const policyOf = (labels: Readonly<Record<string, string>>): unknown =>
    book(object("d/one", [a("app.x", ["192.0.2.1", "192.0.2.2"], { labels })])).resolve("app.x", "x").sets[0]
      ?.policy;
  assert.deepEqual(policyOf({}), { kind: "fixed" });
  assert.deepEqual(policyOf({ strategy: "failover" }), { kind: "fixed" });
  assert.deepEqual(policyOf({ strategy: "geoip" }), { kind: "geo" });
  assert.deepEqual(policyOf({ strategy: "roundRobin" }), { kind: "rotate" });
  assert.deepEqual(
    policyOf({ strategy: "roundRobin", "weight-eu-0-7": "192.0.2.1", "weight-us-0-3": "192.0.2.2" }),
    {
      kind: "weighted",
      groups: [
        { weight: 7, tag: "eu", data: ["192.0.2.1"] },
        { weight: 3, tag: "us", data: ["192.0.2.2"] },
      ],
    },
  );
});

test("an operator may choose k8gb's ways: weights as an order, TXT targets as strings of one record", () => {
  const made = new EndpointBook({ ...defaultAnswerModes, weights: "order", txtTargets: "strings" });
  const labels = { "weight-us-east-1-0-7": "192.0.2.1", "WEIGHT-eu-0-0": "192.0.2.2" };
  made.set(
    object("d/one", [
      a("app.x", ["192.0.2.1", "192.0.2.2"], { labels }),
      { dnsName: "t.x", recordType: "TXT", targets: ["v=1", "w=2"] },
    ]),
  );
  assert.deepEqual(made.resolve("app.x", "x").sets[0]?.policy, {
    kind: "weightedOrder",
    groups: [
      { weight: 0, tag: "eu", data: ["192.0.2.2"] },
      { weight: 7, tag: "us-east-1", data: ["192.0.2.1"] },
    ],
  });
  assert.deepEqual(dataOf(made, "t.x"), { TXT: ['"v=1" "w=2"'] });
  assert.deepEqual(
    dataOf(book(object("d/t", [{ dnsName: "t.x", recordType: "TXT", targets: ["a", "b"] }])), "t.x"),
    {
      TXT: ['"a"', '"b"'],
    },
  );
});

test("an entry without TTL has 60, and a long text is cut into strings", () => {
  const made = book(
    object("d/one", [
      { dnsName: "t.x", recordType: "TXT", targets: ["a".repeat(300), '"as it is"', 'say "hi"'] },
    ]),
  );
  const [set] = made.resolve("t.x", "x").sets;
  assert.equal(set?.ttl, 60);
  assert.deepEqual(set?.data, [`"${"a".repeat(255)}" "${"a".repeat(45)}"`, '"as it is"', '"say \\"hi\\""']);
});

const ns = (dnsName: string): DnsEndpointRecord => ({ dnsName, recordType: "NS", targets: ["ns.evil"] });
const later = { since: "2026-01-02T00:00:00Z" };

test("a delegation at or above an older balanced host is refused, and stands once that host is gone", () => {
  for (const at of ["app.team.x", "team.x"]) {
    const own = object("d/own", [a("app.team.x", ["192.0.2.1"])], { isOwn: true });
    const made = book(own, object("d/evil", [ns(at)], later));
    assert.equal(dataOf(made, at)["NS"], undefined, at);
    assert.match(made.resolve(at, "x").problems[0]!.message, /would hide hosts of the older Gslb d\/own/);
    assert.deepEqual(made.resolve("app.team.x", "x").sets[0]?.data, ["192.0.2.1"]);
    assert.ok(made.remove("d/own").has(at));
    assert.deepEqual(dataOf(made, at)["NS"], ["ns.evil."]);
    assert.ok(made.set(own).has(at));
    assert.equal(dataOf(made, at)["NS"], undefined);
  }
});

test("a balanced host under an older delegation is told so", () => {
  const own = object("d/own", [a("app.team.x", ["192.0.2.1"])], { isOwn: true, ...later });
  const made = book(object("d/admin", [ns("team.x")]), own);
  assert.deepEqual(dataOf(made, "team.x"), { NS: ["ns.evil."] });
  assert.match(made.resolve("app.team.x", "x").problems[0]!.message, /hidden by the NS of team\.x/);
  const outside = book(object("d/admin", [ns("x")]), own);
  assert.deepEqual(outside.resolve("app.team.x", "x").problems, []);
});

test("a host that an older cover above hid, or did not hide, is looked at anew with that cover", () => {
  const own = object("d/own", [a("app.team.x", ["192.0.2.1"]), a("other.x", ["192.0.2.1"])], {
    isOwn: true,
    ...later,
  });
  const host = (made: EndpointBook): readonly string[] | undefined => dataOf(made, "app.team.x")["A"];
  for (const type of ["NS", "DNAME"]) {
    const cover = object("d/admin", [{ dnsName: "team.x", recordType: type, targets: ["n.example"] }]);
    const made = book(cover, own);
    assert.equal(host(made), undefined);
    assert.deepEqual([...made.remove("d/admin")].sort(), ["app.team.x", "team.x"]);
    assert.deepEqual(host(made), ["192.0.2.1"]);
    assert.deepEqual([...made.set(cover)].sort(), ["app.team.x", "team.x"]);
    assert.equal(host(made), undefined);
    assert.ok(made.set({ ...cover, since: "2026-01-03T00:00:00Z" }).has("app.team.x"), "younger now");
    assert.deepEqual(host(made), ["192.0.2.1"]);
  }
});

test("a cover that stands again once an older host is gone hides the younger hosts, and they are looked at anew", () => {
  const older = object("d/older", [a("a.team.x", ["192.0.2.1"])], { isOwn: true });
  const younger = object("d/younger", [a("b.team.x", ["192.0.2.2"])], {
    isOwn: true,
    since: "2026-01-03T00:00:00Z",
  });
  const made = book(older, object("d/admin", [ns("team.x")], later), younger);
  assert.deepEqual(dataOf(made, "b.team.x"), { A: ["192.0.2.2"] });
  assert.deepEqual([...made.remove("d/older")].sort(), ["a.team.x", "b.team.x", "team.x"]);
  assert.deepEqual(dataOf(made, "b.team.x"), {});
  assert.deepEqual([...made.set(older)].sort(), ["a.team.x", "b.team.x", "team.x"]);
  assert.deepEqual(dataOf(made, "b.team.x"), { A: ["192.0.2.2"] });
  const aside = object("d/aside", [a("c.team.x", ["192.0.2.3"])], { isOwn: true });
  assert.deepEqual([...made.set(aside)].sort(), ["c.team.x", "team.x"], "nothing that stands changed");
});

test("refused targets are told at once, however many they are", () => {
  const bad = Array.from({ length: 100 }, (_, index) => `bad-${index}`);
  const { problems } = book(object("d/one", [a("app.x", bad)])).resolve("app.x", "x");
  assert.deepEqual(
    problems.map(({ message }) => message),
    [`app.x A has targets that are no A data, and are left out: "bad-0", "bad-1", "bad-2" and 97 more`],
  );
});
