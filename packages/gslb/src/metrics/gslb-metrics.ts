import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { gslbFigures, hostHealths } from "../decide/gslb-figures.ts";
import type { BalancerReadings } from "./balancer-readings.ts";
import { registerFleetMetrics } from "./fleet-metrics.ts";

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
const strategies = { roundRobin: "roundrobin", geoip: "geoip", failover: "failover" } as const;

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
  registerCounters({ registry, readings, init });
  registerGauges({ registry, readings, init });
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

function registerCounters({ registry, readings, init }: Registered): void {
  const counter = (name: string, help: string, count: "passes" | "errors"): void => {
    new Counter({
      name: `k8gb_gslb_${name}`,
      help,
      labelNames: gslbLabels,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(init, 0);
        for (const counts of readings.counts)
          this.inc({ namespace: counts.namespace, name: counts.name }, counts[count]);
      },
    });
  };
  counter("reconciliation_loops_total", "Passes over a Gslb that found nothing wrong with it.", "passes");
  counter(
    "errors_total",
    "Passes over a Gslb that failed, or in which something is wrong with it.",
    "errors",
  );
}

function registerGauges({ registry, readings, init }: Registered): void {
  const gauge = (
    {
      name,
      help,
      labels,
      zero,
    }: { name: string; help: string; labels: readonly string[]; zero: readonly Labels[] },
    read: (figures: ReturnType<typeof gslbFigures>, set: (labels: Labels, value: number) => void) => void,
  ): void => {
    new Gauge({
      name: `k8gb_${name}`,
      help,
      labelNames: [...gslbLabels, ...labels],
      registers: [registry],
      collect() {
        this.reset();
        for (const more of zero) this.set({ ...init, ...more }, 0);
        for (const [key, { plan }] of readings.plans) {
          const about = labelsOf(key);
          read(gslbFigures(plan, readings.geoTag), (more, value) => this.set({ ...about, ...more }, value));
        }
      },
    });
  };
  const statuses = hostHealths.map((status) => ({ status }));
  gauge(
    {
      name: "gslb_service_status_num",
      help: "Hosts of a Gslb by the state of their Services.",
      labels: ["status"],
      zero: statuses,
    },
    ({ hosts }, set) => hosts.forEach((count, status) => set({ status }, count)),
  );
  gauge(
    {
      name: "gslb_healthy_records",
      help: "Addresses that a Gslb's hosts are answered with.",
      labels: [],
      zero: [{}],
    },
    ({ healthyRecords }, set) => set({}, healthyRecords),
  );
  gauge(
    {
      name: "gslb_healthy_local_records",
      help: "Addresses of this cluster among those that a Gslb's hosts are answered with.",
      labels: ["geotag"],
      zero: [{ geotag: readings.geoTag }],
    },
    ({ healthyLocalRecords }, set) => set({ geotag: readings.geoTag }, healthyLocalRecords),
  );
  for (const [strategy, name] of Object.entries(strategies))
    gauge(
      {
        name: `gslb_status_count_for_${name}`,
        help: `Addresses answered for hosts of a Gslb of type ${strategy}, by the state of this cluster's Services.`,
        labels: ["status"],
        zero: statuses,
      },
      ({ answered }, set) => {
        if (answered?.strategy === strategy)
          answered.byStatus.forEach((count, status) => set({ status }, count));
      },
    );
  gauge(
    {
      name: "endpoint_status_num",
      help: "Addresses in a Gslb's DNSEndpoint by name.",
      labels: ["dns_name"],
      zero: [{ dns_name: "init.example.com" }],
    },
    ({ endpoints }, set) => endpoints.forEach((count, name) => set({ dns_name: name }, count)),
  );
}

type Labels = Readonly<Record<string, string>>;

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

function labelsOf(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
