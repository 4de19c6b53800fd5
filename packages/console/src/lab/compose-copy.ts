import type { Pod } from "@meridian/kube";
import type { CopiedPodRow, PodRow } from "../lab-state.ts";
import { valueOf } from "./lab-pods.ts";
import type { VersionLine } from "./version-line.ts";

/** Pods as rows, by name. */
export function podRows(pods: readonly Pod[], line: VersionLine): readonly PodRow[] {
  return pods
    .map((pod) => ({
      name: pod.metadata.name ?? "",
      value: valueOf(pod),
      version: line.versionOf(pod.metadata.resourceVersion ?? ""),
    }))
    .toSorted((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}

/** A copy beside the truth. */
export interface Comparison {
  readonly pods: readonly CopiedPodRow[];
  readonly missing: readonly string[];
  /** Writes to Pods that the copy has not seen. */
  readonly behind: number;
  readonly stale: boolean;
}

/**
 * Marks what a copy has that the truth has not. A copy may be stale without being behind: when an event was taken out of its stream,
 * its version is the newest and its content is not. Pure.
 */
export function compareWithTruth(
  copy: { readonly version: number | null; readonly pods: readonly PodRow[] },
  truth: {
    readonly pods: readonly PodRow[];
    /** Versions of all writes to Pods that any copy may not have seen. */
    readonly writes: readonly number[];
  },
): Comparison {
  const { version } = copy;
  const inTruth = new Map(truth.pods.map((pod) => [pod.name, pod]));
  const inCopy = new Set(copy.pods.map(({ name }) => name));
  const pods = copy.pods.map((pod): CopiedPodRow => {
    const original = inTruth.get(pod.name);
    const mark = original === undefined ? "gone" : original.version === pod.version ? "same" : "older";
    return { ...pod, mark };
  });
  const missing = truth.pods.map(({ name }) => name).filter((name) => !inCopy.has(name));
  const behind = truth.writes.filter((write) => version === null || write > version).length;
  const stale = behind > 0 || missing.length > 0 || pods.some(({ mark }) => mark !== "same");
  return { pods, missing, behind, stale };
}
