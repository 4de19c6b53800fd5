import type { Figure } from "../report/sample.ts";
import type { BenchFleet } from "./bench-fleet.ts";

export const applyFigures: readonly Figure[] = [
  { key: "appliedMs", title: "last write accepted: ms", digits: 0, compared: false },
  { key: "everywhereMs", title: "all answered everywhere: ms", digits: 0, compared: false },
  { key: "cpuSeconds", title: "CPU s and cluster", digits: 2, compared: false },
  { key: "apiWrites", title: "API writes/Gslb", digits: 2, compared: false },
];

/** Makes the Gslbs of all applications that have none yet, in every cluster at once; times are from the first request on. */
export async function measureApply(fleet: BenchFleet): Promise<Record<string, number>> {
  const { gslbs, more } = fleet.plan;
  const before = await fleet.counts();
  const applied = Promise.all(fleet.living.map((cluster) => cluster.call("apply", gslbs, gslbs + more)));
  const indexes = Array.from({ length: more }, (_, at) => gslbs + at);
  const seen = fleet.probe.until(
    indexes.flatMap((index) => fleet.wanted(index, true)),
    { everyMs: 50, withinMs: 120_000 },
  );
  const times = await applied;
  const startedMs = Math.min(...times.map((each) => each.startedMs));
  const endedMs = Math.max(...times.map((each) => each.endedMs));
  const seenMs = Math.max(...(await seen));
  const after = await fleet.counts();
  const sum = (key: "cpuMs" | "apiWrites"): number =>
    after.reduce((total, counts, at) => total + counts[key] - before[at]![key], 0) / after.length;
  return {
    appliedMs: endedMs - startedMs,
    everywhereMs: seenMs - startedMs,
    cpuSeconds: sum("cpuMs") / 1000,
    apiWrites: sum("apiWrites") / more,
  };
}
