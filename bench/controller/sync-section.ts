import type { Figure } from "../report/sample.ts";
import type { BenchClient } from "./bench-clients.ts";
import type { BenchServer } from "./bench-server.ts";
import { ClientProcess } from "./client-process.ts";
import { caseText } from "./controller-run.ts";
import type { ControllerRun } from "./controller-run.ts";

export const syncFigures: readonly Figure[] = [
  { key: "ms", title: "sync, ms", digits: 0, compared: true },
  { key: "cpuMs", title: "CPU ms", digits: 0, compared: true },
  { key: "startCpuMs", title: "CPU ms of loading", digits: 0, compared: false },
  { key: "syncMebibytes", title: "RSS at sync, MiB", digits: 0, compared: true },
  { key: "collectedMebibytes", title: "after GC, MiB", digits: 0, compared: true },
  { key: "objectBytes", title: "bytes per object", digits: 0, compared: true },
  { key: "heapMebibytes", title: "heap, MiB", digits: 0, compared: false },
];

const mebibyte = 1024 * 1024;

/** Starts each client alone, from nothing to a complete copy, and weighs it before and after garbage was collected. */
export async function measureSync(run: ControllerRun): Promise<void> {
  const { sizes, rounds, largeRounds } = run.settings;
  for (const server of run.servers) {
    const ofServer = server.name === "kube-apiserver" ? sizes : sizes.slice(0, 1);
    for (const objects of ofServer) {
      await server.fill(objects);
      for (let round = 0; round < (objects === run.mainSize ? rounds : largeRounds); round++) {
        for (const client of run.clientsOf(server)) await measureOne(run, client, { server, objects, round });
      }
    }
  }
}

async function measureOne(
  run: ControllerRun,
  client: BenchClient,
  {
    server,
    objects,
    round,
  }: { readonly server: BenchServer; readonly objects: number; readonly round: number },
): Promise<void> {
  const key = {
    section: "controller-sync",
    case: caseText(server, objects),
    server: client.name,
    round,
  } as const;
  if (run.journal.has(key)) return;
  try {
    const { command, env } = await client.command(await server.kubeconfigFile());
    await using child = ClientProcess.start(command, env);
    const ready = await child.next("ready");
    const synced = await child.ask("start", "synced");
    const collected = await child.ask("collect", "collected");
    if (collected.objects !== objects)
      throw new Error(`its copy has ${collected.objects} of ${objects} objects`);
    await run.record({
      ...key,
      values: {
        ms: synced.ms,
        cpuMs: synced.cpuMs,
        startCpuMs: ready.cpuMs,
        syncMebibytes: synced.rssBytes / mebibyte,
        collectedMebibytes: collected.rssBytes / mebibyte,
        objectBytes: (collected.rssBytes - ready.rssBytes) / objects,
        heapMebibytes: collected.heapBytes / mebibyte,
      },
    });
  } catch (error) {
    run.fail(`${client.name}: ${error instanceof Error ? error.message : String(error)}`, key.section);
  }
}
