import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodRow } from "../lab-state.ts";
import { compareWithTruth } from "./compose-copy.ts";

/** `web-1@3` is Pod web-1, written last at version 3. */
const rows = (text: string): readonly PodRow[] =>
  text
    .split(" ")
    .filter(Boolean)
    .map((row) => {
      const [name = "", version = ""] = row.split("@");
      return { name, value: "", version: Number(version) };
    });

interface Case {
  readonly name: string;
  readonly copy: string;
  readonly version: number | null;
  readonly truth: string;
  readonly writes: readonly number[];
  readonly marks: string;
  readonly missing?: string;
  readonly behind: number;
  readonly stale: boolean;
}

const cases: readonly Case[] = [
  {
    name: "a copy that has all",
    ...{ copy: "web-1@1 web-2@2", version: 2, truth: "web-1@1 web-2@2", writes: [1, 2] },
    ...{ marks: "same same", behind: 0, stale: false },
  },
  {
    name: "the copy of the chapter: web-1 was deleted and web-4 added while the watch was cut",
    ...{ copy: "web-1@1 web-2@2 web-3@6", version: 6, truth: "web-2@2 web-3@6 web-4@8", writes: [6, 7, 8] },
    ...{ marks: "gone same same", missing: "web-4", behind: 2, stale: true },
  },
  {
    name: "a Pod that was changed twice is one older row, two versions behind",
    ...{ copy: "web-1@1", version: 1, truth: "web-1@3", writes: [1, 2, 3] },
    ...{ marks: "older", behind: 2, stale: true },
  },
  {
    name: "a Pod that came and went leaves the copy behind, and nothing to see",
    ...{ copy: "web-1@1", version: 1, truth: "web-1@1", writes: [1, 2, 3] },
    ...{ marks: "same", behind: 2, stale: true },
  },
  {
    name: "an event that nobody knows to be lost: the newest version, and wrong",
    ...{ copy: "web-1@1", version: 3, truth: "web-1@1 web-2@2 web-3@3", writes: [1, 2, 3] },
    ...{ marks: "same", missing: "web-2 web-3", behind: 0, stale: true },
  },
  {
    name: "a copy before its first full read",
    ...{ copy: "", version: null, truth: "web-1@1", writes: [1] },
    ...{ marks: "", missing: "web-1", behind: 1, stale: true },
  },
];
for (const each of cases) {
  test(each.name, () => {
    const compared = compareWithTruth(
      { version: each.version, pods: rows(each.copy) },
      { pods: rows(each.truth), writes: each.writes },
    );
    assert.equal(compared.pods.map(({ mark }) => mark).join(" "), each.marks);
    assert.equal(compared.missing.join(" "), each.missing ?? "");
    assert.equal(compared.behind, each.behind);
    assert.equal(compared.stale, each.stale);
  });
}
