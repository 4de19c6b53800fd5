import type { Figure } from "../report/sample.ts";
import type { BenchServer } from "./bench-server.ts";
import { caseText } from "./controller-run.ts";
import type { ControllerRun } from "./controller-run.ts";
import type { StandingClients } from "./standing-clients.ts";

export const catchUpFigures: readonly Figure[] = [
  { key: "eventsPerSecond", title: "events/s", digits: 0, compared: true },
  { key: "cpuMicrosecondsPerEvent", title: "µs CPU per event", digits: 1, compared: true },
  { key: "backMs", title: "ms from the end of the gap to the last event", digits: 0, compared: false },
];

const backMsMax = 120_000;

/**
 * Cuts all clients off, changes every object once, and lets one client after the other come back to what it has missed. Those
 * that are not measured stand still meanwhile, so that nobody takes time from anybody.
 */
export async function measureCatchUp(
  run: ControllerRun,
  server: BenchServer,
  clients: StandingClients,
): Promise<void> {
  const events = run.mainSize;
  for (let round = 0; round < run.settings.rounds; round++) {
    const missing = clients.all.filter(
      ({ name }) => !run.journal.has(keyOf(server, { events, name, round })),
    );
    if (missing.length === 0) continue;
    clients.resume();
    await Promise.all(clients.all.map(({ process }) => process.ask(`expect ${events}`, "expecting")));
    clients.pause();
    for (const { proxy } of clients.all) proxy.cut();
    await server.burst(events);
    for (const { name, process } of clients.all) {
      const resumedMs = performance.now();
      process.resume();
      try {
        const seen = await process.next("seen", backMsMax);
        const backMs = performance.now() - resumedMs;
        await run.record({
          ...keyOf(server, { events, name, round }),
          values: {
            eventsPerSecond: (seen.events / seen.ms) * 1000,
            cpuMicrosecondsPerEvent: (seen.cpuMs / seen.events) * 1000,
            backMs,
          },
        });
      } catch (error) {
        run.fail(`${name}: ${error instanceof Error ? error.message : String(error)}`, "controller-catch-up");
      }
      process.pause();
    }
  }
}

function keyOf(
  server: BenchServer,
  { events, name, round }: { readonly events: number; readonly name: string; readonly round: number },
): { section: "controller-catch-up"; case: string; server: string; round: number } {
  return { section: "controller-catch-up", case: caseText(server, events), server: name, round };
}
