import { parse } from "node:path";
import { nodeRuntime } from "@meridian/runtime/node";
import type { Logger, Runtime } from "@meridian/runtime";
import type { Command } from "../cli/command.ts";
import type { Terminal } from "../cli/terminal.ts";
import { whenAborted } from "../cli/when-aborted.ts";
import { DnsService } from "../dns/dns-service.ts";
import type { DnsSettings } from "../dns/dns-settings.ts";
import { messageOf } from "../meridian-error.ts";
import { pinoLogger } from "../pino-logger.ts";
import { parseDnsOptions, servingOptions, zoneOptions, type ReadDnsSettings } from "./dns-options.ts";

/** `meridian dns`: the authoritative server alone. */
export const dnsCommand: Command = {
  words: ["dns"],
  positionals: [],
  summary: "serve zones with the authoritative DNS server alone",
  details: [
    "Answers over UDP and TCP until SIGTERM or Ctrl-C. SIGHUP reads the configuration and all files again; a mistake is",
    "reported with its line, and what was served before stays.",
  ],
  options: [...zoneOptions, ...servingOptions],
  server: true,
  async run(invocation, terminal) {
    const readSettings = parseDnsOptions(invocation, { listen: true });
    const runtime = dnsRuntime(terminal);
    const settings = await readSettings();
    await using service = await started(runtime, settings, terminal.stopping);
    if (service === undefined) return 0;
    for (const line of service.summary) {
      // Where standard output is the query log, it has nothing else.
      if (settings.queryLog?.path === "-") runtime.log.info("started", { what: line });
      else terminal.print(line);
    }
    terminal.onNudge(() => void reload(service, { readSettings, log: runtime.log }));
    await whenAborted(terminal.stopping);
    return 0;
  },
};

/** A runtime whose disk takes absolute paths, since the settings name files anywhere. */
export function dnsRuntime(terminal: Terminal): Runtime {
  const log = pinoLogger({ format: terminal.interactive ? "pretty" : "json", level: "info" });
  return nodeRuntime({ dataFolder: parse(process.cwd()).root, log });
}

/** `undefined` where it was told to stop before it served. */
async function started(
  runtime: Runtime,
  settings: DnsSettings,
  stopping: AbortSignal,
): Promise<DnsService | undefined> {
  try {
    return await DnsService.start(runtime, settings, stopping);
  } catch (error) {
    if (stopping.aborted && error === stopping.reason) return undefined;
    throw error;
  }
}

async function reload(
  service: DnsService,
  { readSettings, log }: { readonly readSettings: ReadDnsSettings; readonly log: Logger },
): Promise<void> {
  try {
    const settings = await service.reload(await readSettings());
    if (settings.length > 0) log.warn("a restart is needed for some settings", { settings });
    log.info("read everything again");
  } catch (error) {
    for (const problem of messageOf(error).split("\n")) log.error("kept everything as it was", { problem });
  }
}
