import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, resolve } from "node:path";
import type { Endpoint } from "@meridian/runtime";
import { lastText, type Invocation, type OptionDefinition } from "../cli/command.ts";
import { parseEndpoint } from "../cli/endpoint-option.ts";
import { OptionReader } from "../cli/option-values.ts";
import type { DnsSettings, FileZoneSettings } from "../dns/dns-settings.ts";
import { readDnsConfig, type DnsConfig } from "../dns/read-dns-config.ts";
import { systemCodeOf } from "../fleet/private-file.ts";
import { MeridianError } from "../meridian-error.ts";

/** What is served. */
export const zoneOptions: readonly OptionDefinition[] = [
  { name: "config", value: "FILE", help: "all settings in YAML, several zones; see docs/dns-server.md" },
  { name: "zone-file", value: "FILE", multiple: true, help: "a master file; several for several zones" },
  {
    name: "origin",
    value: "NAME",
    multiple: true,
    help: "origin of each file, in order, where it has no $ORIGIN",
  },
];

/** How it is served. Each wins over the same setting in the configuration file. */
export const servingOptions: readonly OptionDefinition[] = [
  { name: "listen", value: "ADDR:PORT", multiple: true, help: "where to listen; [ADDR]:PORT for IPv6" },
  {
    name: "workers",
    value: "N",
    help: "threads that answer UDP, for each --listen; default: one less than cores, at least 1",
  },
  {
    name: "datapath",
    value: "auto|mmsg|dgram",
    help: "mmsg: threads with recvmmsg (Linux); dgram: the main thread; default auto: mmsg where it works",
  },
  {
    name: "metrics",
    value: "ADDR:PORT",
    help: "serve /metrics, /healthz and /readyz over HTTP; default off",
  },
  {
    name: "query-log",
    value: "FILE",
    help: "log questions as JSON lines; - is standard output; default off",
  },
  { name: "no-rate-limit", help: "answer all of everything, to anybody who asks" },
];

/** Reads the settings, again at each call: those of the configuration file may have changed. */
export type ReadDnsSettings = () => Promise<DnsSettings>;

/** Understands the command line. @throws MeridianError `Usage` */
export function parseDnsOptions(
  invocation: Invocation,
  needs: { readonly listen: boolean },
): ReadDnsSettings {
  const reader = new OptionReader();
  const path = lastText(invocation, "config");
  const zones = parseZoneFiles(invocation, reader);
  const flags = parseServing(invocation, reader);
  if (path === undefined && zones.length === 0)
    reader.problem("--config FILE or --zone-file FILE is missing");
  if (path !== undefined && zones.length > 0)
    reader.problem("--zone-file does not go with --config; list the file under zones");
  if (path === undefined && needs.listen && flags.listen === undefined)
    reader.problem("--listen ADDR:PORT is missing, for example --listen 127.0.0.1:5300");
  reader.finish();
  return async () => {
    const config = path === undefined ? { zones } : await readConfigFile(path);
    const settings = withDefaults({ ...config, ...flags });
    if (needs.listen && settings.listen.length === 0)
      throw new MeridianError("BadFile", `${path}: has no listen; add it, or use --listen ADDR:PORT`);
    return settings;
  };
}

function parseZoneFiles(invocation: Invocation, reader: OptionReader): readonly FileZoneSettings[] {
  const paths = invocation.text.get("zone-file") ?? [];
  const origins = invocation.text.get("origin") ?? [];
  if (origins.length > paths.length)
    reader.problem(`there are more --origin (${origins.length}) than --zone-file (${paths.length})`);
  return paths.map((path, at) => ({
    kind: "file",
    at: "--zone-file",
    file: { path, at: "--zone-file" },
    ...(origins[at] === undefined ? {} : { origin: origins[at] }),
    choices: [],
    transfers: [],
    notify: [],
  }));
}

function parseServing(
  invocation: Invocation,
  reader: OptionReader,
): Partial<Pick<DnsSettings, "listen" | "workers" | "datapath" | "metrics" | "queryLog" | "rateLimit">> {
  const listen = invocation.text.get("listen");
  const workers = lastText(invocation, "workers");
  const datapath = lastText(invocation, "datapath");
  const metrics = lastText(invocation, "metrics");
  const metricsAt = metrics === undefined ? undefined : parseEndpoint(metrics, reader, "--metrics");
  const queryLog = lastText(invocation, "query-log");
  return {
    ...(listen === undefined ? {} : { listen: listen.flatMap((text) => parseEndpoint(text, reader) ?? []) }),
    ...(workers === undefined
      ? {}
      : {
          workers: reader.integer(workers, {
            option: "--workers",
            min: 1,
            max: threadsFor(listen?.length ?? 1),
            fallback: 1,
          }),
        }),
    ...(datapath === undefined
      ? {}
      : {
          datapath: reader.oneOf(datapath, {
            option: "--datapath",
            values: ["auto", "mmsg", "dgram"],
            fallback: "auto",
          }),
        }),
    ...(metricsAt === undefined ? {} : { metrics: metricsAt }),
    ...(queryLog === undefined ? {} : { queryLog: { path: queryLog === "-" ? "-" : resolve(queryLog) } }),
    ...(invocation.switches.has("no-rate-limit") ? { rateLimit: "off" } : {}),
  };
}

const threadsMax = 64;

/** The most threads for each endpoint. */
function threadsFor(endpoints: number): number {
  return Math.max(1, Math.floor(threadsMax / Math.max(1, endpoints)));
}

async function readConfigFile(path: string): Promise<DnsConfig> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new MeridianError("BadFile", `cannot read ${path} (${systemCodeOf(error)}); check --config`, {
      cause: error,
    });
  }
  const { config, problems } = readDnsConfig(text, { file: path, folder: dirname(resolve(path)) });
  if (config === undefined) throw new MeridianError("BadFile", problems.join("\n"));
  return config;
}

function withDefaults(given: DnsConfig): DnsSettings {
  const listen: readonly Endpoint[] = given.listen ?? [];
  const threads = Math.max(1, availableParallelism() - 1);
  return {
    ...{ listen, datapath: "auto", answers: {}, proxies: [], tcp: {}, rateLimit: {}, keys: [] },
    ...{ cookieSecrets: undefined, tls: undefined, https: undefined, metrics: undefined },
    ...{ queryLog: undefined, geo: undefined },
    ...given,
    workers: Math.min(threadsFor(listen.length), given.workers ?? threads),
  };
}
