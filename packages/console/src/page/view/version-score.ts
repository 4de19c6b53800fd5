import type { CopyState, LabLogEntry, LabState, TruthState } from "../../lab-state.ts";
import { takenOutVersions } from "./taken-out.ts";

/** Versions that are shown beside each other: where there is room, and on a phone. */
const columnsMax = 12;
const columnsNear = 8;

/** What a cell of the score shows. */
export type ScoreMark =
  | "created"
  | "changed"
  | "deleted"
  | "forgotten"
  | "has"
  | "unseen"
  | "lost"
  | "takenOut"
  | "future"
  | "other";

/** One line: the truth, or a copy. */
export interface ScoreRow {
  /** Empty for the truth. */
  readonly copy: string;
  readonly version: number | null;
  readonly stale: boolean;
  readonly cells: readonly {
    readonly version: number;
    readonly mark: ScoreMark;
    readonly byController: boolean;
  }[];
}

/**
 * The newest versions as a score: above, what was written and is still remembered; below, how far each copy has come, and whether
 * what it lacks can still be had by differences, or was taken out of its stream. Pure.
 */
export function versionScore(state: Pick<LabState, "truth" | "copies" | "log">): {
  readonly versions: readonly number[];
  /** The versions that a phone shows. */
  readonly near: { readonly first: number; readonly last: number };
  readonly rows: readonly ScoreRow[];
} {
  const { copies, log, truth } = state;
  const last = Math.max(columnsMax, truth.version);
  const versions = Array.from({ length: columnsMax }, (_, index) => last - columnsMax + 1 + index);
  const writtenByController = new Set(
    truth.history.filter(({ by }) => by.who === "controller").map(({ version }) => version),
  );
  const row = (
    copy: string,
    of: Omit<ScoreRow, "cells" | "copy">,
    markOf: (version: number) => ScoreMark,
  ): ScoreRow => ({
    copy,
    ...of,
    cells: versions.map((version) => ({
      version,
      mark: version > truth.version ? "future" : markOf(version),
      byController: copy === "" && writtenByController.has(version),
    })),
  });
  const nearLast = Math.max(columnsNear, truth.version);
  return {
    versions,
    near: { first: nearLast - columnsNear + 1, last: nearLast },
    rows: [
      row("", { version: truth.version, stale: false }, (version) => markInTruth(version, truth)),
      ...copies.map((copy) => row(copy.name, copy, markInCopy(copy, truth, log))),
    ],
  };
}

function markInTruth(version: number, truth: TruthState): ScoreMark {
  const record = truth.history.find((each) => each.version === version);
  if (record !== undefined) return record.change;
  return version <= truth.oldestResumable ? "forgotten" : "other";
}

function markInCopy(
  copy: CopyState,
  truth: TruthState,
  log: readonly LabLogEntry[],
): (version: number) => ScoreMark {
  const takenOut: ReadonlySet<number> = copy.stale ? takenOutVersions(copy.name, log) : new Set();
  return (version) => {
    const passed = copy.version !== null && version <= copy.version;
    // Another watch begins after the version of the copy, and brings what was taken out behind it.
    if (takenOut.has(version) && (passed || copy.wire !== "cut")) return "takenOut";
    if (passed) return "has";
    // What a wire holds back is on its way, remembered or not.
    return version > truth.oldestResumable || copy.heldBack > 0 ? "unseen" : "lost";
  };
}
