import assert from "node:assert/strict";
import { test } from "node:test";
import type { Condition } from "@meridian/kube";
import type { GslbStatus } from "../resources/gslb.ts";
import { conditionNotes } from "./gslb-events.ts";

function status(
  ...conditions: readonly (readonly [string, Condition["status"], string, string])[]
): GslbStatus {
  return {
    geoTag: "eu",
    healthyRecords: {},
    serviceHealth: {},
    conditions: conditions.map(([type, state, reason, message]) => ({
      type,
      status: state,
      reason,
      message,
      lastTransitionTime: "2026-01-01T00:00:00Z",
    })),
  };
}

const fine = ["Accepted", "True", "Accepted", "fine"] as const;
const bad = ["Accepted", "False", "InvalidSpec", "spec.strategy.type is wrong"] as const;
const notesOf = (before: GslbStatus | undefined, after: GslbStatus): readonly string[] =>
  conditionNotes(before, after).map(({ type, reason, message }) => `${type} ${reason} ${message}`);

test("a Gslb that is fine from the start is no news", () => {
  assert.deepEqual(notesOf(undefined, status(fine)), []);
});

test("what turns bad is a warning, once", () => {
  assert.deepEqual(notesOf(status(fine), status(bad)), ["Warning InvalidSpec spec.strategy.type is wrong"]);
  assert.deepEqual(notesOf(status(bad), status(bad)), []);
});

test("what is good again is told", () => {
  assert.deepEqual(notesOf(status(bad), status(fine)), ["Normal Accepted Accepted again: fine"]);
});

test("reference problems keep the reasons that k8gb's users look for", () => {
  assert.deepEqual(
    notesOf(
      undefined,
      status(
        ["ResolvedRefs", "False", "NotFound", "gone"],
        ["ResolvedRefs", "False", "ExposedAddressesUnresolved", "blank"],
      ),
    ),
    [
      "Warning ReconcileError error resolving references (gone)",
      "Warning ExposedIPResolutionError getting load balancer exposed IPs (blank)",
    ],
  );
});
