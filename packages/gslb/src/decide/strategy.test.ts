import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { noTargets, type FamilyTargets } from "./address-family.ts";
import type { PeerState, PeerView } from "./peer-view.ts";
import { answeredTargets, decide, type DecideInput, type Strategy } from "./strategy.ts";

const now = 1_000_000;

function view(geoTag: string, state: PeerState, targets: readonly string[]): PeerView {
  const since = state === "unreachable" ? { unreachableSince: now - 10_000 } : {};
  return { geoTag, family: "A", state, targets, verdict: state, ...since };
}

const six = (of: PeerView): PeerView => ({ ...of, family: "AAAA" });

function input(strategy: Strategy, given: Partial<DecideInput> = {}): DecideInput {
  const local = { healthy: true, targets: { A: ["192.0.2.1"], AAAA: [] } };
  return { strategy, self: "eu", local, peers: [], splitBrainThresholdSeconds: 0, now, ...given };
}

const failover = (primaryGeoTag: string): Strategy => ({ type: "failover", primaryGeoTag });
const us = view("us", "fresh", ["198.51.100.1"]);
const za = view("za", "fresh", ["203.0.113.1"]);

/** k8gb's table: what is picked, by strategy, own health and which peers have targets. */
const table: readonly {
  readonly name: string;
  readonly strategy: Strategy;
  readonly healthy: boolean;
  readonly peers: readonly PeerView[];
  readonly picked: readonly string[];
}[] = [
  {
    name: "roundRobin, healthy, no peer",
    strategy: { type: "roundRobin" },
    healthy: true,
    peers: [],
    picked: ["eu"],
  },
  {
    name: "roundRobin, ill, no peer",
    strategy: { type: "roundRobin" },
    healthy: false,
    peers: [],
    picked: [],
  },
  {
    name: "roundRobin, healthy, peers",
    strategy: { type: "roundRobin" },
    healthy: true,
    peers: [us, za],
    picked: ["eu", "us", "za"],
  },
  {
    name: "roundRobin, ill, peers",
    strategy: { type: "roundRobin" },
    healthy: false,
    peers: [us, za],
    picked: ["us", "za"],
  },
  {
    name: "geoip decides like roundRobin",
    strategy: { type: "geoip" },
    healthy: true,
    peers: [us, za],
    picked: ["eu", "us", "za"],
  },
  {
    name: "failover, own is the healthy primary, no peer",
    strategy: failover("eu"),
    healthy: true,
    peers: [],
    picked: ["eu"],
  },
  {
    name: "failover, own is the healthy primary, peers",
    strategy: failover("eu"),
    healthy: true,
    peers: [us, za],
    picked: ["eu"],
  },
  {
    name: "failover, own is the ill primary, no peer",
    strategy: failover("eu"),
    healthy: false,
    peers: [],
    picked: [],
  },
  {
    name: "failover, own is the ill primary, peers",
    strategy: failover("eu"),
    healthy: false,
    peers: [us, za],
    picked: ["us", "za"],
  },
  {
    name: "failover, own is secondary, primary seen, healthy",
    strategy: failover("us"),
    healthy: true,
    peers: [us, za],
    picked: ["us"],
  },
  {
    name: "failover, own is secondary, primary seen, ill",
    strategy: failover("us"),
    healthy: false,
    peers: [us, za],
    picked: ["us"],
  },
  {
    name: "failover, own is secondary, primary unseen, healthy",
    strategy: failover("us"),
    healthy: true,
    peers: [za],
    picked: ["eu", "za"],
  },
  {
    name: "failover, own is secondary, primary unseen, ill",
    strategy: failover("us"),
    healthy: false,
    peers: [za],
    picked: ["za"],
  },
  {
    name: "failover, own is secondary, nobody else, healthy",
    strategy: failover("us"),
    healthy: true,
    peers: [],
    picked: ["eu"],
  },
  {
    name: "failover without a primary acts like roundRobin",
    strategy: failover(""),
    healthy: true,
    peers: [us, za],
    picked: ["eu", "us", "za"],
  },
  {
    name: "failover with an unknown primary acts like roundRobin",
    strategy: failover("mars"),
    healthy: true,
    peers: [us],
    picked: ["eu", "us"],
  },
  {
    name: "an empty peer is not picked",
    strategy: { type: "roundRobin" },
    healthy: true,
    peers: [view("us", "empty", []), za],
    picked: ["eu", "za"],
  },
  {
    name: "an empty primary hands over at once",
    strategy: failover("us"),
    healthy: true,
    peers: [view("us", "empty", []), za],
    picked: ["eu", "za"],
  },
  {
    name: "an unknown peer is not picked",
    strategy: { type: "roundRobin" },
    healthy: true,
    peers: [view("us", "unknown", ["198.51.100.1"])],
    picked: ["eu"],
  },
  {
    name: "an unreachable peer is not picked without a threshold",
    strategy: { type: "roundRobin" },
    healthy: true,
    peers: [view("us", "unreachable", ["198.51.100.1"])],
    picked: ["eu"],
  },
];

for (const { name, strategy, healthy, peers, picked } of table) {
  test(name, () => {
    const local = { healthy, targets: { A: ["192.0.2.1"], AAAA: [] } };
    const decision = decide(input(strategy, { local, peers }));
    assert.deepEqual([...decision.targets.keys()], picked);
    const reasoned = decision.reasons.filter((reason) => reason.picked).map((reason) => reason.geoTag);
    assert.deepEqual(reasoned, picked);
    assert.deepEqual(
      decision.reasons.map((reason) => reason.geoTag).sort(),
      [...new Set(["eu", ...peers.map((peer) => peer.geoTag)])].sort(),
    );
  });
}

