import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { HintGate } from "./hint-gate.ts";

test("the first hint acts at once, then at most one a second, and the last is never lost", async () => {
  const simulation = new Simulation({ seed: 1 });
  const { clock } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] }).runtime;
  const acted: number[] = [];
  const gate = new HintGate(clock, () => acted.push(Math.round(simulation.nowMs)));
  for (const at of [0, 10, 20, 990, 1500, 1700, 5000]) simulation.schedule(at, () => gate.open());
  await simulation.run({ untilMs: 10_000 });
  assert.deepEqual(acted, [0, 1000, 2000, 5000]);
  gate.open();
  gate.open();
  gate.close();
  await simulation.run({ untilMs: 20_000 });
  assert.deepEqual(acted, [0, 1000, 2000, 5000, 10_000]);
});

test("hints with proof act ten times a second, and one that waits for its second goes with them", async () => {
  const simulation = new Simulation({ seed: 1 });
  const { clock } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] }).runtime;
  const acted: number[] = [];
  const gate = new HintGate(clock, () => acted.push(Math.round(simulation.nowMs)));
  for (const at of [0, 10, 350]) simulation.schedule(at, () => gate.open());
  for (const at of [320, 330, 340, 360]) simulation.schedule(at, () => gate.open({ isProved: true }));
  await simulation.run({ untilMs: 10_000 });
  assert.deepEqual(acted, [0, 320, 420]);
});
