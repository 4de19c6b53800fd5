import { fileURLToPath } from "node:url";
import { peerAbsence, peerProgram } from "../../e2e/harness/peer-programs.ts";
import type { Figure } from "../report/sample.ts";
import { ClientProcess } from "./client-process.ts";
import type { ControllerRun } from "./controller-run.ts";
import { nodeLts } from "./node-parts.ts";

export const reconcileFigures: readonly Figure[] = [
  { key: "keysPerSecond", title: "keys/s", digits: 0, compared: true },
  { key: "cpuMicrosecondsPerKey", title: "µs CPU per key", digits: 1, compared: true },
];

const cases = [
  { title: "empty reconcile, 1 worker", workers: 1, reconcileMs: 0 },
  { title: "empty reconcile, 16 workers", workers: 16, reconcileMs: 0 },
  { title: "reconcile of 1 ms, 16 workers", workers: 16, reconcileMs: 1 },
] as const;

const ownProgram = fileURLToPath(new URL("clients/meridian-controller.js", import.meta.url));

const controllers: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  Meridian: async () => [process.execPath, ownProgram],
  "Meridian, Node LTS": async () => [await nodeLts(), ownProgram],
  "controller-runtime": async () => [await peerProgram("client-go-informer"), "controller"],
};

/** Has each controller reconcile keys that are all queued at its start, once each. No server is needed. */
export async function measureReconcile(run: ControllerRun): Promise<void> {
  const { reconcileKeys, rounds } = run.settings;
  const absence = await peerAbsence("client-go-informer");
  if (absence !== undefined) run.remark(`controller-runtime: skipped, ${absence}`, "controller-reconcile");
  for (const { title, workers, reconcileMs } of cases) {
    for (let round = 0; round < rounds; round++) {
      for (const [server, command] of Object.entries(controllers)) {
        const key = {
          ...({ section: "controller-reconcile", server, round } as const),
          case: `${reconcileKeys.toLocaleString("en-US")} keys, ${title}`,
        };
        if (run.journal.has(key) || (server === "controller-runtime" && absence !== undefined)) continue;
        const flags = { keys: reconcileKeys, workers, "reconcile-ms": reconcileMs };
        const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
        await using child = ClientProcess.start([...(await command()), ...args]);
        const { keys, ms, cpuMs } = await child.next("reconciled");
        await run.record({
          ...key,
          values: { keysPerSecond: (keys / ms) * 1000, cpuMicrosecondsPerKey: (cpuMs / keys) * 1000 },
        });
      }
    }
  }
}
