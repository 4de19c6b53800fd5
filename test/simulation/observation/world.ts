import type { KubeObject } from "@meridian/kube";
import { collectionKey, types, type Application } from "../fleet/application.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { dnsAddressesOf, parentName, peersOf, tags, type Tag } from "../fleet/fleet-map.ts";
import { k8gbBounds } from "../k8gb/k8gb-bounds.ts";
import { K8gbExpectations } from "../k8gb/k8gb-expectation.ts";
import { k8gbNameServer } from "../k8gb/k8gb-names.ts";
import { K8gbSight } from "../k8gb/k8gb-sight.ts";
import { ClusterFacts, type ApplicationFacts } from "./cluster-facts.ts";
import { Expectations, type Expectation } from "./expectation.ts";
import { MeridianSight } from "./meridian-sight.ts";
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

interface ZoneObject extends KubeObject {
  readonly status?: { readonly dnsServers?: readonly { readonly name: string }[] };
}

/** The whole fleet as it is seen from outside after each step. */
export class World {
  readonly fleet: Fleet;
  readonly applications: readonly Application[];
  readonly clusters: ReadonlyMap<Tag, ClusterFacts>;
  readonly #expectations: Expectations;
  readonly #k8gbExpectations: K8gbExpectations;
  readonly #bounds: Bounds;
  readonly #keyedBounds: Bounds;
  readonly #k8gbBounds: Bounds;
  readonly #found = new Set<string>();
  readonly #reach = new Map<string, Tracked<Reach>>();

  constructor(fleet: Fleet, applications: readonly Application[]) {
    this.fleet = fleet;
    this.applications = applications;
    this.#expectations = new Expectations(this);
    this.#k8gbExpectations = new K8gbExpectations(this);
    const { settings } = fleet;
    const localMs = 1_000;
    // A peer that was there is asked twice before its silence counts.
    this.#bounds = { localMs, seenMs: settings.periodMs + 2 * settings.deadlineMs + localMs };
    this.#keyedBounds = { localMs, seenMs: this.#bounds.seenMs + settings.deadlineMs };
    this.#k8gbBounds = k8gbBounds(settings, applications.length);
    this.clusters = new Map(tags.map((tag) => [tag, this.#observed(tag)]));
    for (const tag of tags)
      for (const peer of peersOf(tag)) this.#reach.set(`${tag} ${peer}`, new Tracked<Reach>("not", 0));
  }

  get nowMs(): number {
    return this.fleet.simulation.nowMs;
  }

  /**
   * What a cluster is held to. One with a key that some do not have waits for their proof first, and only then, for as long
   * again, for answers about hosts.
   */
  bounds(tag: Tag): Bounds {
    if (this.fleet.member(tag).kind === "k8gb") return this.#k8gbBounds;
    const { keyed, kinds } = this.fleet.settings;
    const isAlone = keyed[tag] && tags.some((peer) => !keyed[peer] && kinds[peer] === "meridian");
    return isAlone ? this.#keyedBounds : this.#bounds;
  }

  /** The longest of all clusters' bounds. */
  get seenMsMax(): number {
    return Math.max(...tags.map((tag) => this.bounds(tag).seenMs));
  }

  facts(tag: Tag): ClusterFacts {
    return this.clusters.get(tag)!;
  }

  /** The facts about the same application in another cluster. */
  sameIn(tag: Tag, facts: ApplicationFacts): ApplicationFacts {
    return this.facts(tag).about(facts.application.name);
  }

  /** What a cluster must answer for a host; `undefined` while nothing can be demanded. */
  expectation(tag: Tag, facts: ApplicationFacts): Expectation | undefined {
    const expectations = this.fleet.member(tag).kind === "k8gb" ? this.#k8gbExpectations : this.#expectations;
    return expectations.of(tag, facts);
  }

  /**
   * Whether a cluster may publish addresses that its load balancer does not show any more. After a start and a jump of the
   * wall clock it may not know since when.
   */
  mayKeepAddresses(tag: Tag, facts: ApplicationFacts): boolean {
    const { fleet, nowMs } = this;
    const { kind, clockMovedAtMs } = fleet.member(tag);
    const { addressGraceMs } = fleet.settings;
    if (kind === "k8gb" || addressGraceMs === 0 || facts.addresses.value.length > 0) return false;
    const sinceMs = Math.max(facts.addresses.sinceMs, this.readySince(tag) ?? nowMs, clockMovedAtMs);
    return nowMs < sinceMs + addressGraceMs + this.bounds(tag).localMs;
  }

  reach(tag: Tag, peer: Tag): Tracked<Reach> {
    return this.#reach.get(`${tag} ${peer}`)!;
  }

  /** Since when a cluster's operator answers; `undefined` while it does not, or can write nothing. */
  readySince(tag: Tag): number | undefined {
    return this.fleet.member(tag).worksSinceMs;
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

  #observed(tag: Tag): ClusterFacts {
    const { fleet, applications } = this;
    const k8gb = fleet.k8gbClusters.get(tag);
    const zones = fleet.settings.zones.map(({ name }) => name);
    const sight =
      k8gb === undefined
        ? new MeridianSight(fleet.cluster(tag), { zones, applications })
        : new K8gbSight(k8gb);
    const askedMs = 2 * fleet.settings.deadlineMs;
    return new ClusterFacts(fleet.member(tag), sight, { applications, askedMs });
  }

  #reachNow(tag: Tag, peer: Tag): Reach {
    const { fleet } = this;
    const there = fleet.member(peer);
    if (!there.up || there.dnsIllness !== undefined) return "not";
    const path = fleet.paths.between(tag, peer);
    if (path === "cut") return "not";
    const known =
      fleet.member(tag).kind === "k8gb" ? this.#reachOfK8gb(tag, peer) : this.#reachOfOurs(tag, peer);
    const vouched = this.#isVouched(peer);
    if (known === "not" || vouched === "not") return "not";
    return known === "surely" &&
      vouched === "surely" &&
      path === "clear" &&
      there.answersSinceMs !== undefined
      ? "surely"
      : "maybe";
  }

  /** Whether an operator still stands for what its DNS server says of the cluster. */
  #isVouched(peer: Tag): Reach {
    const { fleet, nowMs } = this;
    const diedAtMs = fleet.clusters.get(peer)?.operatorDiedAtMs;
    const { leaseMs } = fleet.settings;
    if (diedAtMs === undefined || nowMs < diedAtMs + leaseMs / 2) return "surely";
    return nowMs < diedAtMs + leaseMs + this.bounds(peer).localMs ? "maybe" : "not";
  }

  /** All addresses of a peer are used, once they are known; the last known ones are kept. */
  #reachOfOurs(tag: Tag, peer: Tag): Reach {
    const { settings } = this.fleet;
    const { deadAddress } = this.fleet.member(peer);
    if (deadAddress !== undefined && !settings.secondAddress[peer]) return "not";
    return !settings.dynamicParent || this.#isFound(tag, peer) ? "surely" : "maybe";
  }

