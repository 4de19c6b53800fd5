import { summary } from "../summary.ts";
import type { Figure } from "../report/sample.ts";
import type { BenchFleet } from "./bench-fleet.ts";
import { machineMs, type ClusterCounts } from "./cluster-protocol.ts";

export const changeFigures: readonly Figure[] = [
  { key: "p50", title: "to every cluster: p50 ms", digits: 1, compared: true },
  { key: "p99", title: "p99 ms", digits: 1, compared: true },
  { key: "ownP50", title: "own cluster: p50 ms", digits: 1, compared: false },
  { key: "cpuMs", title: "CPU ms/change and cluster", digits: 1, compared: false },
  { key: "apiWrites", title: "API writes/change and cluster", digits: 2, compared: false },
  { key: "reconciles", title: "reconciles/change and cluster", digits: 2, compared: false },
];

/** How the changes follow each other. */
export interface ChangeOptions {
  readonly changes: number;
  readonly gapMs: number;
  /** A change is not waited for before the next one. */
  readonly overlapping: boolean;
  readonly everyMs: number;
  readonly withinMs: number;
}

/**
 * Takes the primary's endpoints of one host after the other away, and gives them back in a second round.
 *
 * @returns the figures; the CPU is that of the whole while, so a part of it belongs to the questions by which answers are seen
 */
export async function measureChanges(
  fleet: BenchFleet,
  options: ChangeOptions,
): Promise<Record<string, number>> {
  const { changes, gapMs, overlapping, everyMs, withinMs } = options;
  const { gslbs } = fleet.plan;
  const primary = fleet.cluster(fleet.tags[0]!);
  const before = await fleet.counts();
  const half = Math.min(gslbs, Math.ceil(changes / 2));
  const all: number[] = [];
  const own: number[] = [];
  const change = async (at: number): Promise<void> => {
    const index = Math.floor(((at % half) * gslbs) / half);
    const isReady = Math.floor(at / half) % 2 === 1;
    const wanted = fleet.wanted(index, isReady);
    const seen = fleet.probe.until(wanted, { everyMs, withinMs });
    seen.catch(() => {}); // awaited below
    const acceptedMs = await primary.call("setReady", index, isReady);
    const times = (await seen).map((seenMs) => Math.max(0, seenMs - acceptedMs));
    own.push(times[0]!);
    all.push(Math.max(...times));
  };
  const open: Promise<void>[] = [];
  for (let at = 0; at < changes; at++) {
    const startedMs = machineMs();
    // A host is given back once it was seen to be gone, and not before.
    const done = (open[at - half] ?? Promise.resolve()).then(() => change(at));
    open.push(done);
    if (!overlapping) await done;
    else done.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, gapMs - (machineMs() - startedMs))));
  }
  await Promise.all(open);
  const after = await fleet.counts();
  const each = (key: keyof ClusterCounts): number =>
    after.reduce((sum, counts, at) => sum + counts[key] - before[at]![key], 0) / changes / after.length;
  const { p50, p99 } = summary(all);
  return {
    ...{ p50, p99, ownP50: summary(own).p50 },
    ...{ cpuMs: each("cpuMs"), apiWrites: each("apiWrites"), reconciles: each("reconciles") },
  };
}
