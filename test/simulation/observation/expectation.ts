import { peersOf, type Tag } from "../fleet/fleet-map.ts";
import type { ApplicationFacts } from "./cluster-facts.ts";
import type { World } from "./world.ts";

/** What a cluster must answer for a host at this moment, as far as that can be told from outside. */
export interface Expectation {
  /** Whether every cluster's part in the answer is known. */
  readonly isWhole: boolean;
  /** The targets of the clusters that surely count, by geo tag; none of those that surely count for nothing. */
  readonly usable: ReadonlyMap<Tag, readonly string[]>;
  /** The targets of the clusters that are to be picked; of meaning only where the expectation is whole. */
  readonly targets: readonly string[];
}

/**
 * What a cluster must answer for a host; `undefined` while nothing can be demanded, since it is starting, the Gslb was
 * just changed, or there is none. Written apart from the product: it knows the specification and not the code.
 */
export function expectationOf(world: World, tag: Tag, facts: ApplicationFacts): Expectation | undefined {
  const { nowMs, bounds } = world;
  const { strategy, own } = facts;
  const readySinceMs = world.readySince(tag);
  if (strategy.value === null || readySinceMs === undefined) return undefined;
  // A Gslb that is new, or has a threshold that is new, has its peers asked first.
  if (nowMs < Math.max(readySinceMs, strategy.sinceMs) + bounds.seenMs) return undefined;

  const usable = new Map<Tag, readonly string[]>();
  let isWhole = true;
  if (nowMs < own.sinceMs + bounds.localMs) isWhole = false;
  else if (own.value.length > 0) usable.set(tag, own.value);
  for (const peer of peersOf(tag)) {
    const targets = peerTargets(world, { tag, peer, facts, readySinceMs });
    if (targets === undefined) isWhole = false;
    else if (targets.length > 0) usable.set(peer, targets);
  }
  const { type, primaryGeoTag } = strategy.value;
  const primary = type === "failover" ? usable.get(primaryGeoTag as Tag) : undefined;
  const targets = (primary ?? [...usable.values()].flat()).toSorted();
  return { isWhole, usable, targets };
}

/** What a cluster must believe of a peer; `undefined` while that cannot be told. */
function peerTargets(
  world: World,
  of: {
    readonly tag: Tag;
    readonly peer: Tag;
    readonly facts: ApplicationFacts;
    readonly readySinceMs: number;
  },
): readonly string[] | undefined {
  const { nowMs, bounds } = world;
  const { tag, peer, facts, readySinceMs } = of;
  const { published } = world.sameIn(peer, facts);
  const reach = world.reach(tag, peer);
  const thresholdMs = 1000 * (facts.strategy.value?.splitBrainThresholdSeconds ?? 0);
  switch (reach.value) {
    case "surely": {
      const isOld = nowMs >= Math.max(reach.sinceMs, published.sinceMs) + bounds.seenMs;
      return isOld ? published.value : undefined;
    }
    case "not": {
      if (nowMs >= Math.max(reach.sinceMs, readySinceMs) + thresholdMs + bounds.seenMs) return [];
      const wasSeen =
        reach.before === "surely" &&
        published.sinceMs + bounds.seenMs <= reach.sinceMs &&
        reach.beforeSinceMs + bounds.seenMs <= reach.sinceMs &&
        facts.strategy.sinceMs + bounds.seenMs <= reach.sinceMs;
      return wasSeen && nowMs < reach.sinceMs + thresholdMs ? published.value : undefined;
    }
    case "maybe":
      return undefined;
  }
}
