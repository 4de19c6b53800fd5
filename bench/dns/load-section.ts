import { wrongAnswers, watchedAnswers } from "./answer-watch.ts";
import { askCookie } from "./ask-cookie.ts";
import type { BenchRun } from "./bench-run.ts";
import { dnsperf } from "./dnsperf.ts";
import type { DnsperfFigures, DnsperfOptions } from "./dnsperf.ts";
import { kindsOf, nxdomainShare } from "./query-file.ts";
import type { QueryMix } from "./query-file.ts";
import type { RunningServer } from "./running-server.ts";
import { ServerSet } from "./server-set.ts";
import type { Figure, Sample } from "../report/sample.ts";
import type { SectionName } from "./section-names.ts";
import { udpBufferErrors } from "./session-figures.ts";

/** A load on servers that run already: one table of the report. */
export interface LoadCase {
  readonly section: SectionName;
  readonly case: string;
  readonly hosts: number;
  readonly mix: QueryMix;
  readonly transport?: "udp" | "tcp";
  readonly cookie?: boolean;
  readonly pace?: number;
}

export const loadFigures: readonly Figure[] = [
  { key: "queriesPerSecond", title: "q/s", digits: 0, compared: true },
  { key: "cpuMicrosecondsPerQuery", title: "µs CPU/query", digits: 2, compared: true },
  { key: "answeredPercent", title: "answered %", digits: 3, compared: false },
  { key: "clientBusyPercent", title: "client busy %", digits: 0, compared: false },
  { key: "responseOctets", title: "octets", digits: 0, compared: false },
  { key: "bufferErrors", title: "buffer errors", digits: 0, compared: false },
];

export const latencyFigures: readonly Figure[] = [
  { key: "latencyMean", title: "mean µs", digits: 0, compared: true },
  { key: "latencyP50", title: "p50 µs", digits: 0, compared: true },
  { key: "latencyP99", title: "p99 µs", digits: 0, compared: true },
  { key: "cpuMicrosecondsPerQuery", title: "µs CPU/query", digits: 2, compared: false },
  { key: "queriesPerSecond", title: "q/s", digits: 0, compared: false },
  { key: "answeredPercent", title: "answered %", digits: 3, compared: false },
];

/** Starts all servers over one zone, runs the cases' rounds in turn, only the measured server awake, and stops them. */
export async function measureLoads(
  run: BenchRun,
  options: { readonly hosts: number; readonly cookies: boolean },
  cases: readonly LoadCase[],
): Promise<void> {
  const open = cases.filter((load) => roundsLeft(run, load).length > 0);
  if (open.length === 0) return;
  await using servers = await ServerSet.start(run, run.drivers, options);
  for (const load of open) {
    for (const name of servers.names) await servers.awake(name, (server) => warmUp(run, server, load));
    for (const { round, names } of roundsLeft(run, load)) {
      for (const name of servers.names.filter((server) => names.has(server))) {
        await servers.awake(name, (server) => measureRound(run, server, { load, round }));
      }
    }
  }
}

function roundsLeft(
  run: BenchRun,
  load: LoadCase,
): { readonly round: number; readonly names: ReadonlySet<string> }[] {
  return Array.from({ length: run.settings.rounds }, (_, round) => ({
    round,
    names: new Set(
      run.drivers
        .map(({ name }) => name)
        .filter((server) => !run.journal.has({ section: load.section, case: load.case, server, round })),
    ),
  })).filter(({ names }) => names.size > 0);
}

async function warmUp(run: BenchRun, server: RunningServer, load: LoadCase): Promise<void> {
  const wrong = await wrongAnswers({ port: server.port, hosts: load.hosts, kinds: kindsOf(load.mix) }, 0);
  if (wrong.length > 0) run.fail(`${server.name}, ${load.case}: ${wrong.join("; ")}`);
  await runLoad(run, server, { load, cores: "1", threads: 1, seconds: run.settings.warmSeconds });
}

