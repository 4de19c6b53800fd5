import type { Gauge, Registry } from "prom-client";
import { gslbFigures, hostHealths } from "../decide/gslb-figures.ts";
import type { ChangeCause } from "../decide/cluster-change.ts";
import { targetStatesOf } from "../decide/target-states.ts";
import type { LatestPlan } from "../controllers/gslb-controller.ts";
import type { BalancerReadings } from "./balancer-readings.ts";

type Labels = readonly (readonly [name: string, value: string])[];

/** A line of a family, with its labels within its name: prom-client then only has to print it. */
interface Line {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const strategies = { roundRobin: "roundrobin", geoip: "geoip", failover: "failover" } as const;
/** Those that alerts are made for have a series from the start, so that the first one is a rise. */
const zeroCauses: readonly ChangeCause[] = ["failover", "emptied"];

/** Gslbs that are looked at between two pauses: a scrape must not keep the DNS server waiting. */
const gslbsPerTurn = 100;

const families: Readonly<Record<string, readonly [type: "gauge" | "counter", help: string]>> = {
  k8gb_gslb_reconciliation_loops_total: ["counter", "Passes over a Gslb that found nothing wrong with it."],
  k8gb_gslb_errors_total: [
    "counter",
    "Passes over a Gslb that failed, or in which something is wrong with it.",
  ],
  k8gb_gslb_service_status_num: ["gauge", "Hosts of a Gslb by the state of their Services."],
  k8gb_gslb_healthy_records: ["gauge", "Addresses that a Gslb's hosts are answered with."],
  k8gb_gslb_healthy_local_records: [
    "gauge",
    "Addresses of this cluster among those that a Gslb's hosts are answered with.",
  ],
  k8gb_gslb_status_count_for_roundrobin: [
    "gauge",
    "Addresses answered for hosts of a Gslb of type roundRobin, by the state of this cluster's Services.",
  ],
  k8gb_gslb_status_count_for_geoip: [
    "gauge",
    "Addresses answered for hosts of a Gslb of type geoip, by the state of this cluster's Services.",
  ],
  k8gb_gslb_status_count_for_failover: [
    "gauge",
    "Addresses answered for hosts of a Gslb of type failover, by the state of this cluster's Services.",
  ],
  k8gb_endpoint_status_num: ["gauge", "Addresses in a Gslb's DNSEndpoint by name."],
  meridian_gslb_cluster_addresses: [
    "gauge",
    "Addresses of each cluster for each host, and what the cluster does for it.",
  ],
  meridian_gslb_cluster_changes_total: [
    "counter",
    "Times that a host was answered from other clusters than before, by cause.",
  ],
};

/**
 * Registers the metrics that have series for each Gslb. There may be ten thousand, and a scrape runs on the thread that
 * answers: so one pass over the Gslbs, with pauses, makes all lines of all families.
 */
export function registerGslbFamilies(registry: Registry, readings: BalancerReadings): void {
  let passing: Promise<Lines> | undefined;
  // Who asks for several families asks for them at once.
  const lines = (): Promise<Lines> => (passing ??= pass(readings).finally(() => (passing = undefined)));
  for (const [name, [type, help]] of Object.entries(families)) {
    const family = {
      ...{ name, help, type, aggregator: "sum" },
      get: async () => ({ ...{ name, help, type, aggregator: "sum" }, values: (await lines()).of(name) }),
      reset() {},
    };
    registry.registerMetric(family as unknown as Gauge);
  }
}

class Lines {
  readonly #byFamily = new Map<string, Line[]>(Object.keys(families).map((name) => [name, []]));

  of(family: string): readonly Line[] {
    return this.#byFamily.get(family) ?? [];
  }

  add(family: string, labels: Labels, value: number): void {
    const text = labels.map(([name, label]) => `${name}="${escaped(label)}"`).join(",");
    this.#byFamily.get(family)!.push({ metricName: `${family}{${text}}`, labels: {}, value });
  }
}

function escaped(label: string): string {
  if (!/["\\\n]/.test(label)) return label;
  return label.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

async function pass(readings: BalancerReadings): Promise<Lines> {
  const lines = new Lines();
  addZeros(lines, readings);
  let count = 0;
  for (const { namespace, name, passes, errors, changes } of readings.counts) {
    const about = [
      ["namespace", namespace],
      ["name", name],
    ] as const;
    lines.add("k8gb_gslb_reconciliation_loops_total", about, passes);
    lines.add("k8gb_gslb_errors_total", about, errors);
    for (const cause of new Set([...zeroCauses, ...changes.keys()]))
      lines.add("meridian_gslb_cluster_changes_total", [...about, ["cause", cause]], changes.get(cause) ?? 0);
    if (++count % gslbsPerTurn === 0) await readings.pause();
  }
  for (const [key, latest] of readings.plans) {
    addGslb(lines, key, { ...latest, geoTag: readings.geoTag });
    if (++count % gslbsPerTurn === 0) await readings.pause();
  }
  return lines;
}

/** As in k8gb, so that a query finds something before there is a Gslb. */
function addZeros(lines: Lines, { namespace, geoTag }: BalancerReadings): void {
  const init = [
    ["namespace", namespace],
    ["name", "init"],
  ] as const;
  for (const family of ["reconciliation_loops_total", "errors_total", "healthy_records"])
    lines.add(`k8gb_gslb_${family}`, init, 0);
  const byStatus = [
    "service_status_num",
    ...Object.values(strategies).map((name) => `status_count_for_${name}`),
  ];
  for (const family of byStatus)
    for (const status of hostHealths) lines.add(`k8gb_gslb_${family}`, [...init, ["status", status]], 0);
  lines.add("k8gb_gslb_healthy_local_records", [...init, ["geotag", geoTag]], 0);
  lines.add("k8gb_endpoint_status_num", [...init, ["dns_name", "init.example.com"]], 0);
}

function addGslb(
  lines: Lines,
  key: string,
  { plan, geoTag }: Pick<LatestPlan, "plan"> & { geoTag: string },
): void {
  const slash = key.indexOf("/");
  const about = [
    ["namespace", key.slice(0, slash)],
    ["name", key.slice(slash + 1)],
  ] as const;
  const figures = gslbFigures(plan, geoTag);
  for (const [status, count] of figures.hosts)
    lines.add("k8gb_gslb_service_status_num", [...about, ["status", status]], count);
  lines.add("k8gb_gslb_healthy_records", about, figures.healthyRecords);
  lines.add("k8gb_gslb_healthy_local_records", [...about, ["geotag", geoTag]], figures.healthyLocalRecords);
  for (const [status, count] of figures.answered?.byStatus ?? []) {
    const family = `k8gb_gslb_status_count_for_${strategies[figures.answered!.strategy]}`;
    lines.add(family, [...about, ["status", status]], count);
  }
  for (const [name, count] of figures.endpoints)
    lines.add("k8gb_endpoint_status_num", [...about, ["dns_name", name]], count);
  const strategy = plan.policy.policy?.strategy;
  const weights = strategy?.type === "roundRobin" ? strategy.weight : undefined;
  for (const host of plan.hosts) {
    const states = targetStatesOf(host, geoTag, weights);
    // A fleet without IPv6 has no series for it.
    const isDual = states.some(({ family, count }) => family === "AAAA" && count > 0);
    for (const { geoTag: tag, family, state, count } of states) {
      if (family === "AAAA" && !isDual) continue;
      lines.add(
        "meridian_gslb_cluster_addresses",
        [...about, ["host", host.host], ["geotag", tag], ["family", family], ["state", state]],
        count,
      );
    }
  }
}
