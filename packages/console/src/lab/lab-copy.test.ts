import assert from "node:assert/strict";
import { test } from "node:test";
import { testApi } from "@meridian/controller/testing";
import { podType } from "@meridian/kube";
import type { Pod } from "@meridian/kube";
import { noCounters } from "./compose-state.ts";
import { LabCopy } from "./lab-copy.ts";
import { newPod } from "./lab-pods.ts";

test("a fault befalls one event, in place of the one that was armed before", async () => {
  const { clock, runtime, truth } = testApi({ types: [podType] });
  const incidents: string[] = [];
  await using copy = new LabCopy(runtime, {
    name: "copy-1",
    apiServer: { origin: "http://truth", tokenOf: () => "token" },
    countedBefore: noCounters,
    onChange() {},
    onIncident: (_copy, { code, event, ms }) => incidents.push(`${code} ${event.name} ${ms}`),
  });
  const write = async (name: string): Promise<void> => {
    truth.put<Pod>(newPod(name));
    await clock.advance(100);
  };
  await clock.until(() => copy.informer.connected);

  copy.arm({ fault: "lose", ms: 0 });
  copy.arm({ fault: "delay", ms: 5_000 });
  assert.deepEqual(copy.armed, { fault: "delay", ms: 5_000 });
  await write("web-1");
  assert.equal(copy.armed, undefined, "it has met its event");
  copy.arm({ fault: "double", ms: 0 });
  await write("web-2");
  assert.deepEqual(copy.read(), []);
  assert.equal(copy.wire.heldEvents, 2);
  assert.deepEqual(copy.armed, { fault: "double", ms: 0 });

  await clock.advance(5_000);
  assert.deepEqual(incidents, [
    "eventDelayed web-1 5000",
    "eventDelivered web-1 5000",
    "eventDoubled web-2 0",
  ]);
  assert.equal(copy.read().length, 2);
  assert.equal(copy.armed, undefined);
});