async function measureRound(
  run: BenchRun,
  server: RunningServer,
  { load, round }: { readonly load: LoadCase; readonly round: number },
): Promise<void> {
  const values = await measuredLoad(run, server, {
    load,
    cores: "1",
    threads: 1,
    seconds: run.settings.seconds,
  });
  const sample: Sample<SectionName> = {
    section: load.section,
    case: load.case,
    server: server.name,
    round,
    values,
  };
  await run.record(sample);
  console.error(
    `${load.section} ${load.case}, round ${round + 1}: ${server.name} ${Math.round(values["queriesPerSecond"]!)} q/s, ` +
      `${values["cpuMicrosecondsPerQuery"]!.toFixed(2)} µs CPU/query`,
  );
}

export interface LoadPlacement {
  readonly load: LoadCase;
  /** The client's cores. */
  readonly cores: string;
  /** The client's threads. */
  readonly threads: number;
  readonly seconds: number;
}

/** One measured load on a server, with its answers watched. */
export async function measuredLoad(
  run: BenchRun,
  server: RunningServer,
  placement: LoadPlacement,
): Promise<Record<string, number>> {
  const { load } = placement;
  const errorsBefore = await udpBufferErrors();
  const cpuBefore = await server.cpuSeconds();
  const watched = await watchedAnswers(
    { port: server.port, hosts: load.hosts, kinds: kindsOf(load.mix) },
    runLoad(run, server, placement).then(async (figures) => ({
      figures,
      cpu: (await server.cpuSeconds()) - cpuBefore,
      bufferErrors: (await udpBufferErrors()) - errorsBefore,
    })),
  );
  const { figures, cpu, bufferErrors } = watched.result;
  const wrong = [...watched.wrong, ...wrongRcodes(figures, load.mix)];
  if (wrong.length > 0) run.fail(`${server.name}, ${load.case}, under load: ${wrong.slice(0, 5).join("; ")}`);
  if (figures.lost > 0)
    run.remark(`${server.name}, ${load.section} ${load.case}: ${figures.lost} of ${figures.sent} lost`);
  const { mean, p50, p99 } = figures.latencyMicroseconds;
  return {
    queriesPerSecond: figures.queriesPerSecond,
    cpuMicrosecondsPerQuery: (cpu / figures.completed) * 1e6,
    answeredPercent: (figures.completed / figures.sent) * 100,
    clientBusyPercent: figures.clientBusy * 100,
    responseOctets: figures.responseOctets,
    bufferErrors,
    latencyMean: mean,
    ...(p50 === undefined ? {} : { latencyP50: p50 }),
    ...(p99 === undefined ? {} : { latencyP99: p99 }),
  };
}

async function runLoad(
  run: BenchRun,
  server: RunningServer,
  { load, cores, threads, seconds }: LoadPlacement,
): Promise<DnsperfFigures> {
  const options: DnsperfOptions = {
    port: server.port,
    queryFile: await run.queryFile(load.mix, load.hosts),
    transport: load.transport ?? "udp",
    seconds,
    threads,
    clients: 8,
    outstanding: 100,
    ...(load.pace === undefined ? {} : { pace: load.pace }),
    ...(load.cookie === true ? { cookie: await askCookie(server.port) } : {}),
    percentiles: load.pace !== undefined,
    placement: run.placement.realTime(cores),
  };
  return dnsperf(options);
}

/** The answers' rcodes must be those of the mix: a server that refuses is fast. */
function wrongRcodes(figures: DnsperfFigures, mix: QueryMix): string[] {
  const share = (figures.rcodes["NXDOMAIN"] ?? 0) / figures.completed;
  const known = (figures.rcodes["NOERROR"] ?? 0) + (figures.rcodes["NXDOMAIN"] ?? 0);
  const right = known === figures.completed && Math.abs(share - nxdomainShare(mix)) < 0.02;
  return right && figures.completed > 0 ? [] : [`rcodes ${JSON.stringify(figures.rcodes)}`];
}
