import { ownerOf, siteClients, tags, type Tag } from "../fleet/fleet-map.ts";
import { mayDiffer, mixedPairs } from "../k8gb/k8gb-exceptions.ts";
import { packQuestions, targetsIn, type DirectAnswer, type PackedQuestions } from "../observation/asking.ts";
import type { ApplicationFacts } from "../observation/cluster-facts.ts";
import type { World } from "../observation/world.ts";
import type { Invariant, Report } from "./invariant.ts";

/** How often a drawn answer is looked at after each change. */
const draws = 6;

/**
 * Invariant 3: with equal specs and every view newer than the last change, all clusters pick alike; failover with a
 * healthy primary is answered from the primary only. Each cluster is held to what a model of its specification says, and
 * one of ours and one of k8gb's that see the same to each other. Of what was picked, each client gets what the weights and
 * its place leave.
 */
export class AlikePicks implements Invariant {
  readonly number = 3;
  readonly #world: World;
  readonly #report: Report;
  #judged = 0;
  /** Questions of clients at each site about each host. */
  readonly #siteQuestions: ReadonlyMap<string, readonly (readonly [Tag, PackedQuestions])[]>;
  /** When each answer was last looked at as clients get it. */
  readonly #lookedAtMs = new Map<string, number>();

  constructor(world: World, report: Report) {
    this.#world = world;
    this.#report = report;
    this.#siteQuestions = new Map(
      world.applications.map(({ name, question }) => [
        name,
        tags.map((site) => [site, packQuestions(question, siteClients[site])] as const),
      ]),
    );
  }

  get judged(): number {
    return this.#judged;
  }

  check(): void {
    for (const tag of tags)
      for (const facts of this.#world.facts(tag).applications) this.#checkPicks(tag, facts);
    const { clusters, k8gbClusters } = this.#world.fleet;
    for (const pair of mixedPairs(clusters.keys(), k8gbClusters.keys()))
      for (const facts of this.#world.facts(pair.our).applications) this.#checkPair(facts, pair);
  }

  #checkPicks(tag: Tag, facts: ApplicationFacts): void {
    const expectation = this.#world.expectation(tag, facts);
    const answer = facts.answer.value;
    if (expectation?.isWhole !== true || answer === null) return;
    this.#judged++;
    const found = targetsIn(answer);
    if (found.join() !== expectation.targets.join())
      this.#report(
        `${tag} answers ${facts.application.host} with ${listed(found)}; by ` +
          `${JSON.stringify(facts.strategy.value)} and what it sees it must be ${listed(expectation.targets)}`,
      );
    else this.#checkClients(tag, facts);
  }

  /** One of ours and one of k8gb's, with the same spec and sight. */
  #checkPair(facts: ApplicationFacts, { our, their }: { readonly our: Tag; readonly their: Tag }): void {
    const world = this.#world;
    const theirFacts = world.sameIn(their, facts);
    const isSameSpec = JSON.stringify(facts.strategy.value) === JSON.stringify(theirFacts.strategy.value);
    const [ours, theirs] = [world.expectation(our, facts), world.expectation(their, theirFacts)];
    const [ourAnswer, theirAnswer] = [facts.answer.value, theirFacts.answer.value];
    if (!isSameSpec || ours?.isWhole !== true || theirs?.isWhole !== true) return;
    if (ourAnswer === null || theirAnswer === null || mayDiffer({ facts, ours, theirs })) return;
    this.#judged++;
    if (ourAnswer.A.join() === theirAnswer.A.join()) return;
    this.#report(
      `${our} answers ${facts.application.host} with ${listed(ourAnswer.A)} and ${their}, which runs k8gb and sees the ` +
        `same, with ${listed(theirAnswer.A)}`,
    );
  }

  /** Looks at an answer as clients get it, once after each change of it. */
  #checkClients(tag: Tag, facts: ApplicationFacts): void {
    const { type, weight } = facts.strategy.value ?? {};
    const key = `${tag} ${facts.application.name}`;
    if (this.#lookedAtMs.get(key) === facts.answer.sinceMs) return;
    this.#lookedAtMs.set(key, facts.answer.sinceMs);
    const { settings } = this.#world.fleet;
    if (type === "geoip" && settings.geoMap) this.#checkSites(tag, facts);
    if (type === "roundRobin" && weight !== undefined && settings.kinds[tag] === "meridian")
      this.#checkDraw(tag, facts, weight);
  }

  /** A client whose site is among the picked clusters gets that one's targets, any other one all. */
  #checkSites(tag: Tag, facts: ApplicationFacts): void {
    for (const [site, questions] of this.#siteQuestions.get(facts.application.name) ?? []) {
      const answer = this.#world.facts(tag).sight.ask(questions);
      for (const family of ["A", "AAAA"] as const) {
        const all = facts.answer.value![family];
        const near = all.filter((target) => ownerOf(target) === site);
        const expected = near.length > 0 ? near : all;
        this.#judged++;
        if (answer[family].join() === expected.join()) continue;
        this.#report(
          `${tag} answers ${facts.application.host} to a client at ${site} with ${listed(answer[family])}, ` +
            `which must be ${listed(expected)}`,
        );
      }
    }
  }

  /** Each drawn answer holds the targets of one cluster; of one with weight 0 only where no other has any weight. */
  #checkDraw(tag: Tag, facts: ApplicationFacts, weight: Readonly<Record<string, number>>): void {
    const [, questions] = this.#siteQuestions.get(facts.application.name)![0]!;
    for (let draw = 0; draw < draws; draw++) {
      const drawn = this.#world.facts(tag).sight.ask(questions);
      for (const family of ["A", "AAAA"] as const) this.#checkDrawn(tag, facts, { weight, family, drawn });
    }
  }

  #checkDrawn(
    tag: Tag,
    facts: ApplicationFacts,
    of: {
      readonly weight: Readonly<Record<string, number>>;
      readonly family: "A" | "AAAA";
      readonly drawn: DirectAnswer;
    },
  ): void {
    const { host } = facts.application;
    const targets = of.drawn[of.family];
    const weightOf = (target: string): number | undefined => of.weight[ownerOf(target) ?? ""];
    const all = facts.answer.value![of.family];
    this.#judged++;
    // Those without a weight are drawn together.
    if (new Set(targets.map(ownerOf)).size > 1 && targets.some((target) => weightOf(target) !== undefined))
      this.#report(`${tag} answers ${host} with ${listed(targets)}: one draw is of one cluster`);
    if (targets.some((target) => weightOf(target) === 0) && all.some((target) => (weightOf(target) ?? 0) > 0))
      this.#report(
        `${tag} answers ${host} with ${listed(targets)}; by ${JSON.stringify(of.weight)} it must not`,
      );
  }
}

function listed(targets: readonly string[]): string {
  return targets.length === 0 ? "nothing" : targets.join(" ");
}
