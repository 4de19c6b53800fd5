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

interface Remembered {
  readonly atMs: number;
  readonly expectation: Expectation;
}

/**
 * What clusters that run Meridian must answer for hosts. Written apart from the product: it knows the specification and not the code.
 *
 * What was once known stays so as long as nothing changes but that the cluster itself crashes and starts again: a restart
 * is never a failover.
 */
export class Expectations {
  readonly #world: World;
  readonly #remembered = new Map<string, Remembered>();
  readonly #cached = new Map<string, { readonly atMs: number; readonly value: Expectation | undefined }>();

  constructor(world: World) {
    this.#world = world;
  }

  /** `undefined` while nothing can be demanded: the cluster is starting, the Gslb was just changed, or there is none. */
  of(tag: Tag, facts: ApplicationFacts): Expectation | undefined {
    const { nowMs } = this.#world;
    const key = `${tag} ${facts.application.name}`;
    const cached = this.#cached.get(key);
    if (cached?.atMs === nowMs) return cached.value;
    const value = this.#now(tag, facts) ?? this.#stillKnown(tag, facts);
    if (value?.isWhole === true) this.#remembered.set(key, { atMs: nowMs, expectation: value });
    this.#cached.set(key, { atMs: nowMs, value });
    return value;
  }

  #now(tag: Tag, facts: ApplicationFacts): Expectation | undefined {
    const { nowMs } = this.#world;
    const bounds = this.#world.bounds(tag);
    const { strategy, own } = facts;
    const readySinceMs = this.#world.readySince(tag);
    if (strategy.value === null || readySinceMs === undefined) return undefined;
    if (nowMs < facts.tamperedMs + bounds.localMs) return undefined;
    // A Gslb that is new, or has a threshold that is new, has its peers asked first.
    if (nowMs < Math.max(readySinceMs, strategy.sinceMs) + bounds.seenMs) return undefined;

    const usable = new Map<Tag, readonly string[]>();
    let isWhole = true;
    if (nowMs < own.sinceMs + bounds.localMs || this.#world.mayKeepAddresses(tag, facts)) isWhole = false;
    else if (own.value.length > 0) usable.set(tag, own.value);
    for (const peer of peersOf(tag)) {
      const targets = this.#peerTargets(facts, { tag, peer, readySinceMs });
      if (targets === undefined) isWhole = false;
      else if (targets.length > 0) usable.set(peer, targets);
    }
    const { type, primaryGeoTag } = strategy.value;
    const primary = type === "failover" ? usable.get(primaryGeoTag as Tag) : undefined;
    const targets = (primary ?? [...usable.values()].flat()).toSorted();
    return { isWhole, usable, targets };
  }

  /** What a cluster must believe of a peer; `undefined` while that cannot be told. */
  #peerTargets(
    facts: ApplicationFacts,
    of: { readonly tag: Tag; readonly peer: Tag; readonly readySinceMs: number },
  ): readonly string[] | undefined {
    const { nowMs } = this.#world;
    const { tag, peer, readySinceMs } = of;
    const bounds = this.#world.bounds(tag);
    const { published } = this.#world.sameIn(peer, facts);
    const reach = this.#world.reach(tag, peer);
    const thresholdMs = thresholdOf(facts);
    switch (reach.value) {
      case "surely": {
        const isOld = nowMs >= Math.max(reach.sinceMs, published.sinceMs) + bounds.seenMs;
        return isOld ? published.value : undefined;
      }
      case "not": {
        if (nowMs >= Math.max(reach.sinceMs, readySinceMs) + thresholdMs + bounds.seenMs) return [];
        const wasSeen =
          reach.before === "surely" &&
          Math.max(published.sinceMs, reach.beforeSinceMs, facts.strategy.sinceMs, readySinceMs) +
            bounds.seenMs <=
            reach.sinceMs;
        return wasSeen && nowMs < reach.sinceMs + thresholdMs ? published.value : undefined;
      }
      case "maybe":
        return undefined;
    }
  }

  /** The last whole expectation, where nothing that it was made of has changed since. */
  #stillKnown(tag: Tag, facts: ApplicationFacts): Expectation | undefined {
    const known = this.#remembered.get(`${tag} ${facts.application.name}`);
    if (known === undefined || facts.answer.value === null) return undefined;
    const { nowMs } = this.#world;
    const isOwnChanged = Math.max(facts.own.sinceMs, facts.strategy.sinceMs, facts.tamperedMs) >= known.atMs;
    const { isDiskBroken, clockMovedAtMs } = this.#world.fleet.member(tag);
    const isClockLost = clockMovedAtMs >= known.atMs - this.#world.bounds(tag).seenMs;
    if (this.#world.mayKeepAddresses(tag, facts) || isOwnChanged || isDiskBroken || isClockLost)
      return undefined;
    const thresholdMs = thresholdOf(facts);
    const isPeerChanged = peersOf(tag).some((peer) => {
      const reach = this.#world.reach(tag, peer);
      const { published } = this.#world.sameIn(peer, facts);
      const isExpiring =
        reach.value === "not" && known.expectation.usable.has(peer) && nowMs >= reach.sinceMs + thresholdMs;
      return Math.max(reach.sinceMs, published.sinceMs) >= known.atMs || isExpiring;
    });
    return isPeerChanged ? undefined : known.expectation;
  }
}

function thresholdOf(facts: ApplicationFacts): number {
  return 1000 * (facts.strategy.value?.splitBrainThresholdSeconds ?? 0);
}
