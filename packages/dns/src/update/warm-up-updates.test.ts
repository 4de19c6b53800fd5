import assert from "node:assert/strict";
import test from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { warmUpUpdates } from "./warm-up-updates.ts";

test("warming up leaves nothing on the disk, makes what it is for, and ends when it is told to", async () => {
  const sim = new Simulation({ seed: 1 });
  const { runtime } = sim.node({ name: "a", addresses: ["10.0.0.1"] });
  const readings = async (signal: AbortSignal): Promise<number> => {
    let read = 0;
    const monotonicMs = (): number => (read++, runtime.clock.monotonicMs());
    const clock = {
      monotonicMs,
      now: () => runtime.clock.now(),
      after: (ms: number, callback: () => void) => runtime.clock.after(ms, callback),
      sleep: (ms: number, stop?: AbortSignal) => runtime.clock.sleep(ms, stop),
    };
    await warmUpUpdates({ ...runtime, clock }, signal);
    return read;
  };
  const whole = await sim.complete(readings(new AbortController().signal));
  assert.ok(whole > 800, `the clock was read ${whole} times`);
  assert.ok((await sim.complete(readings(AbortSignal.abort()))) < 10);
  assert.deepEqual(await sim.complete(runtime.disk.list("")), []);
});
