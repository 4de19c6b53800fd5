import assert from "node:assert/strict";
import { test } from "node:test";
import { restartDelayMs } from "./supervised-child.ts";

test("a child that keeps dying waits longer each time, up to half a minute", () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7, 8, 100].map(restartDelayMs),
    [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000],
  );
});
