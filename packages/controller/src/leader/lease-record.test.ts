import assert from "node:assert/strict";
import { test } from "node:test";
import type { Lease } from "@meridian/kube";
import { nextStep, nothingKnown, released, viewAfter } from "./lease-record.ts";
import type { LeaseRecord, LeaseView } from "./lease-record.ts";

const candidate = { namespace: "n", name: "role", identity: "me", leaseDurationMs: 15_000 };
const wallMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const now = { monotonicMs: 100_000, wallMs };
const nowText = "2026-01-02T03:04:05.678000Z";
const earlier = "2026-01-02T03:00:00.000001Z";

function lease(spec: LeaseRecord, resourceVersion = "7"): Lease {
  const metadata = { namespace: "n", name: "role", resourceVersion };
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
}

function seen(spec: LeaseRecord, ageMs: number): LeaseView {
  return viewAfter(nothingKnown, lease(spec), now.monotonicMs - ageMs);
}

const held: LeaseRecord = {
  holderIdentity: "other",
  leaseDurationSeconds: 15,
  acquireTime: earlier,
  renewTime: earlier,
  leaseTransitions: 3,
};

const steps: readonly {
  readonly name: string;
  readonly view: LeaseView;
  readonly expected: string | { readonly do: "create" | "update"; readonly spec: LeaseRecord };
}[] = [
  {
    name: "no lease: it is created",
    view: nothingKnown,
    expected: {
      do: "create",
      spec: { acquireTime: nowText, renewTime: nowText, leaseTransitions: 0 },
    },
  },
  { name: "another's, just seen: wait, whatever its times say", view: seen(held, 0), expected: "wait" },
  { name: "another's, unchanged for almost its duration: wait", view: seen(held, 14_999), expected: "wait" },
  {
    name: "another's, unchanged for its duration: taken",
    view: seen(held, 15_000),
    expected: { do: "update", spec: { acquireTime: nowText, renewTime: nowText, leaseTransitions: 4 } },
  },
  {
    name: "another's with a longer duration than ours: its own counts",
    view: seen({ ...held, leaseDurationSeconds: 60 }, 59_999),
    expected: "wait",
  },
  {
    name: "another's without a duration: ours counts",
    view: seen({ holderIdentity: "other" }, 14_999),
    expected: "wait",
  },
  {
    name: "released: taken at once",
    view: seen({ ...held, holderIdentity: "", leaseDurationSeconds: 1 }, 0),
    expected: { do: "update", spec: { acquireTime: nowText, renewTime: nowText, leaseTransitions: 4 } },
  },
  {
    name: "our own: renewed, and since when it is ours stays",
    view: seen({ ...held, holderIdentity: "me" }, 60_000),
    expected: { do: "update", spec: { acquireTime: earlier, renewTime: nowText, leaseTransitions: 3 } },
  },
  {
    name: "our own in the same microsecond: the renewal shows all the same",
    view: seen({ ...held, holderIdentity: "me", renewTime: nowText }, 0),
    expected: {
      do: "update",
      spec: { acquireTime: earlier, renewTime: "2026-01-02T03:04:05.678001Z", leaseTransitions: 3 },
    },
  },
  {
    name: "deleted while another may lead: wait",
    view: viewAfter(seen(held, 14_999), undefined, now.monotonicMs),
    expected: "wait",
  },
  {
    name: "deleted, and the other has given up: created",
    view: viewAfter(seen(held, 15_000), undefined, now.monotonicMs),
    expected: { do: "create", spec: { acquireTime: nowText, renewTime: nowText, leaseTransitions: 4 } },
  },
];

for (const { name, view, expected } of steps) {
  test(name, () => {
    const step = nextStep(view, candidate, now);
    if (typeof expected === "string") return assert.deepEqual(step, { do: expected, holder: "other" });
    assert.ok(step.do === expected.do);
    assert.deepEqual(step.lease.spec, { holderIdentity: "me", leaseDurationSeconds: 15, ...expected.spec });
    assert.equal(step.lease.metadata.resourceVersion, expected.do === "update" ? "7" : undefined);
  });
}

test("a count of transitions that the API could not take again begins anew, and keeps nobody from leading", () => {
  for (const [strange, next] of [
    [2 ** 31 - 2, 2 ** 31 - 1],
    [2 ** 31 - 1, 0],
    [2 ** 31, 1],
    [-1, 1],
    [1.5, 1],
    ["7", 1],
    [null, 1],
  ]) {
    const spec = { ...held, holderIdentity: "", leaseTransitions: strange } as LeaseRecord;
    const step = nextStep(seen(spec, 0), candidate, now);
    assert.ok(step.do === "update");
    assert.equal(step.lease.spec?.leaseTransitions, next);
  }
});

test("fields of the record that this version does not know are kept", () => {
  const step = nextStep(seen({ ...held, strategy: "OldestEmulationVersion" }, 15_000), candidate, now);
  assert.ok(step.do === "update");
  assert.equal(step.lease.spec?.strategy, "OldestEmulationVersion");
});

test("an expiry is counted from when the record changed, not from when it was read last, and not from a new label", () => {
  let view = viewAfter(nothingKnown, lease(held), 1_000);
  view = viewAfter(view, lease(held, "8"), 9_000);
  assert.equal(view.unchangedSinceMs, 1_000);
  assert.equal(view.lease?.metadata.resourceVersion, "8", "a write names the newest version all the same");
  view = viewAfter(view, lease({ ...held, renewTime: nowText }, "9"), 10_000);
  assert.equal(view.unchangedSinceMs, 10_000);
});

test("a lease is released only by who holds it", () => {
  assert.equal(released(seen(held, 0), candidate, now), undefined);
  assert.equal(released(nothingKnown, candidate, now), undefined);
  assert.deepEqual(released(seen({ ...held, holderIdentity: "me" }, 0), candidate, now)?.spec, {
    holderIdentity: "",
    leaseDurationSeconds: 1,
    acquireTime: nowText,
    renewTime: nowText,
    leaseTransitions: 3,
  });
});
