import assert from "node:assert/strict";
import { test } from "node:test";
import { english } from "../text/english.ts";
import { announcement } from "./announcement.ts";

const entries = ["copy-1", "copy-2", "copy-3", "copy-4"].map((copy, number) => ({
  ...{ number, atMs: 0, event: { code: "copyAdded", copy } as const },
}));

test("few lines are read out as they are, and of many the newest two", () => {
  assert.equal(announcement([], english), "");
  assert.equal(announcement(entries.slice(0, 2), english), "copy-1 was added. copy-2 was added.");
  assert.equal(
    announcement(entries, english),
    "2 other lines in the log. copy-3 was added. copy-4 was added.",
  );
});
