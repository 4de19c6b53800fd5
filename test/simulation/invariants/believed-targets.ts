import { peersOf, ownerOf, tags, type Tag } from "../fleet/fleet-map.ts";
import { targetsIn } from "../observation/asking.ts";
import type { ApplicationFacts } from "../observation/cluster-facts.ts";
import type { Tracked } from "../observation/tracked.ts";
import type { Reach, World } from "../observation/world.ts";
import type { Invariant, Report } from "./invariant.ts";

interface Belief {
  /** When the peer last published the target to somebody who could hear it. */
  heardMs: number;
  /** By when this cluster must have noticed that it does not any more. */
  noticedMs: number;
}

interface Life {
  readySinceMs: number | undefined;
  crashedAtMs: number;
}

/**
 * Invariant 1: no answer carries a target that neither this cluster nor a peer view within its bound reported healthy;
 * only after a start, until each peer was asked or its deadline passed, may stored peer targets stand in.
 */
export class BelievedTargets implements Invariant {
  readonly number = 1;
  readonly #world: World;
  readonly #report: Report;
  #judged = 0;
  readonly #beliefs = new Map<string, Belief>();
  readonly #lives = new Map<Tag, Life>();
  /** How long after a start every peer was asked, or its deadline passed. */
  readonly #askedMs: number;

  constructor(world: World, report: Report) {
    this.#world = world;
    this.#report = report;
    this.#askedMs = 2 * world.fleet.settings.deadlineMs + world.bounds.localMs;
  }

  get judged(): number {
    return this.#judged;
  }

  check(): void {
    for (const tag of tags) {
      this.#followLife(tag);
      for (const facts of this.#world.facts(tag).applications) this.#checkAnswer(tag, facts);
    }
  }

  #checkAnswer(tag: Tag, facts: ApplicationFacts): void {
    const { nowMs, bounds } = this.#world;
    for (const peer of peersOf(tag)) this.#followPeer(tag, peer, facts);
    const isExcused =
      this.#world.fleet.cluster(tag).isDiskBroken || nowMs < facts.tamperedMs + bounds.localMs;
    if (facts.answer.value === null || isExcused) return;
    const { host } = facts.application;
    for (const target of targetsIn(facts.answer.value)) {
      this.#judged++;
      const owner = ownerOf(target);
      if (owner === undefined) {
        this.#report(`${tag} answers ${host} with ${target}, which no cluster ever published`);
      } else if (owner === tag) {
        const last = facts.ownHistory.last(target);
        if (last === undefined || nowMs > last + bounds.localMs) {
          this.#report(
            `${tag} answers ${host} with its own ${target}, not healthy since ${timeOf(last)}, ` +
              `bound ${bounds.localMs} ms`,
          );
        }
      } else this.#checkPeerTarget(tag, facts, target);
    }
  }

  #checkPeerTarget(tag: Tag, facts: ApplicationFacts, target: string): void {
    const { nowMs } = this.#world;
    const { host } = facts.application;
    const belief = this.#beliefs.get(keyOf(tag, facts, target));
    if (belief === undefined) {
      this.#report(`${tag} answers ${host} with ${target}, which ${ownerOf(target)} never published`);
      return;
    }
    const thresholdMs = this.#thresholdMs(facts);
    const startMs = this.#world.readySince(tag) ?? nowMs;
    const wasStored = facts.lastAnswer !== null;
    const standInMs = wasStored && startMs > 0 ? startMs + this.#askedMs : 0;
    const untilMs = Math.max(belief.noticedMs + thresholdMs, standInMs);
    if (nowMs <= untilMs) return;
    this.#report(
      `${tag} answers ${host} with ${target}, which ${ownerOf(target)} last published where ${tag} could hear it ` +
        `at ${timeOf(belief.heardMs)}; with a threshold of ${thresholdMs} ms it may stand until ${timeOf(untilMs)}`,
    );
  }

  /** Notes until when each of a peer's targets was published and could be heard. */
  #followPeer(tag: Tag, peer: Tag, facts: ApplicationFacts): void {
    const { nowMs, bounds } = this.#world;
    const reach = this.#world.reach(tag, peer);
    const { publishedHistory, application } = this.#world.sameIn(peer, facts);
    for (const target of application.targets[peer]) {
      const last = publishedHistory.last(target);
      if (last === undefined) continue;
      const heardMs = lastHeard(last, reach, nowMs);
      if (heardMs === undefined) continue;
      const key = keyOf(tag, facts, target);
      const belief = this.#beliefs.get(key);
      if (belief === undefined) this.#beliefs.set(key, { heardMs, noticedMs: heardMs + bounds.seenMs });
      else if (heardMs > belief.heardMs) {
        belief.heardMs = heardMs;
        belief.noticedMs = heardMs + bounds.seenMs;
      }
    }
  }

  /** A cluster that was down when it should have noticed something notices it after its start. */
  #followLife(tag: Tag): void {
    const { failedAtMs: crashedAtMs, clockMovedAtMs } = this.#world.fleet.cluster(tag);
    const readySinceMs = this.#world.readySince(tag);
    const life = this.#lives.get(tag);
    if (life?.readySinceMs === readySinceMs) return;
    this.#lives.set(tag, { readySinceMs, crashedAtMs });
    if (readySinceMs === undefined) return;
    // What was stored by a wall clock that then jumped, and was not stored again, tells nothing after a start.
    const isClockLost = clockMovedAtMs >= crashedAtMs - this.#world.bounds.seenMs;
    for (const [key, belief] of this.#beliefs) {
      if (!key.startsWith(`${tag} `) || (belief.noticedMs <= crashedAtMs && !isClockLost)) continue;
      belief.noticedMs = Math.max(belief.noticedMs, readySinceMs + this.#askedMs);
    }
  }

  /** The longest threshold that counted lately. */
  #thresholdMs(facts: ApplicationFacts): number {
    const { nowMs, bounds } = this.#world;
    const lately = facts.thresholds.filter(({ untilMs }) => untilMs + bounds.seenMs >= nowMs);
    return Math.max(...lately.map(({ thresholdMs }) => thresholdMs));
  }
}

/** When a target that was published until `last` could last be heard, as far as the present and the last reach tell. */
function lastHeard(last: number, reach: Tracked<Reach>, nowMs: number): number | undefined {
  const endMs = reach.value === "not" ? reach.sinceMs : nowMs;
  const startMs = reach.value === "not" ? reach.beforeSinceMs : reach.sinceMs;
  return last < startMs ? undefined : Math.min(last, endMs);
}

function keyOf(tag: Tag, facts: ApplicationFacts, target: string): string {
  return `${tag} ${facts.application.name} ${target}`;
}

function timeOf(ms: number | undefined): string {
  return ms === undefined ? "never" : `${ms.toFixed(0)} ms`;
}
