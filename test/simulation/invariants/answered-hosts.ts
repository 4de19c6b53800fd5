import { resolveForEver, type Resolution } from "../client/resolving.ts";
import {
  clientName,
  dnsAddressesOf,
  parentName,
  peersOf,
  tags,
  zoneName,
  type Tag,
} from "../fleet/fleet-map.ts";
import { servedZone, targetsIn } from "../observation/asking.ts";
import type { ApplicationFacts } from "../observation/cluster-facts.ts";
import type { World } from "../observation/world.ts";
import type { Invariant, Report } from "./invariant.ts";

/**
 * Invariant 2: while one cluster is healthy and seen, the answer is not empty in at least one family, and in none that
 * the picked clusters have. A host that exists is never NXDOMAIN.
 */
export class AnsweredHosts implements Invariant {
  readonly number = 2;
  readonly #world: World;
  readonly #report: Report;
  #judged = 0;
  /** The name servers in each zone's delegation, and the parent's serial at which they were read. */
  readonly #delegated = new Map<string, readonly string[]>();
  readonly #parentSerials = new Map<string, number>();
  /** When the resolution under way began. */
  #resolvingSinceMs = 0;

  constructor(world: World, report: Report) {
    this.#world = world;
    this.#report = report;
    void resolveForEver(world.fleet.client.runtime, {
      applications: world.applications,
      onStart: () => (this.#resolvingSinceMs = world.nowMs),
      onResolved: (resolution) => this.#checkResolution(resolution),
    });
  }

  get judged(): number {
    return this.#judged;
  }

  check(): void {
    const { fleet } = this.#world;
    this.#checkDelegation();
    for (const tag of tags)
      for (const facts of this.#world.facts(tag).applications) {
        this.#checkExists(tag, facts);
        this.#checkCarried(tag, facts);
        const expectation = this.#world.expectation(tag, facts);
        if (expectation === undefined || expectation.usable.size === 0) continue;
        this.#judged++;
        const { host } = facts.application;
        const answer = facts.answer.value;
        const healthy = [...expectation.usable.keys()].join(", ");
        if (answer === null || targetsIn(answer).length === 0) {
          this.#report(`${tag} answers ${host} with nothing, while it sees ${healthy} healthy`);
          continue;
        }
        // A family of a peer that is not known yet is no fault.
        if (!expectation.isWhole) continue;
        // k8gb has no other family.
        const families = fleet.member(tag).kind === "k8gb" ? (["A"] as const) : (["A", "AAAA"] as const);
        const missing = families.filter(
          (family) =>
            answer[family].length === 0 && expectation.targets.some((each) => familyOf(each) === family),
        );
        if (missing.length > 0)
          this.#report(`${tag} answers ${host} with nothing of ${missing.join(", ")}, which its picks have`);
      }
  }

  /** A resolver that reaches the parent and the servers finds what a cluster must answer. */
  #checkResolution({ application, referral, answer }: Resolution): void {
    const { fleet, nowMs } = this.#world;
    const isParentNear = fleet.paths.unchangedSinceMs < this.#resolvingSinceMs && this.#isClear(parentName);
    const { host } = application;
    if (isParentNear && this.#isDelegationWhole() && referral?.length !== this.#serverCount())
      this.#report(
        `the parent refers to ${referral?.join(" ") ?? "nobody"} for ${host}, not to all clusters`,
      );
    if (answer === undefined) return;
    const facts = this.#world.facts(answer.tag).applications.find((each) => each.application === application);
    const expectation = facts && this.#world.expectation(answer.tag, facts);
    const isSteady = facts !== undefined && facts.answer.sinceMs < this.#resolvingSinceMs;
    if (expectation === undefined || expectation.usable.size === 0 || !isSteady) return;
    this.#judged++;
    if (answer.targets.length === 0)
      this.#report(`a resolver got nothing for ${host} from ${answer.tag} at ${nowMs.toFixed(0)} ms`);
  }

