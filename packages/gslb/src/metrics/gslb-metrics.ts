import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { BalancerReadings } from "./balancer-readings.ts";
import { registerFleetMetrics } from "./fleet-metrics.ts";
import { registerGslbFamilies } from "./gslb-families.ts";

/** The program, for `k8gb_runtime_info`. */
export interface ProgramVersion {
  readonly version: string;
  /** Of the commit; cut to seven characters. */
  readonly commit: string;
  /** What it runs on: `v20.20.0`. */
  readonly runtime: string;
  readonly arch: string;
  readonly os: string;
}

const wapiBuckets = [0.2, 0.8, 3.2, 12.8, 51.2];
const gslbLabels = ["namespace", "name"];

/**
 * Registers the metrics of the balancer: those of k8gb under their names, labels and meaning, and better ones beside them, all
 * named `meridian_*`. They are read when they are scraped, so a Gslb that is gone has no series any more.
 *
 * As in k8gb most have a series of zero with the name `init` from the start on, so that a query finds something.
 */
export function registerGslbMetrics(
  registry: Registry,
  readings: BalancerReadings,
  program: ProgramVersion,
): void {
  const registers = [registry];
  const init = { namespace: readings.namespace, name: "init" };
  registerGslbFamilies(registry, readings);
  new Gauge({
    name: "k8gb_runtime_info",
    help: "Always 1; its labels tell what runs.",
    labelNames: ["namespace", "k8gb_version", "go_version", "arch", "os", "git_sha"],
    registers,
  }).set(
    {
      namespace: readings.namespace,
      k8gb_version: program.version,
      go_version: program.runtime,
      arch: program.arch,
      os: program.os,
      git_sha: program.commit.slice(0, 7),
    },
    1,
  );
  const calls = new Histogram({
    name: "k8gb_infoblox_request_duration",
    help: "Seconds that calls to the Infoblox grid take.",
    labelNames: ["request", "success"],
    buckets: wapiBuckets,
    registers,
  });
  readings.onWapiCall(({ request, success, seconds }) =>
    calls.observe({ request, success: String(success) }, seconds),
  );
  registerInfobloxCounters({ registry, readings, init });
  registerFleetMetrics(registry, readings);
}

interface Registered {
  readonly registry: Registry;
  readonly readings: BalancerReadings;
  readonly init: { readonly namespace: string; readonly name: string };
}

/** k8gb has these, and never counts them; here they count. */
function registerInfobloxCounters({ registry, readings, init }: Registered): void {
  const rows = [
    ["zone_updates_total", "Passes that found or made a delegation right in the grid.", "ensured"],
    ["zone_update_errors_total", "Passes that could not.", "failed"],
    ["heartbeats_total", "As zone updates: there is no heartbeat record.", "ensured"],
    ["heartbeat_errors_total", "As failed zone updates.", "failed"],
  ] as const;
  for (const [name, help, count] of rows)
    new Counter({
      name: `k8gb_infoblox_${name}`,
      help,
      labelNames: gslbLabels,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(init, 0);
        for (const counts of readings.delegations)
          if (counts.provider === "Infoblox")
            this.inc({ namespace: readings.namespace, name: counts.zone }, counts[count]);
      },
    });
}
