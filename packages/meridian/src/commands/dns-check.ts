import type { Command } from "../cli/command.ts";
import { DnsService } from "../dns/dns-service.ts";
import { dnsRuntime } from "./dns.ts";
import { parseDnsOptions, zoneOptions } from "./dns-options.ts";

/** `meridian dns check`: whether a start or a reload would succeed. */
export const dnsCheckCommand: Command = {
  words: ["dns", "check"],
  positionals: [],
  summary: "check a configuration and its zones, keys, geo files and certificates without serving",
  details: [
    "Prints each zone, or each mistake with its line; exit code 0 when all is well. Journals are read, and never written.",
  ],
  options: zoneOptions,
  async run(invocation, terminal) {
    const readSettings = parseDnsOptions(invocation, { listen: false });
    for (const line of await DnsService.check(dnsRuntime(terminal), await readSettings()))
      terminal.print(line);
    return 0;
  },
};
