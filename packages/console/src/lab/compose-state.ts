import { podType } from "@meridian/kube";
import type {
  CopyState,
  HistoryRecord,
  LabLogEntry,
  LabState,
  ServerCounters,
  SmallControllerState,
  TruthState,
  Writer,
} from "../lab-state.ts";
import { compareWithTruth, podRows } from "./compose-copy.ts";
import type { LabCopy } from "./lab-copy.ts";
import { beginningManager, controllerUser, pageUser } from "./lab-users.ts";
import type { TruthChange, TruthReading } from "./truth.ts";
import type { VersionLine } from "./version-line.ts";

/** Everything that a snapshot is made of. */
export interface StateParts {
  readonly instance: string;
  readonly line: VersionLine;
  readonly reading: TruthReading;
  /** Versions of writes to Pods that a copy may not have seen. */
  readonly writes: readonly number[];
  readonly historyMax: number;
  /** What the server had counted, over all copies, when the lab began. */
  readonly countedBefore: ServerCounters;
  readonly copies: readonly LabCopy[];
  readonly controller: SmallControllerState;
  readonly log: readonly LabLogEntry[];
}

/** The snapshot, but for its counter. */
export function composeState(parts: StateParts): Omit<LabState, "counter"> {
  const truth = composeTruth(parts);
  return {
    instance: parts.instance,
    truth,
    copies: parts.copies.map((copy) => composeCopy(copy, parts, truth)),
    controller: parts.controller,
    log: parts.log,
  };
}

function composeTruth(parts: StateParts): TruthState {
  const { line, reading } = parts;
  return {
    version: line.versionOf(reading.resourceVersion),
    resourceVersion: reading.resourceVersion,
    pods: podRows(reading.pods, line),
    historyMax: parts.historyMax,
    history: reading.changes
      .filter(({ resource }) => resource === podType.plural)
      .map((change) => historyRecord(change, line)),
    oldestResumable: line.versionOf(reading.compactedResourceVersion),
    counters: countersSince(parts.countedBefore, sumOfCounters(reading.counters.values())),
  };
}

/** One write of the history with its writer. */
export function historyRecord(change: TruthChange, line: VersionLine): HistoryRecord {
  return {
    version: line.versionOf(change.resourceVersion),
    change: change.type,
    name: change.name,
    by: writerOf(change),
  };
}

function writerOf({ user, fieldManager }: TruthChange): Writer {
  return { who: whoWrote(user, fieldManager), user, manager: fieldManager };
}

function whoWrote(user: string, fieldManager: string): Writer["who"] {
  if (user === controllerUser) return "controller";
  if (user !== pageUser) return "other";
  return fieldManager === beginningManager ? "lab" : "page";
}

function composeCopy(copy: LabCopy, parts: StateParts, truth: TruthState): CopyState {
  const { line, reading } = parts;
  const { informer, wire } = copy;
  const version = line.versionIfAny(informer.version);
  const compared = compareWithTruth(
    { version, pods: podRows(copy.read(), line) },
    { pods: truth.pods, writes: parts.writes },
  );
  const lagMs = informer.lagMs();
  return {
    name: copy.name,
    wire: wire.mode,
    connected: informer.connected,
    version,
    resourceVersion: informer.version,
    lagSeconds: Number.isFinite(lagMs) ? Math.floor(lagMs / 1000) : null,
    ...compared,
    counters: copy.counters,
    server: countersSince(copy.countedBefore, reading.counters.get(copy.name) ?? noCounters),
    reads: copy.reads,
    armed: copy.armed ?? null,
    heldBack: wire.heldEvents,
  };
}

/** Nothing counted yet. */
export const noCounters: ServerCounters = { fullReads: 0, watches: 0, watchesOpen: 0 };

/** What all copies asked for together. */
export function sumOfCounters(all: Iterable<ServerCounters>): ServerCounters {
  let sum = noCounters;
  for (const counters of all) {
    sum = {
      fullReads: sum.fullReads + counters.fullReads,
      watches: sum.watches + counters.watches,
      watchesOpen: sum.watchesOpen + counters.watchesOpen,
    };
  }
  return sum;
}

/** What was counted since; what is open now is open now. */
export function countersSince(before: ServerCounters, now: ServerCounters): ServerCounters {
  return {
    fullReads: now.fullReads - before.fullReads,
    watches: now.watches - before.watches,
    watchesOpen: now.watchesOpen,
  };
}
