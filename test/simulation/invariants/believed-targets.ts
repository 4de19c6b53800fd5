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
 *
 * A cluster that runs k8gb is held to k8gb's own bound, from when its operator has come by after a start: see
 * `k8gb/k8gb-exceptions.ts`.
 */
export class BelievedTargets implements Invariant {
  readonly number = 1;
  readonly #world: World;
  readonly #report: Report;
  #judged = 0;
  readonly #beliefs = new Map<string, Belief>();
  readonly #lives = new Map<Tag, Life>();

  constructor(world: World, report: Report) {
    this.#world = world;
    this.#report = report;
  }

  get judged(): number {
    return this.#judged;
  }

  check(): void {
    for (const tag of tags) {
      this.#followLife(tag);
      this.#checkVouched(tag);
      for (const facts of this.#world.facts(tag).applications) this.#checkAnswer(tag, facts);
    }
  }

  #checkAnswer(tag: Tag, facts: ApplicationFacts): void {
    const { nowMs } = this.#world;
    const { localMs } = this.#world.bounds(tag);
    for (const peer of peersOf(tag)) this.#followPeer(tag, peer, facts);
    // An operator that can write nothing, or does nothing, cannot take back what its DNS server answers.
    const member = this.#world.fleet.member(tag);
    const isHelpless =
      member.isDiskBroken ||
      this.#world.fleet.clusters.get(tag)?.operatorDiedAtMs !== undefined ||
      (member.kind === "k8gb" && this.#k8gbIsBehind(tag));
    if (facts.answer.value === null || isHelpless || facts.isTamperedUnseen) return;
    if (nowMs < facts.tamperedMs + localMs) return;
    const { host } = facts.application;
    for (const target of targetsIn(facts.answer.value)) {
      this.#judged++;
      const owner = ownerOf(target);
      if (owner === undefined) {
        this.#report(`${tag} answers ${host} with ${target}, which no cluster ever published`);
      } else if (owner === tag) {
        this.#checkOwnTarget(tag, facts, target);
      } else this.#checkPeerTarget(tag, facts, target);
    }
  }

  /** What a cluster says of itself ends with its operator's lease. */
  #checkVouched(tag: Tag): void {
    const { fleet, nowMs } = this.#world;
    const diedAtMs = fleet.clusters.get(tag)?.operatorDiedAtMs;
    const boundMs = fleet.settings.leaseMs + this.#world.bounds(tag).localMs;
    if (diedAtMs === undefined || nowMs < diedAtMs + boundMs) return;
    for (const { application, publishedHistory } of this.#world.facts(tag).applications) {
      this.#judged++;
      const said = application.targets[tag].filter((target) => publishedHistory.last(target) === Infinity);
      if (said.length > 0)
        this.#report(
          `${tag} publishes ${said.join(" ")} for ${application.host} although its operator is dead since ` +
            `${timeOf(diedAtMs)}, bound ${boundMs} ms`,
        );
    }
  }

  #checkOwnTarget(tag: Tag, facts: ApplicationFacts, target: string): void {
    const { nowMs } = this.#world;
    const { localMs } = this.#world.bounds(tag);
    const { healthy, addressHistory, application } = facts;
    const healthyMs = healthy.value ? nowMs : healthy.before === true ? healthy.sinceMs : undefined;
    const isKept = this.#world.mayKeepAddresses(tag, facts);
    const addressMs = isKept ? nowMs : addressHistory.last(target);
    const last =
      healthyMs === undefined || addressMs === undefined ? undefined : Math.min(healthyMs, addressMs);
    if (last !== undefined && nowMs <= last + localMs) return;
    this.#report(
      `${tag} answers ${application.host} with its own ${target}, not healthy since ${timeOf(last)}, bound ${localMs} ms`,
    );
  }

  /** k8gb answers what it has stored from the moment that its CoreDNS is up, however old, until its operator has come by. */
  #k8gbIsBehind(tag: Tag): boolean {
    const sinceMs = this.#world.readySince(tag);
    return sinceMs === undefined || this.#world.nowMs < sinceMs + this.#world.bounds(tag).seenMs;
  }

  /** How long after a start every peer was asked, or its deadline passed. */
  #askedMs(tag: Tag): number {
    return 2 * this.#world.fleet.settings.deadlineMs + this.#world.bounds(tag).localMs;
  }

  #checkPeerTarget(tag: Tag, facts: ApplicationFacts, target: string): void {
    const { nowMs } = this.#world;
    const { host } = facts.application;
    const belief = this.#beliefs.get(keyOf(tag, facts, target));
    if (belief === undefined) {
      this.#report(`${tag} answers ${host} with ${target}, which ${ownerOf(target)} never published`);
      return;
    }
    const thresholdMs = this.#thresholdMs(tag, facts);
    const startMs = this.#world.readySince(tag) ?? nowMs;
    const wasStored = facts.lastAnswer !== null;
    const standInMs = wasStored && startMs > 0 ? startMs + this.#askedMs(tag) : 0;
    const untilMs = Math.max(belief.noticedMs + thresholdMs, standInMs);
    if (nowMs <= untilMs) return;
    this.#report(
      `${tag} answers ${host} with ${target}, which ${ownerOf(target)} last published where ${tag} could hear it ` +
        `at ${timeOf(belief.heardMs)}; with a threshold of ${thresholdMs} ms it may stand until ${timeOf(untilMs)}`,
    );
  }

  /** Notes until when each of a peer's targets was published and could be heard. */
  #followPeer(tag: Tag, peer: Tag, facts: ApplicationFacts): void {
    const { nowMs } = this.#world;
    const { seenMs } = this.#world.bounds(tag);
    const reach = this.#world.reach(tag, peer);
    const { publishedHistory, application } = this.#world.sameIn(peer, facts);
    for (const target of application.targets[peer]) {
      const last = publishedHistory.last(target);
      if (last === undefined) continue;
      const heardMs = lastHeard(last, reach, nowMs);
      if (heardMs === undefined) continue;
      const key = keyOf(tag, facts, target);
      const belief = this.#beliefs.get(key);
      if (belief === undefined) this.#beliefs.set(key, { heardMs, noticedMs: heardMs + seenMs });
      else if (heardMs > belief.heardMs) {
        belief.heardMs = heardMs;
        belief.noticedMs = heardMs + seenMs;
      }
    }
  }

  /** A cluster that was down when it should have noticed something notices it after its start. */
  #followLife(tag: Tag): void {
    const { failedAtMs, clockMovedAtMs } = this.#world.fleet.member(tag);
    const readySinceMs = this.#world.readySince(tag);
    const life = this.#lives.get(tag);
    if (life?.readySinceMs === readySinceMs) return;
    // One that failed again before it was well notices nothing since it failed first.
    const wasDown = life !== undefined && life.readySinceMs === undefined;
    const crashedAtMs = wasDown ? life.crashedAtMs : failedAtMs;
    this.#lives.set(tag, { readySinceMs, crashedAtMs });
    if (readySinceMs === undefined) return;
    // What was stored by a wall clock that then jumped, and was not stored again, tells nothing after a start.
    const isClockLost = clockMovedAtMs >= crashedAtMs - this.#world.bounds(tag).seenMs;
    for (const [key, belief] of this.#beliefs) {
      if (!key.startsWith(`${tag} `) || (belief.noticedMs <= crashedAtMs && !isClockLost)) continue;
      belief.noticedMs = Math.max(belief.noticedMs, readySinceMs + this.#askedMs(tag));
    }
  }

  /** The longest threshold that counted lately. */
  #thresholdMs(tag: Tag, facts: ApplicationFacts): number {
    const { nowMs } = this.#world;
    const { seenMs } = this.#world.bounds(tag);
    const latelyIn = ({ thresholds }: ApplicationFacts, untilNowMs: number): readonly number[] =>
      thresholds
        .filter(({ untilMs }) => untilMs + seenMs >= untilNowMs)
        .map(({ thresholdMs }) => thresholdMs);
    // Without a Gslb here a host is answered as the clusters that have one said when they were last heard.
    const isOthers = nowMs < facts.strategy.sinceMs + seenMs || facts.strategy.value === null;
    const others = isOthers ? peersOf(tag) : [];
    const told = others.flatMap((peer) => {
      const reach = this.#world.reach(tag, peer);
      return latelyIn(this.#world.sameIn(peer, facts), reach.value === "not" ? reach.sinceMs : nowMs);
    });
    return Math.max(...latelyIn(facts, nowMs), ...told);
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
