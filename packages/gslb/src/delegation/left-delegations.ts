import type { KubeClient } from "@meridian/controller";
import { deepEqual, isConflict, isNotFound } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { canonicalName } from "../decide/dns-name.ts";
import type { LookedUp } from "../references/exposed-addresses.ts";
import type { DnsEndpoint } from "../resources/dns-endpoint.ts";
import { dnsEndpointType } from "../resources/resource-types.ts";
import {
  delegatedZoneOf,
  leftDelegationAnnotation,
  withDelegation,
  withoutNameServer,
} from "./delegation-endpoint.ts";

/** What left delegations are found in and looked after with. */
export interface LeftDelegationsOptions {
  readonly client: Pick<KubeClient, "update" | "delete">;
  readonly endpoints: () => readonly DnsEndpoint[];
  /** Whether a zone is delegated by this cluster again. */
  readonly isServed: (zone: string) => boolean;
  readonly lookUp: (name: string, signal: AbortSignal) => Promise<LookedUp>;
  readonly periodMs: number;
}

/**
 * Looks after the NS sets that this cluster's external-dns may own in zones that the cluster has left: a name server that has
 * no address any more leaves the set, and with the last one the set goes.
 */
export class LeftDelegations {
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: LeftDelegationsOptions;

  constructor(runtime: Pick<Runtime, "clock" | "log">, options: LeftDelegationsOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  /** Looks every period until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#runtime.clock.sleep(this.#options.periodMs, signal).catch(() => {});
      if (!signal.aborted) await this.round(signal);
    }
  }

  /** Looks once at each. */
  async round(signal: AbortSignal): Promise<void> {
    for (const endpoint of this.#options.endpoints()) {
      const zone = delegatedZoneOf(endpoint);
      const parent = endpoint.metadata.annotations?.[leftDelegationAnnotation];
      if (parent === undefined || (zone !== undefined && this.#options.isServed(zone))) continue;
      try {
        await this.#tend(endpoint, parent, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!isConflict(error) && !isNotFound(error))
          this.#runtime.log.warn("a delegation that this cluster left cannot be written; trying again", {
            endpoint: endpoint.metadata.name,
            error,
          });
      }
    }
  }

  async #tend(endpoint: DnsEndpoint, parent: string, signal: AbortSignal): Promise<void> {
    const { client, lookUp } = this.#options;
    const present = endpoint.spec?.endpoints ?? [];
    const servers = new Set(
      present
        .flatMap(({ recordType, targets }) => (recordType === "NS" ? (targets ?? []) : []))
        .map(canonicalName),
    );
    let records = present;
    for (const server of servers) {
      const found = await lookUp(server, signal);
      const isGone = found.state === "known" && found.targets.A.length + found.targets.AAAA.length === 0;
      if (isGone) records = withoutNameServer(records, server);
    }
    const { name = "", namespace = "" } = endpoint.metadata;
    if (records.length === 0) await client.delete(dnsEndpointType, { namespace, name }, { signal });
    else {
      const next = withDelegation(endpoint, records, parent);
      if (!deepEqual(next, endpoint)) await client.update<DnsEndpoint>(dnsEndpointType, next, { signal });
    }
  }
}
