import type { RunResult } from "./run-seed.ts";

/** What a failed seed says: which invariant, what was seen, when, and how to see it again; empty where it holds. */
export function violationText({ seed, violation }: RunResult): string {
  if (violation === undefined) return "";
  const { invariant, seen, atMs } = violation;
  return [
    `seed ${seed} breaks invariant ${invariant} at ${atMs.toFixed(0)} ms of virtual time:`,
    `  ${seen}`,
    `  replay it: npm run sim -- --seed ${seed} --verbose`,
  ].join("\n");
}
