import assert from "node:assert/strict";
import { test } from "node:test";
import { findCondition, isConditionTrue, setCondition } from "./conditions.ts";

const first = Date.parse("2026-01-01T00:00:00Z");
const later = first + 60_000;
const ready = { type: "Ready", status: "True", reason: "Up", message: "" } as const;

test("the transition time moves only when the status changes", () => {
  const one = setCondition(undefined, ready, first);
  const two = setCondition(one, { ...ready, reason: "StillUp" }, later);
  assert.deepEqual(two, [{ ...ready, reason: "StillUp", lastTransitionTime: "2026-01-01T00:00:00Z" }]);
  const three = setCondition(two, { ...ready, status: "False" }, later);
  assert.equal(findCondition(three, "Ready")?.lastTransitionTime, "2026-01-01T00:01:00Z");
  assert.equal(isConditionTrue(three, "Ready"), false);
});

test("setting the same condition again gives the same array, so that nothing is written", () => {
  const one = setCondition([], ready, first);
  assert.equal(setCondition(one, ready, later), one);
});

test("other conditions keep their place", () => {
  const one = setCondition(setCondition([], ready, first), { ...ready, type: "Synced" }, first);
  assert.deepEqual(
    setCondition(one, { ...ready, message: "x" }, later).map(({ type }) => type),
    ["Ready", "Synced"],
  );
});
