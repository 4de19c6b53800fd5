import { setTimeout as sleep } from "node:timers/promises";
import type { Figure } from "../report/sample.ts";
import { summary } from "../summary.ts";
import type { BenchServer } from "./bench-server.ts";
import { caseText } from "./controller-run.ts";
import type { ControllerRun } from "./controller-run.ts";
import type { StandingClients } from "./standing-clients.ts";
import { updateDelays } from "./update-delays.ts";
import type { Writes } from "./update-delays.ts";

export const liveFigures: readonly Figure[] = [
  { key: "cpuMicrosecondsPerEvent", title: "µs CPU per event", digits: 0, compared: true },
  { key: "delayMs50", title: "delay p50, ms", digits: 2, compared: true },
  { key: "delayMs99", title: "delay p99, ms", digits: 2, compared: true },
  { key: "events", title: "events", digits: 0, compared: false },
];

const settleMs = 1_000;

/** Updates objects one after the other at a steady pace, with all clients awake at once, so that all see the same events. */
export async function measureLive(
  run: ControllerRun,
  server: BenchServer,
  clients: StandingClients,
): Promise<void> {
  const { updatesPerSecond } = run.settings;
  // The long run is for the server that all clients are compared against.
  const seconds = server === run.servers[0] ? run.settings.liveSeconds : run.settings.liveSeconds / 3;
  const key = {
    section: "controller-live",
    case: `${caseText(server, run.mainSize)}, ${updatesPerSecond} updates/s`,
  } as const;
  if (clients.all.every(({ name }) => run.journal.has({ ...key, server: name, round: 0 }))) return;
  clients.resume();
  // Whoever has been paused reads what came in the meantime first.
  await sleep(settleMs);
  await Promise.all(clients.all.map(({ process }) => process.ask("record", "recording")));
  const writes = await writeSteadily(server, { seconds, updatesPerSecond, objects: run.mainSize });
  await sleep(settleMs);
  const sent = [...writes.values()].flat().length;
  for (const { name, process } of clients.all) {
    const recorded = await process.ask("recorded", "recorded");
    const { delaysMs, unknown } = updateDelays(recorded.arrivals, writes);
    const events = recorded.arrivals.length;
    if (events !== sent || unknown > 0)
      run.remark(`${name}: was told of ${events} of ${sent} live updates`, key.section);
    const { p50, p99 } = summary(delaysMs);
    await run.record({
      ...key,
      ...{ server: name, round: 0 },
      values: {
        cpuMicrosecondsPerEvent: (recorded.cpuMs / Math.max(1, events)) * 1000,
        ...{ delayMs50: p50, delayMs99: p99, events },
      },
    });
  }
  clients.pause();
  const offered = seconds * updatesPerSecond;
  if (sent < offered * 0.95)
    run.remark(`${server.name} took ${sent} of ${offered} live updates in the time`, key.section);
}

async function writeSteadily(
  server: BenchServer,
  pace: { readonly seconds: number; readonly updatesPerSecond: number; readonly objects: number },
): Promise<Writes> {
  const writes = new Map<number, number[]>();
  const open = new Set<Promise<void>>();
  const startedMs = performance.now();
  const endMs = startedMs + pace.seconds * 1000;
  for (let sent = 0; ;) {
    const due = Math.floor(((performance.now() - startedMs) / 1000) * pace.updatesPerSecond);
    // A server that falls behind is not buried in requests.
    for (; sent < due && open.size < 32; sent++) {
      const index = sent % pace.objects;
      writes.set(index, [...(writes.get(index) ?? []), (performance.timeOrigin + performance.now()) * 1000]);
      const writing = server.update(index).finally(() => open.delete(writing));
      open.add(writing);
    }
    if (performance.now() >= endMs) break;
    await sleep(1);
  }
  await Promise.all(open);
  return writes;
}
