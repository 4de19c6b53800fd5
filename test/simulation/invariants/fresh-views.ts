import { peersOf, tags, type Tag } from "../fleet/fleet-map.ts";
import type { ApplicationFacts } from "../observation/cluster-facts.ts";
import type { World } from "../observation/world.ts";
import type { Invariant, Report } from "./invariant.ts";

/** How often views are read where nothing has changed. */
const readEveryMs = 1_000;
/** What a hint, a serial check and the questions after it may take, NOTIFYs being taken once a second. */
const hintedMs = 2_500;

/**
 * Invariant 4: after a partition heals, views are fresh again within one period plus the query deadline; a dead or silent
 * peer delays nothing else.
 */
export class FreshViews implements Invariant {
  readonly number = 4;
  readonly #world: World;
  readonly #report: Report;
  #judged = 0;
  #readAtMs = 0;

  constructor(world: World, report: Report) {
    this.#world = world;
    this.#report = report;
  }

  get judged(): number {
    return this.#judged;
  }

  check(): void {
    const { nowMs } = this.#world;
    for (const tag of tags)
      for (const facts of this.#world.facts(tag).applications) this.#checkOwn(tag, facts);
    if (nowMs < this.#readAtMs + readEveryMs) return;
    this.#readAtMs = nowMs;
    for (const tag of this.#world.fleet.ours)
      for (const facts of this.#world.facts(tag).applications) this.#checkViews(tag, facts);
  }

  /** A cluster's own change shows in what it publishes in no time, whatever its peers do. */
  #checkOwn(tag: Tag, facts: ApplicationFacts): void {
    const { nowMs } = this.#world;
    const bounds = this.#world.bounds(tag);
    const readySinceMs = this.#world.readySince(tag);
    if (readySinceMs === undefined || facts.answer.value === null) return;
    if (this.#world.mayKeepAddresses(tag, facts)) return;
    const { own, strategy, tamperedMs } = facts;
    if (nowMs < Math.max(own.sinceMs, readySinceMs, strategy.sinceMs, tamperedMs) + bounds.localMs) return;
    this.#judged++;
    if (facts.own.value.join() === facts.published.value.join()) return;
    this.#report(
      `${tag} publishes ${listed(facts.published.value)} for ${facts.application.host}; since ` +
        `${facts.own.sinceMs.toFixed(0)} ms it can serve ${listed(facts.own.value)}, bound ${bounds.localMs} ms`,
    );
  }

  #checkViews(tag: Tag, facts: ApplicationFacts): void {
    const { nowMs, fleet } = this.#world;
    const bounds = this.#world.bounds(tag);
    const operator = fleet.cluster(tag).cluster?.operator;
    const readySinceMs = this.#world.readySince(tag);
    if (operator === undefined || readySinceMs === undefined || facts.strategy.value === null) return;
    const sinceMs = Math.max(readySinceMs, facts.strategy.sinceMs);
    if (nowMs < sinceMs + bounds.seenMs) return;
    const { host } = facts.application;
    const peers = operator.explain(host).peers;
    for (const peer of peersOf(tag)) {
      const reach = this.#world.reach(tag, peer);
      if (reach.value !== "surely" || nowMs < reach.sinceMs + bounds.seenMs) continue;
      this.#judged++;
      const views = peers.find(({ geoTag }) => geoTag === peer)?.views ?? [];
      const stale = views.find(({ state }) => state !== "fresh" && state !== "empty");
      const reached = `which it reaches since ${reach.sinceMs.toFixed(0)} ms`;
      if (stale !== undefined || views.length === 0) {
        this.#report(`${tag} sees ${peer} as ${stale?.state ?? "nothing"} for ${host}, ${reached}`);
        continue;
      }
      const { published } = this.#world.sameIn(peer, facts);
      const boundMs = this.#isHinted(tag, peer) ? hintedMs : bounds.seenMs;
      if (nowMs < published.sinceMs + boundMs) continue;
      const seen = views.flatMap(({ targets }) => targets).toSorted();
      if (seen.join() === published.value.join()) continue;
      this.#report(
        `${tag} sees ${listed(seen)} of ${peer} for ${host}, ${reached}; since ` +
          `${published.sinceMs.toFixed(0)} ms it publishes ${listed(published.value)}, bound ${boundMs} ms`,
      );
    }
  }

  /** Whether each change of the peer reaches the cluster by NOTIFY. */
  #isHinted(tag: Tag, peer: Tag): boolean {
    const { fleet, nowMs } = this.#world;
    const bounds = this.#world.bounds(tag);
    const back = this.#world.reach(peer, tag);
    const isTold = fleet.settings.notify && fleet.member(peer).kind === "meridian";
    return isTold && back.value === "surely" && nowMs >= back.sinceMs + bounds.seenMs + hintedMs;
  }
}

function listed(targets: readonly string[]): string {
  return targets.length === 0 ? "nothing" : targets.join(" ");
}