test("an unreachable peer is believed until its threshold is over", () => {
  const peers = [view("us", "unreachable", ["198.51.100.1"])];
  const at = (threshold: number): string[] => [
    ...decide(input({ type: "roundRobin" }, { peers, splitBrainThresholdSeconds: threshold })).targets.keys(),
  ];
  assert.deepEqual([at(0), at(10), at(11)], [["eu"], ["eu"], ["eu", "us"]]);
});

test("an IPv4-only primary is not left for the IPv6 of a secondary", () => {
  const peers = [us, six(view("us", "empty", [])), za, six(view("za", "fresh", ["2001:db8::3"]))];
  const decision = decide(input(failover("us"), { peers }));
  assert.deepEqual(answeredTargets(decision), { A: ["198.51.100.1"], AAAA: [] });
});

test("each family answers the addresses of the picked clusters only", () => {
  const peers = [view("us", "empty", []), six(view("us", "fresh", ["2001:db8::2"]))];
  const local = { healthy: true, targets: { A: ["192.0.2.1"], AAAA: ["2001:db8::1"] } };
  assert.deepEqual(answeredTargets(decide(input({ type: "roundRobin" }, { local, peers }))), {
    A: ["192.0.2.1"],
    AAAA: ["2001:db8::1", "2001:db8::2"],
  });
});

test("a healthy cluster that has no address does not count, here as little as at its peers", () => {
  const decision = decide(
    input(failover("eu"), { local: { healthy: true, targets: noTargets }, peers: [us] }),
  );
  assert.deepEqual([...decision.targets.keys()], ["us"]);
  assert.equal(decision.reasons[0]?.rule, "LocalWithoutAddress");
});

test("an address that two clusters share is answered once", () => {
  const peers = [view("us", "fresh", ["192.0.2.1", "192.0.2.2"])];
  assert.deepEqual(answeredTargets(decide(input({ type: "roundRobin" }, { peers }))).A, [
    "192.0.2.1",
    "192.0.2.2",
  ]);
});

/** A fleet's truth: which clusters are healthy and with which addresses. */
const fleet = fc.integer({ min: 2, max: 7 }).chain((size) =>
  fc.record({
    strategy: fc.oneof(
      fc.constant<Strategy>({ type: "roundRobin" }),
      fc.constant<Strategy>({ type: "geoip" }),
      fc
        .integer({ min: 0, max: size })
        .map((primary): Strategy => failover(primary === size ? "nobody" : `c${primary}`)),
    ),
    clusters: fc.array(
      fc.record({
        healthy: fc.boolean(),
        v4: fc.integer({ min: 0, max: 3 }),
        v6: fc.integer({ min: 0, max: 2 }),
      }),
      { minLength: size, maxLength: size },
    ),
  }),
);

type Fleet = typeof fleet extends fc.Arbitrary<infer T> ? T : never;

function addressesOf(index: number, cluster: Fleet["clusters"][number]): FamilyTargets {
  const list = (count: number, of: (n: number) => string): string[] =>
    Array.from({ length: count }, (_, n) => of(n + 1));
  return {
    A: list(cluster.v4, (n) => `192.0.${index}.${n}`),
    AAAA: list(cluster.v6, (n) => `2001:db8:${index}::${n}`),
  };
}

/** What each cluster decides when all its views are fresh. */
function decisions({ strategy, clusters }: Fleet): ReturnType<typeof decide>[] {
  return clusters.map((own, self) => {
    const peers = clusters.flatMap((cluster, index) => {
      const targets = cluster.healthy ? addressesOf(index, cluster) : noTargets;
      const state = (list: readonly string[]): PeerState => (list.length > 0 ? "fresh" : "empty");
      return index === self
        ? []
        : [
            view(`c${index}`, state(targets.A), targets.A),
            six(view(`c${index}`, state(targets.AAAA), targets.AAAA)),
          ];
    });
    const local = { healthy: own.healthy, targets: addressesOf(self, own) };
    return decide({ strategy, self: `c${self}`, local, peers, splitBrainThresholdSeconds: 0, now });
  });
}

test("S-01: with fresh views all clusters of a fleet of 2 to 7 pick alike", () => {
  fc.assert(
    fc.property(fleet, (given) => {
      const all = decisions(given).map((decision) => JSON.stringify(answeredTargets(decision)));
      assert.deepEqual(new Set(all).size, 1);
    }),
  );
});

test("S-01: failover: with a healthy primary every cluster answers the primary only", () => {
  fc.assert(
    fc.property(fleet, (given) => {
      if (given.strategy.type !== "failover") return;
      const index = given.clusters.findIndex(
        (_, at) => given.strategy.type === "failover" && given.strategy.primaryGeoTag === `c${at}`,
      );
      const primary = given.clusters[index];
      if (primary === undefined || !primary.healthy || primary.v4 + primary.v6 === 0) return;
      for (const decision of decisions(given)) assert.deepEqual([...decision.targets.keys()], [`c${index}`]);
    }),
  );
});

test("while a cluster that has an address is healthy, no cluster's answer is empty", () => {
  fc.assert(
    fc.property(fleet, (given) => {
      if (!given.clusters.some((cluster) => cluster.healthy && cluster.v4 + cluster.v6 > 0)) return;
      for (const decision of decisions(given)) assert.ok(decision.targets.size > 0);
    }),
  );
});

test("no answer has a target that nobody reported healthy", () => {
  fc.assert(
    fc.property(fleet, (given) => {
      const healthy = new Set(
        given.clusters.flatMap((cluster, index) =>
          cluster.healthy ? Object.values(addressesOf(index, cluster)).flat() : [],
        ),
      );
      for (const decision of decisions(given)) {
        const answered = answeredTargets(decision);
        for (const target of [...answered.A, ...answered.AAAA]) assert.ok(healthy.has(target));
      }
    }),
  );
});
