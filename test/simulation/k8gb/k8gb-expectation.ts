import { peersOf, type Tag } from "../fleet/fleet-map.ts";
import type { ApplicationFacts } from "../observation/cluster-facts.ts";
import type { Expectation } from "../observation/expectation.ts";
import type { World } from "../observation/world.ts";
import { k8gbTargets } from "./k8gb-endpoint.ts";
import { mayBeCut } from "./k8gb-exceptions.ts";

/** What a cluster that runs k8gb must answer, by its own rules, as far as that can be told from outside. */
export class K8gbExpectations {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  of(tag: Tag, facts: ApplicationFacts): Expectation | undefined {
    const world = this.#world;
    const { nowMs } = world;
    const { localMs, seenMs } = world.bounds(tag);
    const { strategy, own, application } = facts;
    const sinceMs = world.readySince(tag);
    if (strategy.value === null || sinceMs === undefined) return undefined;
    if (nowMs < Math.max(sinceMs, strategy.sinceMs, facts.tamperedMs) + seenMs) return undefined;

    let isWhole = nowMs >= Math.max(own.sinceMs, facts.healthy.sinceMs) + localMs;
    const peers = new Map<Tag, readonly string[]>();
    for (const peer of peersOf(tag)) {
      const reach = world.reach(tag, peer);
      const { published } = world.sameIn(peer, facts);
      const targets = published.value.filter(isIpv4);
      if (reach.value === "maybe" || nowMs < reach.sinceMs + seenMs) isWhole = false;
      else if (reach.value === "not") continue;
      else if (nowMs < published.sinceMs + seenMs || mayBeCut(targets)) isWhole = false;
      else if (targets.length > 0) peers.set(peer, targets);
    }
    // It knows no wildcards: what is below one is NXDOMAIN.
    const isWildcard = application.question !== application.host;
    const healthy = facts.healthy.value;
    const picked = k8gbTargets({ strategy: strategy.value, tag, healthy, own: own.value, peers });
    const targets = isWildcard ? [] : [...picked.values()].flat().toSorted();
    const usable = new Map<Tag, readonly string[]>();
    if (isWhole && targets.length > 0) {
      for (const [peer, published] of peers) usable.set(peer, published);
      if (own.value.length > 0) usable.set(tag, own.value);
    }
    return { isWhole, usable, targets };
  }
}

function isIpv4(target: string): boolean {
  return !target.includes(":");
}
