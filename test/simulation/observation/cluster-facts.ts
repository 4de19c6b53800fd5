import type { Authority } from "@meridian/dns";
import type { KubeObject } from "@meridian/kube";
import {
  storeKey,
  types,
  type Application,
  type GslbObject,
  type GslbStrategySpec,
} from "../fleet/application.ts";
import { tamperedTarget } from "../fleet/cluster-user.ts";
import type { FleetCluster } from "../fleet/fleet-cluster.ts";
import { askDirectly, askWhole, packQuestions, servedZone, targetsIn, type DirectAnswer } from "./asking.ts";
import { TargetHistory } from "./target-history.ts";
import { Tracked } from "./tracked.ts";

/** What is true and what is answered about one application in one cluster. */
export interface ApplicationFacts {
  readonly application: Application;
  /** The strategy in the stored Gslb; `null` where there is none. */
  readonly strategy: Tracked<GslbStrategySpec | null>;
  /** The targets that this cluster can serve by what its API server holds: none without a Gslb or a ready endpoint. */
  readonly own: Tracked<readonly string[]>;
  readonly ownHistory: TargetHistory;
  /** What its DNS server answers for the host; `null` while it answers nothing. */
  readonly answer: Tracked<DirectAnswer | null>;
  /** The last answer that there was. */
  lastAnswer: DirectAnswer | null;
  /** What its DNS server answers for `localtargets-<host>`; while it answers nothing, what it last did. */
  readonly published: Tracked<readonly string[]>;
  readonly publishedHistory: TargetHistory;
  /** When somebody else than the operator last changed its DNSEndpoint. */
  tamperedMs: number;
  /** Thresholds that the Gslb had, with the time until when; the newest last. */
  readonly thresholds: { thresholdMs: number; untilMs: number }[];
}

interface Questions {
  readonly host: readonly [Uint8Array, Uint8Array];
  readonly local: readonly [Uint8Array, Uint8Array];
}

/** Everything observed of one cluster, brought up to date after each step. */
export class ClusterFacts {
  readonly cluster: FleetCluster;
  readonly applications: readonly ApplicationFacts[];
  readonly #questions: ReadonlyMap<ApplicationFacts, Questions>;
  readonly #byKey = new Map<string, ApplicationFacts>();
  readonly #byEndpointKey = new Map<string, ApplicationFacts>();
  #changedKeys: readonly string[] = [];
  #serial: number | undefined;
  #ready = false;

  constructor(cluster: FleetCluster, applications: readonly Application[]) {
    this.cluster = cluster;
    this.applications = applications.map((application) => ({
      application,
      strategy: new Tracked<GslbStrategySpec | null>(null, 0),
      own: new Tracked<readonly string[]>([], 0),
      ownHistory: new TargetHistory(),
      answer: new Tracked<DirectAnswer | null>(null, 0),
      lastAnswer: null,
      published: new Tracked<readonly string[]>([], 0),
      publishedHistory: new TargetHistory(),
      tamperedMs: Number.NEGATIVE_INFINITY,
      thresholds: [{ thresholdMs: 0, untilMs: Infinity }],
    }));
    this.#questions = new Map(
      this.applications.map((facts) => {
        const { question, host } = facts.application;
        return [facts, { host: packQuestions(question), local: packQuestions(`localtargets-${host}`) }];
      }),
    );
    for (const facts of this.applications) {
      this.#byEndpointKey.set(storeKey(types.endpoint, facts.application.name), facts);
      for (const type of [types.service, types.slice, types.ingress, types.gslb])
        this.#byKey.set(storeKey(type, facts.application.name), facts);
    }
  }

  /** The keys of the store that were written in the last step. */
  get changedKeys(): readonly string[] {
    return this.#changedKeys;
  }

  /** @returns whether anything changed that the invariants speak of */
  update(nowMs: number): boolean {
    let isChanged = false;
    const touched = new Set<ApplicationFacts>();
    this.#changedKeys = this.cluster.truth.takeChanged();
    for (const key of this.#changedKeys) {
      const facts = this.#byKey.get(key);
      if (facts !== undefined) touched.add(facts);
      const tampered = this.#byEndpointKey.get(key);
      if (tampered !== undefined && this.#isTampered(key)) tampered.tamperedMs = nowMs;
    }
    for (const facts of touched) isChanged = this.#readTruth(facts, nowMs) || isChanged;
    return this.#readAnswers(nowMs) || isChanged || this.#changedKeys.length > 0;
  }

  /** The operator itself never takes a DNSEndpoint away, nor writes what `ClusterUser.tamper` does. */
  #isTampered(key: string): boolean {
    const event = this.cluster.truth.current(key);
    return event?.value === undefined || new TextDecoder().decode(event.value).includes(tamperedTarget);
  }

  #readTruth(facts: ApplicationFacts, nowMs: number): boolean {
    const { truth } = this.cluster;
    const { name } = facts.application;
    const stored = truth.object<GslbObject>(storeKey(types.gslb, name));
    const strategy = stored?.spec?.strategy ?? null;
    const isServed =
      strategy !== null &&
      truth.current(storeKey(types.service, name)) !== undefined &&
      isReady(truth.object(storeKey(types.slice, name)));
    const own = isServed ? addressesOf(truth.object(storeKey(types.ingress, name))) : [];
    facts.ownHistory.set(own, nowMs);
    const hasOtherOwn = facts.own.set(own, nowMs);
    const hasOtherStrategy = facts.strategy.set(strategy, nowMs);
    if (hasOtherStrategy) {
      facts.thresholds.at(-1)!.untilMs = nowMs;
      facts.thresholds.push({
        thresholdMs: 1000 * (strategy?.splitBrainThresholdSeconds ?? 0),
        untilMs: Infinity,
      });
    }
    return hasOtherOwn || hasOtherStrategy;
  }

  #readAnswers(nowMs: number): boolean {
    const authority = this.cluster.cluster?.authority;
    const zone = servedZone(authority);
    const ready = zone?.ready === true;
    if (ready === this.#ready && zone?.serial === this.#serial) return false;
    this.#ready = ready;
    this.#serial = zone?.serial;
    let isChanged = false;
    for (const facts of this.applications) {
      const { host, local } = this.#questions.get(facts)!;
      const answer = ready ? this.#ask(authority!, facts, host) : null;
      isChanged = facts.answer.set(answer, nowMs) || isChanged;
      facts.lastAnswer = answer ?? facts.lastAnswer;
      const published = ready ? targetsIn(askDirectly(authority!, local)) : [];
      facts.publishedHistory.set(published, nowMs);
      if (ready) isChanged = facts.published.set(published, nowMs) || isChanged;
    }
    return isChanged;
  }

  #ask(authority: Authority, facts: ApplicationFacts, questions: Questions["host"]): DirectAnswer {
    if (facts.strategy.value?.weight === undefined) return askDirectly(authority, questions);
    return askWhole(authority, { host: facts.application.host, questions });
  }
}

function isReady(slice: KubeObject | undefined): boolean {
  const { endpoints = [] } = (slice ?? {}) as {
    readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[];
  };
  return endpoints.some((endpoint) => endpoint.conditions?.ready === true);
}

function addressesOf(ingress: KubeObject | undefined): readonly string[] {
  const { status } = (ingress ?? {}) as {
    readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip: string }[] } };
  };
  return (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip).toSorted();
}
