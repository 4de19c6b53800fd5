import assert from "node:assert/strict";
import { test } from "node:test";
import type { LabState } from "../../lab-state.ts";
import { versionScore } from "./version-score.ts";

const signs = {
  ...{ created: "+", changed: "~", deleted: "-", forgotten: ".", other: "?" },
  ...{ has: "#", unseen: "o", lost: "x", future: "_" },
} as const;

interface Case {
  readonly name: string;
  readonly version: number;
  readonly oldest: number;
  /** The history from the version after the oldest on, each by its sign; `?` is no write to a Pod. */
  readonly history: string;
  readonly copies: readonly (number | null)[];
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
    name: "later on the newest versions are shown",
    ...{ version: 30, oldest: 28, history: "?+", copies: [10, 30, null], near: "23-30" },
    lines: ["..........?+", "xxxxxxxxxxoo", "############", "xxxxxxxxxxoo"],
  },
];

for (const { copies, history, lines, name, near, oldest, version } of cases) {
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
      copies: copies.map((each, index) => ({
        name: `copy-${index + 1}`,
        version: each,
        stale: each !== version,
      })),
    } as unknown as LabState;
    const score = versionScore(state);
    assert.deepEqual(
      score.rows.map(({ cells }) => cells.map(({ mark }) => signs[mark]).join("")),
      lines,
    );
    assert.equal(`${score.near.first}-${score.near.last}`, near);
  });
}
