import { relative } from "node:path";
import { formatEndpoint } from "@meridian/runtime";
import type { Terminal } from "../cli/terminal.ts";
import { dataArgument } from "../cli/data-option.ts";
import { findProgram } from "../cli/find-program.ts";
import { textTable } from "../cli/text-table.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { playgroundZone } from "../fleet/fleet-layout.ts";

/** What the report is about. */
export interface UpReport {
  readonly fleet: Fleet;
  readonly folder: string;
  readonly examples: boolean;
  readonly labUrl: string | undefined;
}

/** What is up and what to try next, as the lines that a newcomer reads. */
export async function upReport(terminal: Terminal, report: UpReport): Promise<readonly string[]> {
  const { parent, addressing } = report.fleet.describe();
  const rows = report.fleet.clusters.map((cluster) => [
    cluster.name,
    formatEndpoint(cluster.dns),
    `https://${formatEndpoint(cluster.apiServer)}`,
    shortPath(cluster.kubeconfigPath),
  ]);
  const table = [["", "DNS", "API server", "kubeconfig"], ["parent", formatEndpoint(parent.dns)], ...rows];
  const single =
    addressing === "single-address"
      ? [
          "",
          "All servers share 127.0.0.1. Glue carries no port, so resolving through the parent needs Linux.",
        ]
      : [];
  return [
    "",
    `The fleet is up. Ctrl-C stops it, and so does "${terminal.self} down${dataArgument(report.folder)}" from elsewhere.`,
    "",
    ...textTable(table, "  "),
    ...single,
    ...(report.labUrl === undefined ? [] : ["", `The informer lab is at ${report.labUrl}`]),
    "",
    "Try next, in another terminal:",
    ...(await nextCommands(terminal, report)).map((command) => `  ${command}`),
  ];
}

async function nextCommands(terminal: Terminal, report: UpReport): Promise<readonly string[]> {
  const first = report.fleet.clusters[0];
  if (first === undefined) return [];
  const data = dataArgument(report.folder);
  const host = `failover.${playgroundZone.name}`;
  const [dig, kubectl] = await Promise.all(
    ["dig", "kubectl"].map((program) => findProgram(program, terminal.environment["PATH"])),
  );
  const asked = report.examples ? `${host} +short` : `${playgroundZone.name} SOA`;
  const kubeconfig = shortPath(first.kubeconfigPath);
  const candidates = [
    ...(dig === true ? [`dig @${first.dns.address} -p ${first.dns.port} ${asked}`] : []),
    ...(kubectl === true
      ? [`kubectl --kubeconfig ${kubeconfig} get gslb,dnsendpoints,zonedelegations -A`]
      : []),
    ...(report.examples
      ? [`${terminal.self} demo failover${data}`, `${terminal.self} explain ${host}${data}`]
      : []),
    `${terminal.self} status${data}`,
  ];
  return candidates.slice(0, 3);
}

function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") ? path : short;
}
