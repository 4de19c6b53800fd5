import type { AddressFamily } from "./address-family.ts";

/**
 * What is known of a peer's targets for one host and family.
 *
 * `unknown`: not asked since the start. `fresh`: it answered with targets. `empty`: it answered that it has none, which
 * counts at once. `unreachable`: it did not answer, or refused to; its last targets stand for a bounded time.
 * `expired`: that time is over.
 */
export type PeerState = "unknown" | "fresh" | "empty" | "unreachable" | "expired";

/** Times are wall-clock milliseconds; absent where the thing has not happened. */
export interface PeerView {
  readonly geoTag: string;
  readonly family: AddressFamily;
  readonly state: PeerState;
  /** The targets of the last answer, sorted. They may be used only through `usableTargets`. */
  readonly targets: readonly string[];
  /** When the peer last answered. */
  readonly asOf?: number;
  /** When it first failed to answer after it last did; survives a restart. */
  readonly unreachableSince?: number;
  /** Whether the peer has a Gslb for the host; absent where it does not tell, as k8gb. */
  readonly carried?: boolean;
  /** What came back last, for people: `2 addresses`, `NXDOMAIN`, `SERVFAIL from 192.0.2.1:53`, `no reply in 2000 ms`. */
  readonly verdict: string;
}

/** The outcome of one question to a peer. */
export type PeerAnswer =
  | {
      readonly kind: "answered";
      readonly targets: readonly string[];
      readonly verdict: string;
      readonly carried?: boolean;
    }
  | { readonly kind: "failed"; readonly verdict: string };

/** What an earlier run of this operator remembered of a peer: see `rememberedView`. */
export interface PeerMemoryEntry {
  readonly targets: readonly string[];
  readonly unreachableSince?: number;
}

/** The view of a peer that was never asked. */
export function unknownView(geoTag: string, family: AddressFamily): PeerView {
  return { geoTag, family, state: "unknown", targets: [], verdict: "not asked yet" };
}

/** The view after a restart: not asked yet, but with what was believed before. */
export function rememberedView(unknown: PeerView, memory: PeerMemoryEntry): PeerView {
  return {
    ...unknown,
    targets: memory.targets,
    ...(memory.unreachableSince === undefined ? {} : { unreachableSince: memory.unreachableSince }),
  };
}

/** The view after an answer, or after a failure to get one. Repeated failures keep the moment of the first. */
export function afterAnswer(view: PeerView, answer: PeerAnswer, now: number): PeerView {
  const { geoTag, family } = view;
  if (answer.kind === "answered") {
    const targets = [...new Set(answer.targets)].sort();
    const state = targets.length > 0 ? "fresh" : "empty";
    const { verdict, carried } = answer;
    const told = carried === undefined ? {} : { carried };
    return { geoTag, family, state, targets, asOf: now, verdict, ...told };
  }
  return {
    ...view,
    state: "unreachable",
    unreachableSince: view.unreachableSince ?? now,
    verdict: answer.verdict,
  };
}

/**
 * The view as it counts for a Gslb at a moment: an unreachable peer expires once its threshold is over, at once
 * without one.
 */
export function viewAt(view: PeerView, thresholdSeconds: number, now: number): PeerView {
  if (view.state !== "unreachable") return view;
  const since = view.unreachableSince ?? now;
  return now - since >= thresholdSeconds * 1000 ? { ...view, state: "expired" } : view;
}

/** The targets that may be answered from a view that went through `viewAt`. */
export function usableTargets(view: PeerView): readonly string[] {
  switch (view.state) {
    case "fresh":
    case "unreachable":
      return view.targets;
    case "unknown":
    case "empty":
    case "expired":
      return [];
  }
}

/** When an unreachable view expires, in wall-clock milliseconds; `undefined` where nothing is to expire. */
export function expiresAt(view: PeerView, thresholdSeconds: number): number | undefined {
  if (view.state !== "unreachable" || view.targets.length === 0) return undefined;
  return (view.unreachableSince ?? 0) + thresholdSeconds * 1000;
}

/** Whether two views of the same peer, host and family decide and read alike. The moment of an answer does not count. */
export function sameView(a: PeerView, b: PeerView): boolean {
  return (
    a.state === b.state &&
    a.unreachableSince === b.unreachableSince &&
    a.carried === b.carried &&
    a.targets.length === b.targets.length &&
    a.targets.every((target, index) => target === b.targets[index])
  );
}
