import assert from "node:assert/strict";
import test from "node:test";
import { RateLimit, rateVerdict, responseClass, type RateLimitOptions } from "./rate-limit.ts";

function client(...octets: number[]): { octets: Uint8Array; octetCount: 4 | 16 } {
  const padded = new Uint8Array(16);
  padded.set(octets);
  return { octets: padded, octetCount: octets.length === 4 ? 4 : 16 };
}

const near = client(192, 0, 2, 1);

function limit(options: RateLimitOptions = {}): RateLimit {
  return RateLimit.create({ seed: 7, perSecond: 10, errorsPerSecond: 5, ...options });
}

/** How many of `count` questions at one moment get which verdict. */
function tally(
  table: RateLimit,
  {
    count,
    kind = responseClass.positive,
    nowMs = 0,
    name = 1,
    from = near,
  }: {
    count: number;
    kind?: number;
    nowMs?: number;
    name?: number;
    from?: ReturnType<typeof client>;
  },
): number[] {
  const seen = [0, 0, 0];
  for (let index = 0; index < count; index++) seen[table.check(from, kind, name, nowMs)]!++;
  return seen;
}

for (const [name, options, kind, expected] of [
  ["ten pass, and of the rest every second slips", {}, "positive", [10, 45, 45]],
  ["errors have their own limit", {}, "error", [5, 47, 48]],
  ["slip 1 truncates all", { slip: 1 }, "nxdomain", [10, 90, 0]],
  ["slip 0 drops all", { slip: 0 }, "referral", [10, 0, 90]],
  ["a limit that divides no second is exact as well", { perSecond: 3 }, "wildcard", [3, 48, 49]],
  ["log-only lets all pass", { logOnly: true }, "positive", [100, 0, 0]],
] as const) {
  test(`100 answers at once: ${name}`, () => {
    assert.deepEqual(tally(limit(options), { count: 100, kind: responseClass[kind] }), [...expected]);
  });
}

test("a steady flood gets the limit each second, and one second's worth at its start", () => {
  const table = limit();
  let passed = 0;
  // 1,000 questions a second for 20 s of a wall clock.
  for (let ms = 0; ms < 20_000; ms++) passed += tally(table, { count: 1, nowMs: 1.8e12 + ms })[0]!;
  assert.equal(passed, 20 * 10 + 10);
});

test("a rate at the limit is never limited", () => {
  const table = limit();
  for (let index = 0; index < 1_000; index++) {
    assert.equal(table.check(near, responseClass.positive, 1, 1.8e12 + index * 100), rateVerdict.pass);
  }
});

test("accounts are kept apart by prefix, class and name, and shared within a prefix", () => {
  const table = limit();
  const full = { count: 10 };
  assert.equal(tally(table, full)[0], 10);
  assert.equal(tally(table, { ...full, from: client(192, 0, 2, 200) })[0], 0);
  assert.equal(tally(table, { ...full, from: client(192, 0, 3, 1) })[0], 10);
  assert.equal(tally(table, { ...full, kind: responseClass.nodata })[0], 10);
  assert.equal(tally(table, { ...full, name: 2 })[0], 10);
  const ipv6 = (last: number, net: number): ReturnType<typeof client> =>
    client(0x20, 1, 0xd, 0xb8, 0, 0, net, last, ...[0, 0, 0, 0, 0, 0, 0, last]);
  assert.equal(tally(table, { ...full, from: ipv6(1, 1) })[0], 10);
  assert.equal(tally(table, { ...full, from: ipv6(2, 1) })[0], 0, "one /56");
  assert.equal(tally(table, { ...full, from: ipv6(2, 2) })[0], 10);
});

test("loopback passes unless it is told not to", () => {
  const loopback = [client(127, 0, 0, 1), client(...[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 1)];
  for (const from of loopback) {
    assert.equal(tally(limit(), { count: 100, from })[0], 100);
    assert.equal(tally(limit({ exemptLoopback: false }), { count: 100, from })[0], 10);
  }
});

test("a busy account keeps its place in a small table that a million names flood", () => {
  const table = limit({ accountsMax: 64 });
  let passed = 0;
  for (let index = 0; index < 100_000; index++) {
    table.check(client(198, 51, index >>> 8, 1), responseClass.positive, index, index / 1_000);
    if (index % 10 === 0) passed += tally(table, { count: 1, nowMs: index / 1_000 })[0]!;
  }
  // 100 s of clock / 1,000: the flood lasts 100 ms, so 10 at once and one more are due.
  assert.ok(passed >= 10 && passed <= 22, `${passed}`);
});

test("a clock that was set back costs nobody more than a moment", () => {
  const table = limit();
  tally(table, { count: 100, nowMs: 1e9 });
  assert.equal(tally(table, { count: 100, nowMs: 5e8 })[0], 10);
});

test("what was limited is counted by class, for all who share the table", () => {
  const table = limit({ logOnly: true });
  const other = new RateLimit(table.shared);
  tally(table, { count: 20 });
  tally(other, { count: 10 });
  tally(other, { count: 9, kind: responseClass.error });
  assert.deepEqual(table.counters, { slipped: [10, 0, 0, 0, 0, 2], dropped: [10, 0, 0, 0, 0, 2] });
});
