import { parentName, tags } from "../fleet/fleet-map.ts";
import type { Paths } from "../fleet/paths.ts";

/** One way in which the network may fall apart: who still reaches whom. */
export type Cut = readonly (readonly string[])[];

const nodes: readonly string[] = [...tags, parentName];

/** Every way to part the clusters and the parent into groups, from none to all alone. */
export function allCuts(): readonly Cut[] {
  const extend = (cuts: readonly Cut[], node: string): readonly Cut[] =>
    cuts.flatMap((cut) => [
      ...cut.map((group, index) => cut.with(index, [...group, node])),
      [...cut, [node]],
    ]);
  return nodes.reduce<readonly Cut[]>(extend, [[]]).toSorted((a, b) => a.length - b.length);
}

export function textOf(cut: Cut): string {
  return cut.length === 1 ? "none" : cut.map((group) => group.join(" ")).join(" / ");
}

export function isTogether(cut: Cut, a: string, b: string): boolean {
  return cut.some((group) => group.includes(a) && group.includes(b));
}

/** Brings the links between all nodes to what the cut says. */
export function applyCut(cut: Cut, paths: Paths): void {
  for (const a of nodes)
    for (const b of nodes) {
      if (a >= b) continue;
      if (isTogether(cut, a, b)) paths.heal(a, b);
      else paths.cut(a, b, true);
    }
}
