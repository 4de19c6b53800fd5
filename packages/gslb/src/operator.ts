import type { Authority, DnsClient } from "@meridian/dns";
import type { KubeClient } from "@meridian/controller";
import type { Runtime } from "@meridian/runtime";
import type { OperatorConfig } from "./config/operator-config.ts";
import type { Explanation } from "./decide/explanation.ts";

export interface OperatorOptions {
  /** The API server of the own cluster. */
  readonly client: KubeClient;
  readonly config: OperatorConfig;
  /** The own DNS server's zones; the operator adds, feeds and removes them, and listens to its NOTIFYs. */
  readonly authority: Authority;
  /** Asks peers and edge servers; must leave from the cluster's own address. */
  readonly dnsClient: DnsClient;
}

/** A running operator. */
export interface Operator {
  /** Resolves when every informer has synced, each Gslb was looked at once and the zones answer. Rejects when stopped before. */
  readonly ready: Promise<void>;
  /** How this cluster answers for a host now, and why. */
  explain(host: string): Explanation;
  /** Stops all loops; resolves when none is left. What was published stays. */
  stop(): Promise<void>;
}

/** Starts the balancer of one cluster: everything between its API server and its DNS server. Returns at once. */
export function startOperator(_runtime: Runtime, _options: OperatorOptions): Operator {
  throw new Error("not there yet");
}
