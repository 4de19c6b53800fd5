import { setTimeout as sleep } from "node:timers/promises";
import type { Figure } from "../report/sample.ts";
import type { BenchServer } from "./bench-server.ts";
import { caseText } from "./controller-run.ts";
import type { ControllerRun } from "./controller-run.ts";
import type { StandingClient, StandingClients } from "./standing-clients.ts";

export const halfOpenFigures: readonly Figure[] = [
  { key: "noticedMs", title: "new connection after, ms", digits: 0, compared: true },
  { key: "eventsAgainMs", title: "events again after, ms", digits: 0, compared: true },
];

const pollMs = 20;
const writeMs = 200;
/** What was on its way when the connection went dead has arrived by then. */
const inFlightMs = 500;
/** From the new connection to events, waited for at most. */
const graceMs = 6_000;

/**
 * Lets nothing more through on all connections, says nothing to either end, and looks when each client makes a new connection,
 * which works, while objects go on to change a few times a second.
 */
export async function measureHalfOpen(
  run: ControllerRun,
  server: BenchServer,
  clients: StandingClients,
): Promise<void> {
  const key = { section: "controller-half-open", case: caseText(server, run.mainSize) } as const;
  if (clients.all.every(({ name }) => run.journal.has({ ...key, server: name, round: 0 }))) return;
  clients.resume();
  await Promise.all(clients.all.map(({ process }) => process.ask("record", "recording")));
  const stopping = new AbortController();
  const writing = writeSlowly(server, { objects: run.mainSize, signal: stopping.signal });
  await sleep(inFlightMs);
  const accepted = new Map(clients.all.map(({ name, proxy }) => [name, proxy.accepted]));
  const startedMs = performance.now();
  const startedAt = (performance.timeOrigin + startedMs) * 1000;
  for (const { proxy } of clients.all) proxy.stall();
  const noticed = await whenNoticed(clients.all, { accepted, startedMs, withinMs: run.settings.halfOpenMs });
  stopping.abort();
  await writing;
  for (const { name, process } of clients.all) {
    const { arrivals } = await process.ask("recorded", "recorded");
    const again = arrivals.find(([, at]) => at > startedAt + inFlightMs * 1000)?.[1];
    const noticedMs = noticed.get(name);
    if (noticedMs === undefined)
      run.remark(
        `${name}: the half-open connection was not noticed within ${run.settings.halfOpenMs} ms`,
        key.section,
      );
    await run.record({
      ...key,
      ...{ server: name, round: 0 },
      values: {
        ...(noticedMs === undefined ? {} : { noticedMs }),
        ...(again === undefined ? {} : { eventsAgainMs: (again - startedAt) / 1000 }),
      },
    });
  }
  clients.pause();
}

/** When each client made a new connection; ends when all have, and had time for events, or when time is up. */
async function whenNoticed(
  clients: readonly StandingClient[],
  about: {
    readonly accepted: ReadonlyMap<string, number>;
    readonly startedMs: number;
    readonly withinMs: number;
  },
): Promise<ReadonlyMap<string, number>> {
  const noticed = new Map<string, number>();
  let endMs = about.startedMs + about.withinMs;
  while (performance.now() < endMs) {
    for (const { name, proxy } of clients) {
      if (noticed.has(name) || proxy.accepted === about.accepted.get(name)) continue;
      noticed.set(name, performance.now() - about.startedMs);
      if (noticed.size === clients.length) endMs = Math.min(endMs, performance.now() + graceMs);
    }
    await sleep(pollMs);
  }
  return noticed;
}

async function writeSlowly(
  server: BenchServer,
  { objects, signal }: { readonly objects: number; readonly signal: AbortSignal },
): Promise<void> {
  for (let index = 0; !signal.aborted; index = (index + 1) % objects) {
    await server.update(index);
    await sleep(writeMs);
  }
}
