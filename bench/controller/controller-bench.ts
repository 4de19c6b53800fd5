import { loadavg } from "node:os";
import { realControlPlaneAbsence } from "../../e2e/harness/real-control-plane.ts";
import type { BenchRunOptions } from "../report/bench-run-options.ts";
import type { ReportFrame } from "../report/report-text.ts";
import { writeSection } from "../report/result-files.ts";
import type { ResultFiles } from "../report/result-files.ts";
import { SampleJournal } from "../report/sample-journal.ts";
import type { Figure, Reference } from "../report/sample.ts";
import { reportedCases } from "../report/section-report.ts";
import { benchClients } from "./bench-clients.ts";
import type { BenchClient } from "./bench-clients.ts";
import type { BenchServer } from "./bench-server.ts";
import { catchUpFigures, measureCatchUp } from "./catch-up-section.ts";
import { ControllerRun } from "./controller-run.ts";
import type { ControllerSettings } from "./controller-run.ts";
import { halfOpenFigures, measureHalfOpen } from "./half-open-section.ts";
import { liveFigures, measureLive } from "./live-section.ts";
import { OwnBenchServer } from "./own-bench-server.ts";
import { RealBenchServer } from "./real-bench-server.ts";
import { measureReconcile, reconcileFigures } from "./reconcile-section.ts";
import { controllerSectionNames } from "./section-names.ts";
import type { ControllerSectionName } from "./section-names.ts";
import { StandingClients } from "./standing-clients.ts";
import { measureSync, syncFigures } from "./sync-section.ts";

export interface ControllerBenchOptions extends BenchRunOptions<ControllerSettings> {
  readonly sections: readonly ControllerSectionName[];
  /** Names of the clients to measure; all where it is absent. */
  readonly clients?: readonly string[];
}

interface Section {
  readonly title: string;
  readonly figures: readonly Figure[];
  readonly references: readonly Reference[];
}

const clientGo = [
  { server: "client-go, JSON", sign: "/j" },
  { server: "client-go, protobuf", sign: "/p" },
];

const sections: Readonly<Record<ControllerSectionName, Section>> = {
  "controller-sync": {
    title: "Initial sync, and the memory of the copy, each client alone in a new process",
    figures: syncFigures,
    references: clientGo,
  },
  "controller-catch-up": {
    title: "Catching up after a gap in which every object was changed once, each client alone",
    figures: catchUpFigures,
    references: clientGo,
  },
  "controller-live": {
    title: "Live updates one by one, all clients at once",
    figures: liveFigures,
    references: clientGo,
  },
  "controller-half-open": {
    title: "A connection that is dead without a word, all clients at once",
    figures: halfOpenFigures,
    references: clientGo,
  },
  "controller-reconcile": {
    title: "Controllers, alone: all keys queued at the start, each reconciled once",
    figures: reconcileFigures,
    references: [{ server: "controller-runtime", sign: "/c" }],
  },
};

/**
 * Measures the informer and the controller beside those of client-go, controller-runtime and `@kubernetes/client-node`, against
 * one kube-apiserver with etcd and one API server of ours, and writes the result as it goes.
 *
 * @returns what failed: clients that did not come up or lost something, with CI=true also what is not installed
 */
export async function runControllerBench(options: ControllerBenchOptions): Promise<readonly string[]> {
  const { settings, smoke, resume } = options;
  const journal = await SampleJournal.open(options.journalFile, {
    settings: JSON.stringify({ ...settings, smoke, clients: options.clients }),
    resume,
  });
  const load = (loadavg()[0] ?? 0).toFixed(1);
  const skipped: string[] = [];
  const clients = await presentClients(options, skipped);
  const needsServers = options.sections.some((name) => name !== "controller-reconcile");
  const servers = needsServers ? await startServers(skipped) : [];
  try {
    const versions: Record<string, string> = {};
    for (const client of clients) versions[client.name] = await client.version();
    let done = false;
    const run = new ControllerRun({
      ...{ settings, journal, clients, servers },
      save: (name) =>
        writeSection(resultFiles(options), name, {
          command: options.command,
          measured: new Date().toISOString(),
          complete: done,
          conditions: `${settings.rounds} ${settings.rounds === 1 ? "round" : "rounds"} (${settings.largeRounds} of the larger sizes); load average before it ${load}`,
          versions,
          remarks: run.remarksOf(name),
          cases: reportedCases(journal.samples, { section: name, ...sections[name] }),
        }),
    });
    for (const reason of skipped) {
      if (process.env["CI"] === "true") run.fail(reason);
      else run.remark(reason);
    }
    await measure(run, options.sections);
    done = true;
    for (const name of options.sections) await run.save(name);
    return run.failures;
  } finally {
    for (const server of servers) await server[Symbol.asyncDispose]();
  }
}

async function measure(run: ControllerRun, wanted: readonly ControllerSectionName[]): Promise<void> {
  const isWanted = (name: ControllerSectionName): boolean => wanted.includes(name);
  const standing = ["controller-catch-up", "controller-live", "controller-half-open"] as const;
  for (const server of standing.some(isWanted) ? run.servers : []) {
    await using clients = await StandingClients.start(run, server);
    if (isWanted("controller-catch-up")) await measureCatchUp(run, server, clients);
    if (isWanted("controller-live")) await measureLive(run, server, clients);
    // Whether a dead connection is noticed is the client's doing: one server tells it.
    if (isWanted("controller-half-open") && server === run.servers[0])
      await measureHalfOpen(run, server, clients);
  }
  // Last of those with a server: it fills it further.
  if (isWanted("controller-sync")) await measureSync(run);
  if (isWanted("controller-reconcile")) await measureReconcile(run);
}

async function presentClients(
  { clients: wanted }: ControllerBenchOptions,
  skipped: string[],
): Promise<readonly BenchClient[]> {
  const present: BenchClient[] = [];
  for (const client of benchClients.filter(({ name }) => wanted?.includes(name) ?? true)) {
    const absence = await client.absence();
    if (absence === undefined) present.push(client);
    else skipped.push(`${client.name}: skipped, ${absence}`);
  }
  return present;
}

async function startServers(skipped: string[]): Promise<readonly BenchServer[]> {
  const absence = await realControlPlaneAbsence();
  if (absence !== undefined) skipped.push(`kube-apiserver: skipped, ${absence}`);
  const real = absence === undefined ? [await RealBenchServer.start()] : [];
  return [...real, await OwnBenchServer.start()];
}

const resultFiles = ({
  resultFolder,
  machine,
}: ControllerBenchOptions): ResultFiles<ControllerSectionName> => ({
  ...{ resultFolder, machine, name: "controller", frame: frame(machine), order: controllerSectionNames },
  sectionOf: (name) => ({ ...sections[name], subject: "client" }),
});

const frame = (machine: string): ReportFrame => ({
  title: "Informers and controllers, measured side by side",
  reading: [
    `${machine}. Each table is one run against one server, clients in turn or at once; median (min–max) of the rounds. \`/j\` and`,
    "`/p` are the median's ratio to client-go's with JSON and with protobuf, `/c` to controller-runtime's, in the same run. CPU is user",
    "and system time of the client's whole process. Objects are ConfigMaps with 1 KB of data, about 1.5 KB of JSON with metadata and",
    "managed fields, which all clients keep. Meridian keeps octets and decodes on demand; `decoding` has a handler that takes objects.",
    "`stream`: the initial state comes as a watch. Meridian and client-go have kube-apiserver compress lists, which is the default of both;",
    "what is in these objects shrinks to a twentieth. Compare ratios, not figures of two runs.",
  ],
});
