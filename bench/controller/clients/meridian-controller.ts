import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Controller } from "@meridian/controller";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { cpuMs } from "./own-figures.ts";
import { tell } from "./serve-commands.ts";

// Our controller: `meridian-controller.js --keys N --workers N --reconcile-ms N` reconciles keys that are all queued at
// its start, once each.

const { values } = parseArgs({
  options: {
    keys: { type: "string", default: "20000" },
    workers: { type: "string", default: "1" },
    "reconcile-ms": { type: "string", default: "0" },
  },
});
const keys = Array.from({ length: Number(values.keys) }, (_, index) => `bench/object-${index}`);
const reconcileMs = Number(values["reconcile-ms"]);
const stopping = new AbortController();
let left = keys.length;
const [startedMs, cpuBeforeMs] = [performance.now(), cpuMs()];
const controller = new Controller(nodeRuntime({ dataFolder: ".", log: silentLogger }), {
  name: "bench",
  concurrency: Number(values.workers),
  async reconcile() {
    if (reconcileMs > 0) await sleep(reconcileMs);
    if (--left > 0) return;
    tell("reconciled", {
      ...{ keys: keys.length, ms: performance.now() - startedMs, cpuMs: cpuMs() - cpuBeforeMs },
    });
    stopping.abort();
  },
});
for (const key of keys) controller.enqueue(key);
await controller.run(stopping.signal);
