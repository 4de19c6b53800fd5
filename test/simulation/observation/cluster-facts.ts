import type { Application, GslbStrategySpec } from "../fleet/application.ts";
import type { Member } from "../fleet/member.ts";
import { packQuestions, targetsIn, type DirectAnswer, type PackedQuestions } from "./asking.ts";
import type { Sight } from "./sight.ts";
import { TargetHistory } from "./target-history.ts";
import { Tracked } from "./tracked.ts";

/** What is true and what is answered about one application in one cluster. */
export interface ApplicationFacts {
  readonly application: Application;
  /** The strategy in the stored Gslb; `null` where there is none. */
  readonly strategy: Tracked<GslbStrategySpec | null>;
  /** Whether it has a ready backend by what its API server holds. */
  readonly healthy: Tracked<boolean>;
  /** Where it is reached, healthy or not. */
  readonly addresses: Tracked<readonly string[]>;
  readonly addressHistory: TargetHistory;
  /** The targets that this cluster can serve by what its API server holds: none without a Gslb or a ready endpoint. */
  readonly own: Tracked<readonly string[]>;
  /** What its DNS server answers for the host; `null` while it answers nothing. */
  readonly answer: Tracked<DirectAnswer | null>;
  /** The last answer that there was. */
  lastAnswer: DirectAnswer | null;
  /** What its DNS server answers for `localtargets-<host>`; while it answers nothing, what it last did. */
  readonly published: Tracked<readonly string[]>;
  readonly publishedHistory: TargetHistory;
  /** When somebody else than the operator last changed its DNSEndpoint, and the operator could begin to mend that. */
  tamperedMs: number;
  /** Whether the operator has not worked since. What is stored stands in after its start until peers were asked. */
  isTamperedUnseen: boolean;
  /** Thresholds that the Gslb had, with the time until when; the newest last. */
  readonly thresholds: { thresholdMs: number; untilMs: number }[];
}

const servFail = 2;

interface Questions {
  readonly host: PackedQuestions;
  readonly local: PackedQuestions;
}

/** Everything observed of one cluster, brought up to date after each step. */
export class ClusterFacts {
  readonly member: Member;
  readonly sight: Sight;
  readonly applications: readonly ApplicationFacts[];
  readonly #questions: ReadonlyMap<ApplicationFacts, Questions>;
  readonly #byName: ReadonlyMap<string, ApplicationFacts>;
  /** How long after a start every peer was asked, or its deadline passed. */
  readonly #askedMs: number;
  #changedKeys: readonly string[] = [];
  #version: string | undefined;

  constructor(
    member: Member,
    sight: Sight,
    of: { readonly applications: readonly Application[]; readonly askedMs: number },
  ) {
    const { applications } = of;
    this.member = member;
    this.sight = sight;
    this.#askedMs = of.askedMs;
    this.applications = applications.map((application) => ({
      application,
      strategy: new Tracked<GslbStrategySpec | null>(null, 0),
      healthy: new Tracked<boolean>(false, 0),
      own: new Tracked<readonly string[]>([], 0),
      addresses: new Tracked<readonly string[]>([], 0),
      addressHistory: new TargetHistory(),
      answer: new Tracked<DirectAnswer | null>(null, 0),
      lastAnswer: null,
      published: new Tracked<readonly string[]>([], 0),
      publishedHistory: new TargetHistory(),
      tamperedMs: Number.NEGATIVE_INFINITY,
      isTamperedUnseen: false,
      thresholds: [{ thresholdMs: 0, untilMs: Infinity }],
    }));
    this.#byName = new Map(this.applications.map((facts) => [facts.application.name, facts]));
    this.#questions = new Map(
      this.applications.map((facts) => {
        const { question, host } = facts.application;
        return [facts, { host: packQuestions(question), local: packQuestions(`localtargets-${host}`) }];
      }),
    );
  }

  /** The facts about an application of any cluster. */
  about(name: string): ApplicationFacts {
    return this.#byName.get(name)!;
  }

  /** The keys of the store that were written in the last step. */
  get changedKeys(): readonly string[] {
    return this.#changedKeys;
  }

  /** @returns whether anything changed that the invariants speak of */
  update(nowMs: number): boolean {
    let isChanged = false;
    const { keys, applications, tampered } = this.sight.takeChanges();
    this.#changedKeys = keys;
    for (const name of tampered) {
      const facts = this.about(name);
      facts.tamperedMs = nowMs;
      facts.isTamperedUnseen = true;
    }
    this.#seeTampered();
    let isReadOtherwise = false;
    for (const name of applications) {
      isChanged = this.#readTruth(this.about(name), nowMs) || isChanged;
      // A Gslb with weights has its answers read otherwise, also where they stay.
      isReadOtherwise = true;
    }
    return this.#readAnswers(nowMs, isReadOtherwise) || isChanged || keys.length > 0;
  }

  #seeTampered(): void {
    const { worksSinceMs } = this.member;
    if (worksSinceMs === undefined) return;
    for (const facts of this.applications) {
      if (!facts.isTamperedUnseen) continue;
      facts.isTamperedUnseen = false;
      facts.tamperedMs = Math.max(facts.tamperedMs, worksSinceMs + this.#askedMs);
    }
  }

  #readTruth(facts: ApplicationFacts, nowMs: number): boolean {
    const { name } = facts.application;
    const strategy = this.sight.strategy(name);
    const addresses = this.sight.addresses(name);
    const healthy = this.sight.healthy(name);
    const own = healthy ? addresses : [];
    facts.addresses.set(addresses, nowMs);
    facts.addressHistory.set(addresses, nowMs);
    const isOtherHealth = facts.healthy.set(healthy, nowMs);
    const hasOtherOwn = facts.own.set(own, nowMs);
    const hasOtherStrategy = facts.strategy.set(strategy, nowMs);
    if (hasOtherStrategy) {
      facts.thresholds.at(-1)!.untilMs = nowMs;
      facts.thresholds.push({
        thresholdMs: this.member.kind === "k8gb" ? 0 : 1000 * (strategy?.splitBrainThresholdSeconds ?? 0),
        untilMs: Infinity,
      });
    }
    return isOtherHealth || hasOtherOwn || hasOtherStrategy;
  }

  #readAnswers(nowMs: number, isReadOtherwise: boolean): boolean {
    const version = this.sight.version();
    if (version === this.#version && !isReadOtherwise) return false;
    this.#version = version;
    const ready = version !== undefined;
    let isChanged = false;
    for (const facts of this.applications) {
      const { host, local } = this.#questions.get(facts)!;
      const answer = ready ? this.sight.answer(facts.application, host) : null;
      isChanged = facts.answer.set(answer, nowMs) || isChanged;
      facts.lastAnswer = answer ?? facts.lastAnswer;
      const own = ready ? this.sight.ask(local) : undefined;
      // Of what nobody vouches for any more the server says SERVFAIL.
      const isSaid = own !== undefined && own.rcodes[0] !== servFail;
      const published = isSaid ? targetsIn(own) : [];
      facts.publishedHistory.set(published, nowMs);
      if (isSaid) isChanged = facts.published.set(published, nowMs) || isChanged;
    }
    return isChanged;
  }
}
