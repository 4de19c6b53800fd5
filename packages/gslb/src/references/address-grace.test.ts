import assert from "node:assert/strict";
import { test } from "node:test";
import type { Condition } from "@meridian/kube";
import { noTargets } from "../decide/address-family.ts";
import type { ExposedOutcome, KeptAddresses } from "../decide/gslb-snapshot.ts";
import { keepAddresses } from "./address-grace.ts";
import { objectSource } from "./exposed-addresses.ts";

const now = Date.parse("2026-01-01T00:10:00Z");
const last = { A: ["192.0.2.1"], AAAA: ["2001:db8::1"] };
const empty: ExposedOutcome = { source: objectSource, targets: noTargets };
const clock = { now: () => now, monotonicMs: () => 5_000 };

function keptFor(ms: number): KeptAddresses {
  return { until: now + ms, untilMonotonicMs: 5_000 + ms, forMs: ms };
}

function missing(since: string): Condition {
  return {
    type: "ResolvedRefs",
    status: "False",
    reason: "AddressesMissing",
    message: "",
    lastTransitionTime: since,
  };
}

interface Case {
  readonly name: string;
  readonly exposed?: ExposedOutcome;
  readonly before?: ExposedOutcome;
  readonly conditions?: readonly Condition[];
  readonly published?: readonly string[];
  readonly graceMs?: number;
  /** Until when they are kept; absent: they are not. */
  readonly keptUntil?: string;
}

const cases: readonly Case[] = [
  {
    name: "kept from now on",
    before: { source: objectSource, targets: last },
    keptUntil: "2026-01-01T00:15:00Z",
  },
  {
    name: "kept to the end that was set first",
    before: { ...empty, targets: last, kept: keptFor(60_000) },
    keptUntil: "2026-01-01T00:11:00Z",
  },
  {
    name: "after a restart kept to the end that the condition tells",
    conditions: [missing("2026-01-01T00:07:00Z")],
    keptUntil: "2026-01-01T00:12:00Z",
  },
  { name: "after a restart, when it happened while nobody looked", keptUntil: "2026-01-01T00:15:00Z" },
  { name: "no longer than the grace", before: { ...empty, targets: last, kept: keptFor(0) } },
  { name: "not with a grace of 0", before: { source: objectSource, targets: last }, graceMs: 0 },
  { name: "not where none was published", published: [] },
  {
    name: "not where an annotation gave them that was taken away",
    before: { source: "annotation x", targets: last },
  },
  { name: "not where what is wrong is known", exposed: { ...empty, problem: "the Gateway is gone" } },
  { name: "not where an annotation says so", exposed: { source: "annotation x", targets: noTargets } },
];

test("F-08: where no address is kept, what is lacking is the problem, and told while they are kept", () => {
  const lacking = "Gateway demo/edge is not programmed";
  const kept = (exposedIps: readonly string[]): string | undefined => {
    const status = { geoTag: "eu", healthyRecords: {}, serviceHealth: {}, loadBalancer: { exposedIps } };
    return keepAddresses({ ...empty, lacking }, { before: undefined, status, graceMs: 60_000, clock })
      .problem;
  };
  assert.equal(kept([]), lacking);
  assert.match(kept(last.A) ?? "", /^Gateway demo\/edge is not programmed; the last ones are kept until /);
});

for (const {
  name,
  exposed = empty,
  before,
  conditions = [],
  published = [...last.A, ...last.AAAA],
  graceMs = 300_000,
  keptUntil,
} of cases)
  test(`F-08: addresses that an object shows no more are ${name}`, () => {
    const status = {
      geoTag: "eu",
      healthyRecords: {},
      serviceHealth: {},
      loadBalancer: { exposedIps: published },
      conditions,
    };
    const kept = keepAddresses(exposed, { before, status, graceMs, clock });
    if (keptUntil === undefined) return assert.equal(kept, exposed);
    assert.deepEqual([kept.targets, kept.kept?.until], [last, Date.parse(keptUntil)]);
    assert.match(kept.problem ?? "", new RegExp(`kept until ${keptUntil}`));
  });

test("F-08: a wall clock that jumps neither prolongs nor shortens how long addresses are kept", () => {
  const status = {
    ...{ geoTag: "eu", healthyRecords: {}, serviceHealth: {} },
    loadBalancer: { exposedIps: [...last.A, ...last.AAAA] },
  };
  const before: ExposedOutcome = { ...empty, targets: last, kept: keptFor(60_000) };
  for (const jumpMs of [-3_600_000, 3_600_000]) {
    const after = (passedMs: number): ExposedOutcome =>
      keepAddresses(empty, {
        ...{ before, status, graceMs: 300_000 },
        clock: { now: () => now + jumpMs + passedMs, monotonicMs: () => 5_000 + passedMs },
      });
    assert.deepEqual([after(59_999).targets, after(59_999).kept?.forMs], [last, 1]);
    assert.deepEqual(after(60_000), empty);
  }
});
