import assert from "node:assert/strict";
import { test } from "node:test";
import type { LabEvent, LabState } from "../../lab-state.ts";
import { versionScore } from "./version-score.ts";

const signs = {
  ...{ created: "+", changed: "~", deleted: "-", forgotten: ".", other: "?" },
  ...{ has: "#", unseen: "o", lost: "x", takenOut: "!", future: "_" },
} as const;

function takenOut(version: number): LabEvent {
  return { code: "eventLostSilently", copy: "copy-1", name: "web-1", change: "created", version, ms: 0 };
}

interface Case {
  readonly name: string;
  readonly version: number;
  readonly oldest: number;
  /** The history from the version after the oldest on, each by its sign; `?` is no write to a Pod. */
  readonly history: string;
  readonly copies: readonly (number | null)[];
  readonly wire?: "cut";
  readonly heldBack?: number;
  /** What befell copy-1. */
  readonly events?: readonly LabEvent[];
  readonly lines: readonly string[];
  readonly near: string;
}

const cases: readonly Case[] = [
  {
    name: "at the beginning there is more future than past",
    ...{ version: 2, oldest: 0, history: "++", copies: [2], near: "1-8" },
    lines: ["++__________", "##__________"],
  },
  {
    name: "what a copy lacks can still be had, or is forgotten",
    ...{ version: 8, oldest: 4, history: "~+~-", copies: [3, 6, 8], near: "1-8" },
    lines: ["....~+~-____", "###xoooo____", "######oo____", "########____"],
  },
  {
    name: "what is held back can still come, forgotten or not",
    ...{ version: 4, oldest: 3, history: "+", copies: [1], near: "1-8", heldBack: 3 },
    lines: ["...+________", "#ooo________"],
  },
  {
    name: "later on the newest versions are shown",
    ...{ version: 30, oldest: 28, history: "?+", copies: [10, 30, null], near: "23-30" },
    lines: ["..........?+", "xxxxxxxxxxoo", "############", "xxxxxxxxxxoo"],
  },
  {
    name: "what was taken out is not on its way, whether the copy came past it or not",
    ...{ version: 4, oldest: 0, history: "++++", copies: [3, 4], near: "1-8" },
    events: [takenOut(2), takenOut(4)],
    lines: ["++++________", "#!#!________", "####________"],
  },
  {
    name: "while the wire is cut, another watch will bring it, unless the copy came past it",
    ...{ version: 4, oldest: 0, history: "++++", copies: [3], near: "1-8", wire: "cut" },
    events: [takenOut(2), takenOut(4)],
    lines: ["++++________", "#!#o________"],
  },
  {
    name: "a full read brings what was taken out, and so does a watch from before it",
    ...{ version: 4, oldest: 0, history: "++++", copies: [4], near: "1-8" },
    events: [
      takenOut(1),
      { code: "everythingRead", copy: "copy-1", why: "other", version: 1, pods: 1 },
      takenOut(2),
      takenOut(3),
      { code: "caughtUp", copy: "copy-1", fromVersion: 2, toVersion: 3, changes: 1 },
    ],
    lines: ["++++________", "#!##________"],
  },
];

for (const each of cases) {
  const {
    copies,
    events = [],
    heldBack = 0,
    history,
    lines,
    name,
    near,
    oldest,
    version,
    wire = "open",
  } = each;
  test(name, () => {
    const changes = { "+": "created", "~": "changed", "-": "deleted" } as const;
    const state = {
      truth: {
        version,
        oldestResumable: oldest,
        history: history.split("").flatMap((sign, index) =>
          sign in changes
            ? [
                {
                  version: oldest + 1 + index,
                  change: changes[sign as "+"],
                  name: "web-1",
                  by: { who: "page" },
                },
              ]
            : [],
        ),
      },
      copies: copies.map((at, index) => ({
        name: `copy-${index + 1}`,
        version: at,
        wire,
        heldBack,
        stale: at !== version || events.length > 0,
      })),
      log: events.map((event) => ({ number: 1, atMs: 0, event })),
    } as unknown as LabState;
    const score = versionScore(state);
    assert.deepEqual(
      score.rows.map(({ cells }) => cells.map(({ mark }) => signs[mark]).join("")),
      lines,
    );
    assert.equal(`${score.near.first}-${score.near.last}`, near);
  });
}
