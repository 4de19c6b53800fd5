import { resolveForEver, type Resolution } from "../client/resolving.ts";
import { clientName, parentName, tags } from "../fleet/fleet-map.ts";
import { targetsIn } from "../observation/asking.ts";
import type { World } from "../observation/world.ts";
import type { Invariant, Report } from "./invariant.ts";

/**
 * Invariant 2: while one cluster is healthy and seen, the answer is not empty in at least one family, and in none that
 * the picked clusters have.
 */
export class AnsweredHosts implements Invariant {
  readonly number = 2;
  readonly #world: World;
  readonly #report: Report;
  #judged = 0;
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
    for (const tag of tags)
      for (const facts of this.#world.facts(tag).applications) {
        const expectation = this.#world.expectations.of(tag, facts);
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
        const missing = (["A", "AAAA"] as const).filter(
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
    if (isParentNear && referral?.length !== tags.length)
      this.#report(
        `the parent refers to ${referral?.join(" ") ?? "nobody"} for ${host}, not to all clusters`,
      );
    if (answer === undefined) return;
    const facts = this.#world.facts(answer.tag).applications.find((each) => each.application === application);
    const expectation = facts && this.#world.expectations.of(answer.tag, facts);
    const isSteady = facts !== undefined && facts.answer.sinceMs < this.#resolvingSinceMs;
    if (expectation === undefined || expectation.usable.size === 0 || !isSteady) return;
    this.#judged++;
    if (answer.targets.length === 0)
      this.#report(`a resolver got nothing for ${host} from ${answer.tag} at ${nowMs.toFixed(0)} ms`);
  }

  #isClear(name: string): boolean {
    return this.#world.fleet.paths.between(clientName, name) === "clear";
  }
}

function familyOf(target: string): "A" | "AAAA" {
  return target.includes(":") ? "AAAA" : "A";
}
