import assert from "node:assert/strict";
import { test } from "node:test";
import type { DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import { planFleetHost, type FleetHostSnapshot } from "./fleet-host.ts";
import type { PeerView } from "./peer-view.ts";
import { parsePublishedPolicy } from "./published-host.ts";

const host = "app.x";
const now = 100_000;

function view(geoTag: string, state: PeerView["state"], ...targets: readonly string[]): PeerView {
  const family = targets[0]?.includes(":") === true ? "AAAA" : "A";
  const since = state === "unreachable" ? { unreachableSince: now - 10_000 } : {};
  return { geoTag, family, state, targets, verdict: "", ...since };
}

const policy = (...parts: readonly string[]): FleetHostSnapshot["policy"] =>
  parsePublishedPolicy(['"v=1"', ...parts.map((part) => `"${part}"`)].join(" "), 5);
const plan = (more: Partial<FleetHostSnapshot>): ReturnType<typeof planFleetHost> =>
  planFleetHost({
    host,
    policy: policy("strategy=roundRobin"),
    geoTag: "za",
    views: [],
    stored: [],
    now,
    ...more,
  });
const targets = (records: readonly DnsEndpointRecord[]): readonly string[] =>
  records.map(({ recordType, targets: of }) => `${recordType} ${(of ?? []).join(" ")}`.trim());

const both = [view("eu", "fresh", "192.0.2.1"), view("us", "fresh", "198.51.100.1")];
const cases: readonly {
  readonly what: string;
  readonly more: Partial<FleetHostSnapshot>;
  readonly expect: readonly string[];
}[] = [
  { what: "all that serve it, by round robin", more: { views: both }, expect: ["A 192.0.2.1 198.51.100.1"] },
  {
    what: "the primary alone, by failover",
    more: { views: both, policy: policy("strategy=failover", "primary=us") },
    expect: ["A 198.51.100.1"],
  },
  {
    what: "the others where the primary serves nothing",
    more: { views: [both[0]!, view("us", "empty")], policy: policy("strategy=failover", "primary=us") },
    expect: ["A 192.0.2.1"],
  },
  {
    what: "both families, IPv6 first as everywhere",
    more: { views: [both[0]!, view("eu", "fresh", "2001:db8::1")] },
    expect: ["AAAA 2001:db8::1", "A 192.0.2.1"],
  },
  {
    what: "an empty record where nobody serves it, so that it is not denied",
    more: { views: [view("eu", "empty")] },
    expect: ["A"],
  },
  {
    what: "round robin where no peer tells how it is balanced",
    more: { views: both, policy: undefined },
    expect: ["A 192.0.2.1 198.51.100.1"],
  },
  {
    what: "what was stored until each peer was asked: a restart is never a failover",
    more: {
      views: [view("eu", "unknown"), both[1]!],
      stored: [{ dnsName: host, recordType: "A", recordTTL: 5, targets: ["192.0.2.1"] }],
    },
    expect: ["A 192.0.2.1"],
  },
];

for (const { what, more, expect } of cases)
  test(`S-04: a host of the fleet is answered with ${what}`, () => {
    assert.deepEqual(targets(plan(more).records), expect);
  });

test("the threshold that peers tell bounds how long a silent one's targets stand, and when to look again", () => {
  const views = [view("eu", "unreachable", "192.0.2.1")];
  const held = plan({ views, policy: policy("strategy=roundRobin", "threshold=60") });
  assert.deepEqual([targets(held.records), held.afterMs], [["A 192.0.2.1"], 50_000]);
  assert.deepEqual(targets(plan({ views }).records), ["A"]);
});

test("weights and the TTL are those that peers tell", () => {
  const { records } = plan({
    views: both,
    policy: policy("strategy=roundRobin", "weight=eu:3", "weight=us:1"),
  });
  assert.deepEqual(records[0]?.labels, {
    strategy: "roundRobin",
    "weight-eu-0-3": "192.0.2.1",
    "weight-us-0-1": "198.51.100.1",
  });
  assert.equal(records[0]?.recordTTL, 5);
});
