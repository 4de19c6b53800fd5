import { parse } from "node:path";
import { nodeRuntime } from "@meridian/runtime/node";
import type { Runtime } from "@meridian/runtime";
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
  async run(invocation, terminal) {
    const readSettings = parseDnsOptions(invocation, { listen: true });
    await using service = await started(dnsRuntime(terminal), await readSettings(), terminal.stopping);
    if (service === undefined) return 0;
    for (const line of service.summary) terminal.print(line);
    terminal.onNudge(() => void reload(service, { readSettings, terminal }));
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
  { readSettings, terminal }: { readonly readSettings: ReadDnsSettings; readonly terminal: Terminal },
): Promise<void> {
  try {
    const restart = await service.reload(await readSettings());
    if (restart.length > 0) terminal.complain(`a restart is needed for ${restart.join(", ")}`);
    terminal.print("Read everything again");
  } catch (error) {
    terminal.complain(`kept everything as it was: ${messageOf(error)}`);
  }
}
