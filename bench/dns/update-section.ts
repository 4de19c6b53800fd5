import path from "node:path";
import { fileURLToPath } from "node:url";
import { output } from "../../e2e/harness/command.ts";
import { summary } from "../summary.ts";
import type { BenchRun } from "./bench-run.ts";
import { hostsText } from "./bench-zone.ts";
import type { RunningServer } from "./running-server.ts";
import type { Figure } from "../report/sample.ts";
import type { ServerDriver } from "./server-driver.ts";
import { ServerSet } from "./server-set.ts";
import type { UpdateOrder, UpdateTimes } from "./update-client.ts";

export const updateFigures: readonly Figure[] = [
  { key: "seenMs", title: "seen, ms", digits: 2, compared: true },
  { key: "seenMsMax", title: "slowest seen, ms", digits: 2, compared: false },
  { key: "acceptedMs", title: "accepted, ms", digits: 2, compared: false },
  { key: "cpuMicrosecondsPerUpdate", title: "µs CPU/update", digits: 0, compared: true },
];

const changesSeen = 20;
const changesWeighed = 100;
const client = path.join(path.dirname(fileURLToPath(import.meta.url)), "update-client.js");

/**
 * One name changed by a signed UPDATE: the time until an answer shows it, and the server's CPU for one such change, at each size.
 * A round's time is its median of 20 changes.
 */
export async function measureUpdates(run: BenchRun): Promise<void> {
  const drivers: ServerDriver[] = [];
  for (const driver of run.drivers) {
    if (await driver.can.updates()) drivers.push(driver);
    else run.remark(`${driver.name}: skipped in dns-update, it takes no updates`);
  }
  for (const hosts of run.settings.sizes) {
    const key = (server: string, round: number) =>
      ({ section: "dns-update", case: hostsText(hosts), server, round }) as const;
    const rounds = Array.from({ length: run.settings.rounds }, (_, round) => round);
    if (drivers.every(({ name }) => rounds.every((round) => run.journal.has(key(name, round))))) continue;
    await using servers = await ServerSet.start(run, drivers, { hosts, updates: true });
    // Round -1 opens journals and warms compilers.
    for (const round of [-1, ...rounds]) {
      for (const name of servers.names.filter((server) => !run.journal.has(key(server, round)))) {
        const values = await servers.awake(name, (server) => measureRound(run, server, { hosts, round }));
        if (values === undefined || round < 0) continue;
        await run.record({ ...key(name, round), values });
        console.error(
          `dns-update ${hostsText(hosts)}, round ${round + 1}: ${name} ${values["seenMs"]!.toFixed(2)} ms`,
        );
      }
    }
  }
}

async function measureRound(
  run: BenchRun,
  server: RunningServer,
  { hosts, round }: { readonly hosts: number; readonly round: number },
): Promise<Record<string, number> | undefined> {
  const order = { port: server.port, hosts, firstHost: (round + 1) * changesSeen };
  // An address that a host has already would look like a change already seen. The CPU's changes make up to 10 passes.
  const firstChange = 30 * (round + 1);
  const changes = Math.min(changesSeen, hosts);
  const seen = await runClient(run, { ...order, changes, firstChange, watch: true });
  const cpuBefore = await server.cpuSeconds();
  const weighed = await runClient(run, {
    ...order,
    changes: changesWeighed,
    firstChange: firstChange + 5,
    watch: false,
  });
  const cpu = (await server.cpuSeconds()) - cpuBefore;
  const refused = [seen, weighed].some(({ rcodes }) => Object.keys(rcodes).some((rcode) => rcode !== "0"));
  if (refused) {
    run.fail(
      `${server.name}: refuses updates, rcodes ${JSON.stringify(seen.rcodes)} ${JSON.stringify(weighed.rcodes)}`,
    );
    return undefined;
  }
  const times = summary(seen.seenMs);
  return {
    seenMs: times.p50,
    seenMsMax: times.max,
    acceptedMs: summary(seen.acceptedMs).p50,
    cpuMicrosecondsPerUpdate: (cpu / changesWeighed) * 1e6,
  };
}

async function runClient(run: BenchRun, order: UpdateOrder): Promise<UpdateTimes> {
  const [program, ...args] = [
    ...run.placement.realTime("1"),
    process.execPath,
    client,
    JSON.stringify(order),
  ];
  return JSON.parse(await output(program, args, { timeoutMs: 120_000 })) as UpdateTimes;
}
