import { formatEndpoint, silentLogger, type Runtime } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { DnsClient } from "@meridian/dns";
import type { Command } from "../cli/command.ts";
import { dataFolder, dataOption } from "../cli/data-option.ts";
import { textTable } from "../cli/text-table.ts";
import type { FleetFile, FleetFileCluster } from "../fleet/fleet-file.ts";
import { playgroundZone } from "../fleet/fleet-layout.ts";
import { isAlive } from "../fleet/folder-lock.ts";
import { clusterClient, openFleet } from "../fleet/open-fleet.ts";
import { probeApiServer, probeDnsServer, type ProbeResult } from "../fleet/probe.ts";

interface ServerStatus {
  readonly name: string;
  readonly pid: number;
  readonly alive: boolean;
  readonly dns: ProbeResult & { readonly at: string };
  readonly apiServer?: ProbeResult & { readonly at: string };
}

/** `meridian status`: whether everything of a fleet answers. */
export const statusCommand: Command = {
  words: ["status"],
  positionals: [],
  summary: "tell whether the fleet's servers answer",
  details: ["Asks each API server and each DNS server. The exit code is 0 when all answer, else 1."],
  options: [dataOption],
  async run(invocation, terminal) {
    const folder = dataFolder(invocation);
    const fleet = await openFleet(folder);
    const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
    const servers = await askEverything(runtime, fleet);
    const rows = servers.map((server) => [
      server.name,
      `${server.pid}${server.alive ? "" : " (gone)"}`,
      `${server.dns.at} ${server.dns.said}`,
      server.apiServer === undefined ? "" : `${server.apiServer.at} ${server.apiServer.said}`,
    ]);
    for (const line of textTable([["", "process", "DNS server", "API server"], ...rows], ""))
      terminal.print(line);
    const well = servers.every((server) => server.alive && server.dns.ok && server.apiServer?.ok !== false);
    return well && (await isAlive({ pid: fleet.pid })) ? 0 : 1;
  },
};

async function askEverything(runtime: Runtime, fleet: FleetFile): Promise<readonly ServerStatus[]> {
  await using dnsClient = new DnsClient(runtime);
  const askDns = async (at: FleetFileCluster["dns"], zone: string): Promise<ServerStatus["dns"]> => ({
    at: formatEndpoint(at),
    ...(await probeDnsServer(dnsClient, { server: at, zone })),
  });
  const parent = async (): Promise<ServerStatus> => ({
    name: "parent",
    pid: fleet.parent.pid,
    alive: await isAlive({ pid: fleet.parent.pid }),
    dns: await askDns(fleet.parent.dns, playgroundZone.parent),
  });
  const cluster = async (described: FleetFileCluster): Promise<ServerStatus> => {
    await using client = await clusterClient(runtime, described);
    const [dns, apiServer] = await Promise.all([askDns(described.dns, fleet.zone), probeApiServer(client)]);
    const alive = await isAlive({ pid: described.pid });
    return {
      name: described.name,
      pid: described.pid,
      alive,
      dns,
      apiServer: { at: described.apiServer, ...apiServer },
    };
  };
  return await Promise.all([parent(), ...fleet.clusters.map(cluster)]);
}
