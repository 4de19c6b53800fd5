import { ownerOf, tags, type Tag } from "../fleet/fleet-map.ts";
import { targetsIn } from "../observation/asking.ts";
import { expectationOf } from "../observation/expectation.ts";
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

  constructor(world: World, report: Report) {
    this.#world = world;
    this.#report = report;
  }

  check(): void {
    for (const tag of tags)
      for (const facts of this.#world.facts(tag).applications) {
        const expectation = expectationOf(this.#world, tag, facts);
        if (expectation === undefined || expectation.usable.size === 0) continue;
        const { host } = facts.application;
        const answer = facts.answer.value;
        const healthy = [...expectation.usable.keys()].join(", ");
        if (answer === null || targetsIn(answer).length === 0) {
          this.#report(`${tag} answers ${host} with nothing, while it sees ${healthy} healthy`);
          continue;
        }
        // A family of a peer that is not known yet is no fault.
        if (!expectation.isWhole) continue;
        const missing = missingFamilies(answer, facts.application.targets);
        if (missing.length > 0)
          this.#report(`${tag} answers ${host} with nothing of ${missing.join(", ")}, which its picks have`);
      }
  }
}

/** Families that are empty in the answer though a cluster whose targets stand in it has addresses of them. */
function missingFamilies(
  answer: { readonly A: readonly string[]; readonly AAAA: readonly string[] },
  targets: Readonly<Record<Tag, readonly string[]>>,
): readonly string[] {
  const picked = new Set([...answer.A, ...answer.AAAA].map(ownerOf));
  const has = (tag: Tag, isV6: boolean): boolean =>
    targets[tag].some((target) => target.includes(":") === isV6);
  return (["A", "AAAA"] as const).filter(
    (family) => answer[family].length === 0 && tags.some((tag) => picked.has(tag) && has(tag, family === "AAAA")),
  );
}