  /** Whether a cluster knows a peer's server for every zone, by its ZoneDelegations; it never forgets one. */
  #isFound(tag: Tag, peer: Tag): boolean {
    const pair = `${tag} ${peer}`;
    if (!this.#found.has(pair) && this.#looksFound(tag, peer)) this.#found.add(pair);
    return this.#found.has(pair);
  }

  #looksFound(tag: Tag, peer: Tag): boolean {
    const { truth } = this.fleet.cluster(tag);
    return this.fleet.settings.zones.every((zone) => {
      const key = `${collectionKey(types.zone)}${zone.name.replaceAll(".", "-")}`;
      const found = truth.object<ZoneObject>(key)?.status?.dnsServers ?? [];
      return found.some(({ name }) => name === k8gbNameServer(zone, peer));
    });
  }

  /** k8gb asks the last address only, and only of a peer that it found when it last looked for peers. */
  #reachOfK8gb(tag: Tag, peer: Tag): Reach {
    const { settings, paths } = this.fleet;
    const { deadAddress } = this.fleet.member(peer);
    if (deadAddress !== undefined && dnsAddressesOf(peer, settings).at(-1) === deadAddress) return "not";
    const { user } = this.fleet.k8gbClusters.get(tag)!;
    const isKnown = (zone: (typeof settings.zones)[number]): boolean =>
      user.servers(zone).some(({ name }) => name.includes(`-${peer}-`));
    if (settings.zones.every((zone) => !isKnown(zone))) return "not";
    return settings.zones.every(isKnown) && paths.between(tag, parentName) === "clear" ? "surely" : "maybe";
  }
}
