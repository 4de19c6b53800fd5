import { open } from "node:fs/promises";
import { Authority, serveDns, ZoneFileReader, type Zone, type ZoneFileResult } from "@meridian/dns";
import { formatEndpoint, type Endpoint } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import type { Command, Invocation } from "../cli/command.ts";
import { parseEndpoint } from "../cli/endpoint-option.ts";
import { OptionReader } from "../cli/option-values.ts";
import type { Terminal } from "../cli/terminal.ts";
import { whenAborted } from "../cli/when-aborted.ts";
import { systemCodeOf } from "../fleet/private-file.ts";
import { MeridianError } from "../meridian-error.ts";
import { pinoLogger } from "../pino-logger.ts";
import { datapathOptions, openDatapath, parseDatapath, type DatapathOptions } from "./dns-datapath.ts";

/** Large enough that reading is none of the work of loading. */
const pieceOctets = 1 << 20;

/** `meridian dns`: the authoritative server alone, over zone files. */
export const dnsCommand: Command = {
  words: ["dns"],
  positionals: [],
  summary: "serve zone files with the authoritative DNS server alone",
  details: [
    "Answers over UDP and TCP until SIGTERM or Ctrl-C. SIGHUP reads the files again; one with mistakes is reported",
    "with its lines, and the zone served before stays.",
  ],
  options: [
    { name: "zone-file", value: "FILE", multiple: true, help: "a master file; several for several zones" },
    {
      name: "origin",
      value: "NAME",
      multiple: true,
      help: "origin of each file, in order, where it has no $ORIGIN",
    },
    { name: "listen", value: "ADDR:PORT", multiple: true, help: "where to listen; [ADDR]:PORT for IPv6" },
    ...datapathOptions,
  ],
  async run(invocation, terminal) {
    const options = parseDnsOptions(invocation);
    const log = pinoLogger({ format: terminal.interactive ? "pretty" : "json", level: "info" });
    const runtime = nodeRuntime({ dataFolder: ".", log });
    const authority = new Authority({ random: runtime.random, clock: runtime.clock });
    for (const zone of await readZones(options.files)) authority.setZone(zone);
    const workers = openDatapath(runtime, authority, options.datapath);
    await using server = await serveDns(runtime, {
      authority,
      listen: options.listen,
      ...(workers === undefined ? {} : { serveUdp: workers.serveUdp }),
    });
    const origins = authority.zones.map((zone) => zone.origin).join(", ");
    terminal.print(`Serving ${origins} at ${server.local.map(formatEndpoint).join(", ")}`);
    terminal.onNudge(() => void reload(terminal, { authority, files: options.files }));
    await whenAborted(terminal.stopping);
    return 0;
  },
};

interface ZoneFileOption {
  readonly path: string;
  readonly origin?: string;
}

interface DnsOptions {
  readonly files: readonly ZoneFileOption[];
  readonly listen: readonly Endpoint[];
  readonly datapath: DatapathOptions;
}

function parseDnsOptions(invocation: Invocation): DnsOptions {
  const reader = new OptionReader();
  const paths = invocation.text.get("zone-file") ?? [];
  const origins = invocation.text.get("origin") ?? [];
  const listen = invocation.text.get("listen") ?? [];
  if (paths.length === 0) reader.problem("--zone-file FILE is missing");
  if (origins.length > paths.length)
    reader.problem(`there are more --origin (${origins.length}) than --zone-file (${paths.length})`);
  if (listen.length === 0)
    reader.problem("--listen ADDR:PORT is missing, for example --listen 127.0.0.1:5300");
  const endpoints = listen.flatMap((text) => parseEndpoint(text, reader) ?? []);
  const datapath = parseDatapath(invocation, reader);
  reader.finish();
  return {
    files: paths.map((path, at) => ({ path, ...(origins[at] === undefined ? {} : { origin: origins[at] }) })),
    listen: endpoints,
    datapath,
  };
}

/** @throws MeridianError `BadFile` with every problem of every file */
async function readZones(files: readonly ZoneFileOption[]): Promise<readonly Zone[]> {
  const zones: Zone[] = [];
  const problems: string[] = [];
  for (const file of files) {
    const parsed = await readZone(file);
    if (parsed.zone !== undefined) zones.push(parsed.zone);
    else problems.push(...parsed.problems.map((problem) => `${placeOf(file, problem)}: ${problem.message}`));
  }
  if (problems.length > 0) throw new MeridianError("BadFile", problems.join("\n"));
  return zones;
}

/** Line 0 is the file as a whole. */
function placeOf(file: ZoneFileOption, problem: { readonly line: number }): string {
  return problem.line === 0 ? file.path : `${file.path}:${problem.line}`;
}

/** Reads a file piece by piece, so that a large one takes no more memory than its zone. */
async function readZone({ path, origin }: ZoneFileOption): Promise<ZoneFileResult> {
  const reader = new ZoneFileReader(origin === undefined ? {} : { origin });
  const piece = new Uint8Array(pieceOctets);
  try {
    const file = await open(path);
    try {
      for (;;) {
        const { bytesRead } = await file.read(piece);
        if (bytesRead === 0) return reader.end();
        reader.write(piece.subarray(0, bytesRead));
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new MeridianError(
      "BadFile",
      `cannot read the zone file ${path} (${systemCodeOf(error)}); check --zone-file`,
      { cause: error },
    );
  }
}

async function reload(
  terminal: Terminal,
  given: { readonly authority: Authority; readonly files: readonly ZoneFileOption[] },
): Promise<void> {
  try {
    const zones = await readZones(given.files);
    const kept = new Set(zones.map((zone) => zone.origin));
    for (const { origin } of given.authority.zones) if (!kept.has(origin)) given.authority.removeZone(origin);
    for (const zone of zones) given.authority.setZone(zone);
    terminal.print(`Read ${given.files.map((file) => file.path).join(", ")} again`);
  } catch (error) {
    terminal.complain(
      `kept the zones as they were: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
