import assert from "node:assert/strict";
import { test } from "node:test";
import type { LabState } from "../../lab-state.ts";
import { english } from "../text/english.ts";
import { japanese } from "../text/japanese.ts";
import { controllerThought } from "./controller-thought.ts";

interface Case {
  readonly name: string;
  readonly running?: false;
  readonly seen: number | null;
  readonly pods: number;
  readonly behind: number;
  readonly stale: boolean;
  readonly english: string;
}

const cases: readonly Case[] = [
  {
    name: "stopped",
    running: false,
    ...{ seen: 3, pods: 3, behind: 0, stale: false },
    english: "It is not running.",
  },
  {
    name: "just started",
    ...{ seen: null, pods: 3, behind: 0, stale: false },
    english: "It is about to count.",
  },
  {
    name: "right",
    ...{ seen: 3, pods: 3, behind: 0, stale: false },
    english: "It counts 3 in copy-1 (version 6) and wants 3, so it does nothing. Its copy matches the truth.",
  },
  {
    name: "content while Pods are missing",
    ...{ seen: 3, pods: 1, behind: 2, stale: true },
    english:
      "It counts 3 in copy-1 (version 6) and wants 3, so it does nothing. Its copy is 2 versions behind: in truth there is 1.",
  },
  {
    name: "eager while there are enough",
    ...{ seen: 2, pods: 3, behind: 1, stale: true },
    english:
      "It counts 2 in copy-1 (version 6) and wants 3, so it creates one. Its copy is 1 version behind: in truth there are 3.",
  },
  {
    name: "wrong at the newest version",
    ...{ seen: 4, pods: 3, behind: 0, stale: true },
    english:
      "It counts 4 in copy-1 (version 6) and wants 3, so it deletes one. Its copy differs from the truth: in truth there are 3.",
  },
];

for (const { behind, english: expected, name, pods, running = true, seen, stale } of cases) {
  test(`what the controller thinks: ${name}`, () => {
    const thought = controllerThought({
      controller: {
        ...{ running, copy: "copy-1", desired: 3, counts: 1, writes: 0, refusals: 0 },
        last: seen === null ? null : { seen, version: 6, behind: 0 },
      },
      copies: [{ name: "copy-1", behind, stale }],
      truth: { pods: Array.from({ length: pods }) },
    } as unknown as LabState);
    assert.equal(english.thought(thought), expected);
    assert.match(japanese.thought(thought), /。$/);
  });
}
