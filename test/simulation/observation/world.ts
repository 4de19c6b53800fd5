import type { Application } from "../fleet/application.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { peersOf, tags, type Tag } from "../fleet/fleet-map.ts";
import { ClusterFacts, type ApplicationFacts } from "./cluster-facts.ts";
import { Expectations } from "./expectation.ts";
import { Tracked } from "./tracked.ts";

/** Whether one cluster's questions reach another's DNS server and are answered: surely, maybe, surely not. */
export type Reach = "surely" | "maybe" | "not";

/**
 * How long things may take in virtual milliseconds.
 *
 * `localMs`: from a write in a cluster's API server to its DNS server's answer. `seenMs`: from an answer of one cluster
 * to that of another that reaches it, without NOTIFY.
 */
export interface Bounds {
  readonly localMs: number;
  readonly seenMs: number;
}

/** The whole fleet as it is seen from outside after each step. */
export class World {
  readonly fleet: Fleet;
  readonly bounds: Bounds;
  readonly applications: readonly Application[];
  readonly clusters: ReadonlyMap<Tag, ClusterFacts>;
  readonly expectations: Expectations;
  readonly #reach = new Map<string, Tracked<Reach>>();

  constructor(fleet: Fleet, applications: readonly Application[]) {
    this.fleet = fleet;
    this.applications = applications;
    this.expectations = new Expectations(this);
    const localMs = 1_000;
    this.bounds = { localMs, seenMs: fleet.settings.periodMs + fleet.settings.deadlineMs + localMs };
    this.clusters = new Map(
      [...fleet.clusters].map(([tag, cluster]) => [tag, new ClusterFacts(cluster, applications)]),
    );
    for (const tag of tags)
      for (const peer of peersOf(tag)) this.#reach.set(`${tag} ${peer}`, new Tracked<Reach>("not", 0));
  }

  get nowMs(): number {
    return this.fleet.simulation.nowMs;
  }

  facts(tag: Tag): ClusterFacts {
    return this.clusters.get(tag)!;
  }

  /** The facts about the same application in another cluster. */
  sameIn(tag: Tag, facts: ApplicationFacts): ApplicationFacts {
    return this.facts(tag).applications.find((each) => each.application.name === facts.application.name)!;
  }

  reach(tag: Tag, peer: Tag): Tracked<Reach> {
    return this.#reach.get(`${tag} ${peer}`)!;
  }

  /** Since when a cluster's operator answers; `undefined` while it does not, or can write nothing. */
  readySince(tag: Tag): number | undefined {
    const cluster = this.fleet.cluster(tag);
    return cluster.isDiskBroken ? undefined : cluster.readySinceMs;
  }

  /** Brings everything up to date. @returns whether anything changed */
  update(): boolean {
    const { nowMs } = this;
    let isChanged = false;
    for (const facts of this.clusters.values()) isChanged = facts.update(nowMs) || isChanged;
    for (const tag of tags)
      for (const peer of peersOf(tag))
        isChanged = this.reach(tag, peer).set(this.#reachNow(tag, peer), nowMs) || isChanged;
    return isChanged;
  }

  #reachNow(tag: Tag, peer: Tag): Reach {
    const { clusters, paths } = this.fleet;
    const there = clusters.get(peer)!;
    if (!there.up || there.dnsIllness !== undefined) return "not";
    const path = paths.between(tag, peer);
    if (path === "cut") return "not";
    return path === "clear" && there.readySinceMs !== undefined ? "surely" : "maybe";
  }
}
