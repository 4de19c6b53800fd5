import assert from "node:assert/strict";
import test from "node:test";
import { nameFromText } from "../name/name.ts";
import { rdataFromText } from "../message/rdata.ts";
import type { WireRecord, ZoneDelta } from "../zone/wire-record.ts";
import { refreshTimes } from "./refresh-times.ts";
import { TransferPolicy, type AccessRule } from "./transfer-policy.ts";
import { TransferSlots } from "./transfer-slots.ts";
import { applyDeltas, toRecordSets } from "./transferred-sets.ts";
import { condenseDeltas, ZoneJournal } from "./zone-journal.ts";

const soa = (serial: number): WireRecord => ({
  owner: nameFromText("p.test"),
  type: 6,
  ttl: 60,
  rdata: rdataFromText(6, `a. b. ${serial} 1 1 1 1`),
});
const a = (owner: string, data = "192.0.2.1", ttl = 60): WireRecord => ({
  owner: nameFromText(owner),
  type: 1,
  ttl,
  rdata: rdataFromText(1, data),
});
const ns = (owner: string, data: string): WireRecord => ({
  owner: nameFromText(owner),
  type: 2,
  ttl: 60,
  rdata: rdataFromText(2, data),
});
const step = (from: number, removed: readonly WireRecord[], added: readonly WireRecord[]): ZoneDelta => ({
  fromSerial: from,
  toSerial: from + 1,
  removed: [soa(from), ...removed],
  added: [soa(from + 1), ...added],
});

function journal(octetsMax: number): { journal: ZoneJournal; tell: (delta: ZoneDelta) => void } {
  let tell: (delta: ZoneDelta) => void = () => assert.fail("nobody listens");
  const kept = new ZoneJournal(
    {
      observe(listener) {
        tell = listener;
        return { [Symbol.dispose]() {} };
      },
    },
    { octetsMax },
  );
  return { journal: kept, tell: (delta) => tell(delta) };
}

test("a journal gives the steps since a serial, and none it does not have", () => {
  const { journal: kept, tell } = journal(10_000);
  for (let serial = 1; serial < 5; serial++) tell(step(serial, [], [a(`n${serial}.p.test`)]));
  assert.deepEqual(
    kept.since(3)?.map((delta) => delta.fromSerial),
    [3, 4],
  );
  assert.equal(kept.since(0), undefined);
  assert.equal(kept.since(5), undefined);
});

test("a journal is bounded in octets: the oldest steps go, and one that is over all by itself", () => {
  const one = step(1, [], [a("n1.p.test")]);
  const { journal: kept, tell } = journal(1_000);
  for (let serial = 1; serial < 100; serial++) tell({ ...one, fromSerial: serial, toSerial: serial + 1 });
  assert.ok(kept.octets <= 1_000 && kept.octets > 500);
  assert.equal(kept.since(1), undefined);
  assert.ok(kept.since(99) !== undefined);
  tell({ ...step(100, [], []), added: Array.from({ length: 200 }, () => a("x.p.test")) });
  assert.equal(kept.octets, 0);
  assert.equal(kept.since(99), undefined);
});

test("a journal forgets what a zone that was set anew does not follow on from", () => {
  const { journal: kept, tell } = journal(10_000);
  tell(step(1, [], []));
  tell(step(7, [], []));
  assert.equal(kept.since(1), undefined);
  assert.equal(kept.since(7)?.length, 1);
});

test("condensed steps have no record that came and went", () => {
  const { removed, added, fromSerial, toSerial } = condenseDeltas([
    step(1, [a("gone.p.test")], [a("x.p.test"), a("flap.p.test")]),
    step(2, [a("X.p.test")], [a("y.p.test"), a("gone.p.test", "192.0.2.9")]),
    step(3, [a("flap.p.test")], []),
  ]);
  assert.deepEqual([fromSerial, toSerial], [1, 4]);
  assert.deepEqual(removed, [soa(1), a("gone.p.test")]);
  assert.deepEqual(added, [soa(4), a("y.p.test"), a("gone.p.test", "192.0.2.9")]);
});

const rules: readonly AccessRule[] = [
  { zone: "p.test", allow: [{}] },
  {
    zone: "a.p.test",
    allow: [{ key: "Peer-Key." }, { clients: "192.0.2.0/25" }, { clients: "2001:db8::/33" }],
  },
  { zone: "z.a.p.test", allow: [] },
  { zone: "both.test", allow: [{ key: "k", clients: "192.0.2.7" }] },
];
const accesses: readonly [string, string | undefined, string, boolean][] = [
  ["p.test", undefined, "203.0.113.1", true],
  ["x.P.test", undefined, "203.0.113.1", true],
  ["a.p.test", undefined, "203.0.113.1", false],
  ["a.p.test", "peer-key", "203.0.113.1", true],
  ["a.p.test", undefined, "192.0.2.127", true],
  ["a.p.test", undefined, "192.0.2.128", false],
  ["a.p.test", undefined, "::ffff:192.0.2.127", true],
  ["a.p.test", undefined, "2001:db8:7fff::1", true],
  ["a.p.test", undefined, "2001:db8:8000::1", false],
  ["b.a.p.test", "other", "192.0.2.1", true],
  ["z.a.p.test", "peer-key", "192.0.2.1", false],
  ["aa.p.test", undefined, "203.0.113.1", true],
  ["both.test", "k", "192.0.2.7", true],
  ["both.test", "k", "192.0.2.8", false],
  ["both.test", undefined, "192.0.2.7", false],
  ["test", "peer-key", "192.0.2.1", false],
  ["elsewhere", "peer-key", "127.0.0.1", false],
];
test("F7: access is decided by the rule with the most labels, alone", () => {
  for (const order of [rules, [...rules].reverse()]) {
    const policy = new TransferPolicy(order);
    for (const [zone, key, address, expected] of accesses)
      assert.equal(
        policy.allows(nameFromText(zone), { key, address }),
        expected,
        `${zone} ${key} ${address}`,
      );
  }
  for (const clients of ["192.0.2.0/33", "192.0.2.0/", "x", "192.0.2.0/8/8", "2001:db8::/129", "1.2.3.4/-1"])
    assert.throws(
      () => new TransferPolicy([{ zone: ".", allow: [{ clients }] }]),
      { code: "BadRecord" },
      clients,
    );
});