  /** What a cluster once wrote into the parent zone stays: nobody leaves here, and nobody takes out what is another's. */
  #checkDelegation(): void {
    const { fleet } = this.#world;
    for (const { name, parent } of fleet.settings.zones) {
      const zone = servedZone(fleet.parentAuthority, parent);
      if (zone === undefined || zone.serial === this.#parentSerials.get(name)) continue;
      this.#parentSerials.set(name, zone.serial);
      const now = zone.recordSetsOf(name).find(({ type }) => type === "NS")?.data ?? [];
      const lost = (this.#delegated.get(name) ?? []).filter((server) => !now.includes(server));
      this.#judged++;
      if (lost.length > 0)
        this.#report(
          `the parent of ${name} does not refer to ${lost.join(" ")} any more, and nobody has left`,
        );
      this.#delegated.set(name, now);
    }
  }

  #isDelegationWhole(): boolean {
    return this.#delegated.get(zoneName)?.length === tags.length;
  }

  finish(): void {
    for (const { name } of this.#world.fleet.settings.zones.slice(0, 1))
      if (this.#delegated.get(name)?.length !== tags.length)
        this.#report(
          `the parent of ${name} refers to ${this.#delegated.get(name)?.join(" ") ?? "nobody"} in the end`,
        );
  }

  #serverCount(): number {
    return tags.reduce((sum, tag) => sum + dnsAddressesOf(tag, this.#world.fleet.settings).length, 0);
  }

  /** A host that a Gslb holds is a name that exists, whether anybody serves it or not. k8gb answers NXDOMAIN. */
  #checkExists(tag: Tag, facts: ApplicationFacts): void {
    const { nowMs, fleet } = this.#world;
    const sinceMs = this.#world.readySince(tag);
    if (fleet.member(tag).kind === "k8gb" || sinceMs === undefined || facts.strategy.value === null) return;
    if (nowMs < Math.max(sinceMs, facts.strategy.sinceMs, facts.tamperedMs) + this.#world.bounds(tag).localMs)
      return;
    const [a, aaaa] = facts.answer.value?.rcodes ?? [0, 0];
    this.#judged++;
    if (a !== 0 || aaaa !== 0)
      this.#report(
        `${tag} answers ${facts.application.host} with the codes ${a} and ${aaaa}, and a Gslb holds it`,
      );
  }

  /**
   * A cluster without the Gslb is delegated to all the same: it answers for a host that a peer with the fleet's key serves.
   * What a peer without the key carries, or one that runs k8gb, it cannot know.
   */
  #checkCarried(tag: Tag, facts: ApplicationFacts): void {
    const world = this.#world;
    const { fleet, nowMs } = world;
    const sinceMs = world.readySince(tag);
    const { keyed, kinds } = fleet.settings;
    if (!keyed[tag] || kinds[tag] === "k8gb" || sinceMs === undefined || facts.strategy.value !== null)
      return;
    const { seenMs } = world.bounds(tag);
    if (nowMs < Math.max(sinceMs, facts.strategy.sinceMs, facts.tamperedMs) + 2 * seenMs) return;
    const serving = peersOf(tag).find((peer) => {
      const { published, strategy } = world.sameIn(peer, facts);
      const reach = world.reach(tag, peer);
      const isOld = nowMs >= Math.max(reach.sinceMs, published.sinceMs, strategy.sinceMs) + 2 * seenMs;
      const isOurs = keyed[peer] && kinds[peer] === "meridian";
      return (
        isOurs && isOld && reach.value === "surely" && published.value.length > 0 && strategy.value !== null
      );
    });
    if (serving === undefined) return;
    this.#judged++;
    const { value } = facts.answer;
    if (value === null || targetsIn(value).length > 0) return;
    this.#report(
      `${tag}, which has no Gslb for ${facts.application.host}, answers it with nothing (codes ${value.rcodes.join(" and ")}), ` +
        `while ${serving} serves it`,
    );
  }

  #isClear(name: string): boolean {
    return this.#world.fleet.paths.between(clientName, name) === "clear";
  }
}

function familyOf(target: string): "A" | "AAAA" {
  return target.includes(":") ? "AAAA" : "A";
}
