import { tags } from "../fleet/fleet-map.ts";
import { targetsIn } from "../observation/asking.ts";
import type { World } from "../observation/world.ts";
import type { Invariant, Report } from "./invariant.ts";

/**
 * Invariant 3: with equal specs and every view newer than the last change, all clusters pick alike; failover with a
 * healthy primary is answered from the primary only. Each cluster is held to what a model of the specification says.
 */
export class AlikePicks implements Invariant {
  readonly number = 3;
  readonly #world: World;
  readonly #report: Report;
  #judged = 0;

  constructor(world: World, report: Report) {
    this.#world = world;
    this.#report = report;
  }

  get judged(): number {
    return this.#judged;
  }

  check(): void {
    for (const tag of tags)
      for (const facts of this.#world.facts(tag).applications) {
        const expectation = this.#world.expectations.of(tag, facts);
        const answer = facts.answer.value;
        if (expectation?.isWhole !== true || answer === null) continue;
        this.#judged++;
        const found = targetsIn(answer);
        if (found.join() === expectation.targets.join()) continue;
        this.#report(
          `${tag} answers ${facts.application.host} with ${listed(found)}; by ` +
            `${JSON.stringify(facts.strategy.value)} and what it sees it must be ${listed(expectation.targets)}`,
        );
      }
  }
}

function listed(targets: readonly string[]): string {
  return targets.length === 0 ? "nothing" : targets.join(" ");
}