test("transfers of one peer run one after another, and not more than so many in all", async () => {
  const slots = new TransferSlots({ max: 2, waitingMax: 2 });
  const { signal } = new AbortController();
  const order: string[] = [];
  const first = await slots.acquire("a", signal);
  const waiting = slots.acquire("a", signal).then((release) => (order.push("a again"), release));
  const second = await slots.acquire("b", signal);
  const third = slots.acquire("c", signal).then((release) => (order.push("c"), release));
  assert.equal(await slots.acquire("d", signal), undefined, "too many wait");
  second!();
  second!();
  (await third)!();
  assert.deepEqual(order, ["c"], "what waits for its own peer does not block the others");
  first!();
  (await waiting)!();
  assert.deepEqual(order, ["c", "a again"]);
});

test("whoever gives up waiting leaves the queue", async () => {
  const slots = new TransferSlots({ max: 1, waitingMax: 1 });
  const leaving = new AbortController();
  const first = await slots.acquire("a", new AbortController().signal);
  const waiting = slots.acquire("b", leaving.signal);
  leaving.abort(new Error("gone"));
  await assert.rejects(waiting, /gone/);
  const next = slots.acquire("c", new AbortController().signal);
  first!();
  assert.ok((await next) !== undefined);
});

test("times of an SOA are kept within bounds", () => {
  const times = (refresh: number, retry: number, expire: number): number[] =>
    Object.values(refreshTimes({ refresh, retry, expire })).map((ms) => ms / 1000);
  assert.deepEqual(times(3600, 600, 86_400), [3600, 600, 86_400]);
  assert.deepEqual(times(0, 0, 0), [5, 2, 7]);
  assert.deepEqual(times(2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1), [2_419_200, 1_209_600, 14_515_200]);
});

const held = {
  recordSetsOf: (owner: string) =>
    owner === "www.p.test"
      ? [{ name: "www.p.test", type: "A", ttl: 60, data: ["192.0.2.1", "192.0.2.2"] }]
      : owner === "sub.p.test"
        ? [{ name: "sub.p.test", type: "NS", ttl: 60, data: ["NS1.p.test."] }]
        : [],
};

test("differences are applied to whole owners, and must fit exactly", () => {
  const changes = applyDeltas(held, [
    step(1, [a("WWW.p.test", "192.0.2.1")], [a("www.p.test", "192.0.2.3"), a("new.p.test")]),
    step(2, [a("new.p.test"), ns("sub.p.test", "ns1.P.test.")], []),
  ]);
  const rotate = { policy: { kind: "rotate" } };
  assert.deepEqual(
    [...changes],
    [
      [
        "www.p.test",
        [{ name: "www.p.test", type: "A", ttl: 60, data: ["192.0.2.2", "192.0.2.3"], ...rotate }],
      ],
      ["new.p.test", []],
      ["sub.p.test", []],
    ],
  );
  const wrong = (removed: WireRecord[], added: WireRecord[]): (() => unknown) => {
    return () => applyDeltas(held, [step(1, removed, added)]);
  };
  assert.throws(wrong([a("www.p.test", "192.0.2.9")], []), { code: "BadTransfer", message: /not there/ });
  assert.throws(wrong([a("nx.p.test")], []), { code: "BadTransfer" });
  assert.throws(wrong([], [a("www.p.test", "192.0.2.2")]), { code: "BadTransfer", message: /there already/ });
});

test("a TTL changes with all records of its set", () => {
  const changes = applyDeltas(held, [
    step(
      1,
      [a("www.p.test", "192.0.2.1"), a("www.p.test", "192.0.2.2")],
      [a("www.p.test", "192.0.2.1", 300), a("www.p.test", "192.0.2.2", 300)],
    ),
  ]);
  assert.equal(changes.get("www.p.test")?.[0]?.ttl, 300);
});

test("records become sets: owners of any case together, the least TTL, no SOA, each record once", () => {
  const sets = toRecordSets([
    soa(1),
    ns("p.test", "ns.p.test."),
    a("www.p.test", "192.0.2.1", 300),
    ns("x.p.test", "ns.p.test."),
    a("WWW.P.test", "192.0.2.2", 60),
    a("www.p.test", "192.0.2.2", 60),
  ]);
  assert.deepEqual(
    sets.map(({ name, type, ttl, data }) => [name, type, ttl, data]),
    [
      ["p.test", "NS", 60, ["ns.p.test."]],
      ["www.p.test", "A", 60, ["192.0.2.1", "192.0.2.2"]],
      ["x.p.test", "NS", 60, ["ns.p.test."]],
    ],
  );
});
