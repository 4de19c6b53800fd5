import type { SourceInformer } from "@meridian/controller";
import type { GeoStatus } from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";
import type { Explanation } from "./decide/explanation.ts";
import { explain, type ExplainFacts } from "./explain/explain.ts";
import { wildcardOver } from "./explain/wildcard-over.ts";
import type { BalancerReadings } from "./metrics/balancer-readings.ts";
import { TaskScope } from "./tasks/task-scope.ts";
import { assembleOperator, type OperatorOptions, type OperatorParts } from "./operator-parts.ts";
import { bringUp } from "./operator-start.ts";

/** A running operator. */
export interface Operator {
  /**
   * Resolves when every copy is complete, each Gslb was looked at once and the zones answer. Rejects when the operator is
   * stopped before that.
   */
  readonly ready: Promise<void>;
  /** How this cluster answers for a host now, and why. Asks nobody. */
  explain(host: string): Explanation;
  /** The copies of what is in the cluster, for metrics. */
  readonly copies: readonly SourceInformer[];
  /** What can be read of it at any time, for metrics. */
  readonly readings: BalancerReadings;
  /** What answers of `geoip` hosts go by, for metrics: the age of the database above all. */
  geo(): GeoStatus;
  /** Why it does not do its work, and is to be started again; `undefined` while it does. */
  readonly problem: string | undefined;
  /** Stops all loops; resolves when none is left. What was published stays. */
  stop(): Promise<void>;
}

/**
 * Starts the balancer of one cluster: everything between its API server and its DNS server. Returns at once; the work goes
 * on until `stop`.
 *
 *     const operator = startOperator(runtime, { client, config, authority, dnsClient });
 *     await operator.ready;
 *     operator.explain("app.cloud.example.com").decision?.picked; // ["eu"]
 *     await operator.stop();
 */
export function startOperator(runtime: Runtime, options: OperatorOptions): Operator {
  const tasks = new TaskScope(runtime.log);
  const parts = assembleOperator(runtime, options, tasks);
  const ready = bringUp(runtime, parts, options);
  ready.catch((error: unknown) => {
    if (!tasks.signal.aborted) runtime.log.error("the operator cannot start", { error });
  });
  return {
    ready,
    explain: (host) => explainHost(parts, { host, geoTag: options.config.geoTag, now: runtime.clock.now() }),
    copies: parts.copies.all,
    readings: parts.observing.readings({ ...parts, config: options.config, zones: () => parts.zones.zones }),
    geo: () => parts.geo.status,
    get problem() {
      return parts.replica.lease.problem;
    },
    async stop() {
      options.authority.onNotify = undefined;
      await tasks.close(new Error("the operator was stopped"));
      await ready.catch(() => {});
    },
  };
}

function explainHost(
  { gslbs, views, peers, feeder, replica }: OperatorParts,
  asked: Pick<ExplainFacts, "host" | "geoTag" | "now">,
): Explanation {
  const { host } = asked;
  const holder = gslbs.claims.holder(host);
  const zone = feeder.zoneOf(host);
  return explain({
    ...asked,
    holder,
    isOfFleet: replica.fleetHosts.has(host),
    wildcard: zone === undefined ? undefined : wildcardOver(host, zone.origin, gslbs.claims),
    hosts: gslbs.claims.hosts,
    latest: holder === undefined ? undefined : gslbs.latest(holder),
    views: views.of(host),
    sessions: zone === undefined ? [] : peers.sessions(zone.origin),
    zone,
  });
}
