import { join } from "node:path";
import type { Runtime } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import type { Command, Invocation } from "../cli/command.ts";
import { dataOption } from "../cli/data-option.ts";
import { storageOption } from "../cli/storage-option.ts";
import type { Terminal } from "../cli/terminal.ts";
import { whenAborted } from "../cli/when-aborted.ts";
import { ClosingStack } from "../cluster/closing-stack.ts";
import { examplesFolder, readExampleObjects, type ExampleObjects } from "../examples/example-objects.ts";
import { chooseLayout } from "../fleet/choose-layout.ts";
import { Fleet } from "../fleet/fleet.ts";
import { clusterNames, playgroundZone, type Addressing, type FleetLayout } from "../fleet/fleet-layout.ts";
import { FolderLock } from "../fleet/folder-lock.ts";
import { clearLeftovers } from "../fleet/leftovers.ts";
import { readTextIfPresent, replacePrivateFile } from "../fleet/private-file.ts";
import { pinoLogger } from "../pino-logger.ts";
import { parseUpOptions, type UpOptions } from "./up-options.ts";
import { bringUp } from "./bring-up.ts";
import { upReport } from "./up-report.ts";

/** `meridian up`: the playground, from an empty folder to answers. */
export const upCommand: Command = {
  words: ["up"],
  positionals: [],
  summary: "start a fleet of clusters on this machine, each with API server, operator and DNS server",
  details: [
    "Each cluster is a process of its own, and so is the parent DNS server, which delegates",
    `${playgroundZone.name} to all of them. It stays in the foreground; Ctrl-C stops everything.`,
    "When everything answers, DIR/fleet.json tells scripts where. A second start finds its data again.",
    "The operators' settings are read from the environment under k8gb's names (RECONCILE_REQUEUE_SECONDS ...).",
  ],
  options: [
    { name: "clusters", value: "N", help: `how many, from ${clusterNames.join(" ")} (default 3)` },
    dataOption,
    { name: "ephemeral", help: "keep objects in memory only; they end with the fleet" },
    storageOption,
    {
      name: "datapath",
      value: "auto|mmsg|dgram",
      help: "how datagrams are answered, as of `meridian dns` (default dgram); several with commas: clusters take turns",
    },
    { name: "port", value: "P", help: "port of the DNS servers (default 5300; 53 needs root)" },
    { name: "single-address", help: "use 127.0.0.1 only, with a port for each server, as on macOS" },
    { name: "no-examples", help: "apply no example manifests" },
    {
      name: "lab",
      value: "ADDR:PORT",
      help: "where to serve the informer lab (default 127.0.0.1:8090, or a free port)",
    },
    { name: "no-lab", help: "serve no informer lab" },
    { name: "no-restart", help: "leave a process that died down until SIGHUP or `meridian start`" },
  ],
  async run(invocation: Invocation, terminal: Terminal): Promise<number> {
    const options = parseUpOptions(invocation);
    const closing = new ClosingStack();
    try {
      closing.use(await FolderLock.acquire(options.folder, "meridian up"));
      return await runFleet(terminal, { options, closing });
    } finally {
      await closing.close();
    }
  },
};

const layoutFileName = "layout.json";

async function runFleet(
  terminal: Terminal,
  { options, closing }: { readonly options: UpOptions; readonly closing: ClosingStack },
): Promise<number> {
  const log = pinoLogger({ format: "pretty", level: "error" });
  const runtime = nodeRuntime({ dataFolder: options.folder, log });
  await clearLeftovers(runtime.clock, options.folder);
  const examples = await readExamples(options, terminal);
  const layout = await findLayout(runtime, { options, closing, terminal });

  const fleet = await Fleet.prepare(runtime, {
    folder: options.folder,
    layout,
    ...{ storage: options.storage, datapaths: options.datapaths },
    restart: options.restart,
    environment: terminal.environment,
    progress: (line) => terminal.print(line),
    complain: (line) => terminal.complain(line),
  });
  closing.defer(() => fleet.stop(terminal.forced));
  terminal.onNudge(() => {
    for (const label of fleet.wake()) terminal.print(`starting ${label}`);
  });

  const count = layout.clusters.length;
  terminal.print(`Starting ${count} ${count === 1 ? "cluster" : "clusters"} in ${options.folder}`);
  const interrupted = whenAborted(terminal.stopping).then(() => "interrupted" as const);
  const started = bringUp(runtime, { fleet, terminal, examples });
  if ((await Promise.race([started, interrupted])) === "interrupted") {
    started.catch(() => {}); // its processes are being ended under it
    terminal.print("Interrupted while starting: stopping");
    return 130;
  }
  await fleet.publish();
  // Loaded when it is needed: the API server has nothing else to do in this process.
  const { openLabBeside } = await import("../lab/open-lab-beside.ts");
  const lab = await openLabBeside(runtime, {
    listen: options.lab,
    complain: (line) => terminal.complain(line),
  });
  if (lab !== undefined) closing.use(lab);
  for (const line of await upReport(terminal, {
    fleet,
    labUrl: lab?.url,
    folder: options.folder,
    examples: options.examples,
  })) {
    terminal.print(line);
  }
  await interrupted;
  terminal.print("Stopping");
  await closing.close();
  terminal.print("Stopped");
  return 0;
}

async function findLayout(
  runtime: Runtime,
  given: { readonly options: UpOptions; readonly closing: ClosingStack; readonly terminal: Terminal },
): Promise<FleetLayout> {
  const { options, closing, terminal } = given;
  const path = join(options.folder, layoutFileName);
  const remembered = parseAddressing(await readTextIfPresent(path));
  const chosen = await chooseLayout(runtime.network, {
    clusterCount: options.clusterCount,
    singleAddress: options.singleAddress,
    ...(options.dnsPort === undefined ? {} : { dnsPort: options.dnsPort }),
    ...(remembered === undefined ? {} : { remembered }),
  });
  closing.use(chosen.claim);
  for (const note of chosen.notes) terminal.complain(note);
  await replacePrivateFile(path, `${JSON.stringify(chosen.layout.addressing)}\n`);
  return chosen.layout;
}

/** A damaged file costs nothing but the old addresses. */
function parseAddressing(text: string | undefined): Addressing | undefined {
  try {
    const value = JSON.parse(text ?? "null") as Addressing | null;
    if (value?.kind === "own-addresses" && Number.isInteger(value.network)) return value;
    if (value?.kind === "single-address" && Number.isInteger(value.offset)) return value;
  } catch {
    // The same as none.
  }
  return undefined;
}

async function readExamples(options: UpOptions, terminal: Terminal): Promise<ExampleObjects | undefined> {
  if (!options.examples) return undefined;
  const examples = await readExampleObjects(examplesFolder, clusterNames.slice(0, options.clusterCount));
  for (const { path, missing } of examples.leftOut) {
    terminal.print(`examples/${path} names ${missing.join(", ")}, which this fleet does not have: left out`);
  }
  return examples;
}
