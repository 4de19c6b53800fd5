import type { Figure } from "../report/sample.ts";
import type { BenchFleet } from "./bench-fleet.ts";
import type { ClusterCounts } from "./cluster-protocol.ts";

export const quietFigures: readonly Figure[] = [
  { key: "dnsMessages", title: "DNS questions taken/period", digits: 1, compared: true },
  { key: "tcpConnections", title: "TCP connections/period", digits: 1, compared: false },
  { key: "apiWrites", title: "API writes/period", digits: 1, compared: false },
  { key: "apiRequests", title: "API requests/period", digits: 1, compared: false },
  { key: "reconciles", title: "reconciles/period", digits: 1, compared: false },
  { key: "cpuSeconds", title: "CPU s/min", digits: 2, compared: true },
  { key: "residentMiB", title: "RSS MiB", digits: 0, compared: false },
];

/** Measures periods in which nothing changes, by cluster. */
export async function measureQuiet(fleet: BenchFleet, periods: number): Promise<Record<string, number>> {
  const before = await fleet.counts();
  const ms = periods * fleet.plan.periodSeconds * 1000;
  await new Promise((resolve) => setTimeout(resolve, ms));
  const after = await fleet.counts();
  const each = (key: keyof ClusterCounts): number =>
    after.reduce((sum, counts, at) => sum + counts[key] - before[at]![key], 0) / periods / after.length;
  return {
    dnsMessages: each("dnsMessages"),
    tcpConnections: each("tcpConnections"),
    apiWrites: each("apiWrites"),
    apiRequests: each("apiRequests"),
    reconciles: each("reconciles"),
    cpuSeconds: (each("cpuMs") / 1000) * (60 / fleet.plan.periodSeconds),
    residentMiB: after.reduce((sum, counts) => sum + counts.residentMiB, 0) / after.length,
  };
}
