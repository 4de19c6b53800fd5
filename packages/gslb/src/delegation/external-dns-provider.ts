import { createOrUpdate, type KubeClient, type Lister } from "@meridian/controller";
import { deepEqual, isNotFound } from "@meridian/kube";
import { canonicalName } from "../decide/dns-name.ts";
import { zoneObjectName } from "../decide/zone-names.ts";
import type { DnsEndpoint } from "../resources/dns-endpoint.ts";
import { dnsEndpointType } from "../resources/resource-types.ts";
import { apartZoneObjectName } from "./apart-zone-object-name.ts";
import {
  delegatedZoneOf,
  delegationLabels,
  delegationRecords,
  withDelegation,
  withoutNameServer,
} from "./delegation-endpoint.ts";
import type { DelegatedZone, DelegationProvider } from "./delegation-provider.ts";

/** Where the DNSEndpoints are. */
export interface ExternalDnsProviderOptions {
  readonly client: Pick<KubeClient, "get" | "create" | "update" | "delete">;
  /** The copy of all DNSEndpoints. It may lag behind: a write that was overtaken reads again. */
  readonly endpoints: Pick<Lister<DnsEndpoint>, "get">;
  /** Of the operator's own objects (`POD_NAMESPACE`). */
  readonly namespace: string;
}

/**
 * Has external-dns write delegations: each is a DNSEndpoint `k8gb-ns-extdns-<zone>` with the NS set and the own addresses.
 *
 * external-dns lets one owner write a name, so the NS set is written by whichever cluster's came first, with the
 * clusters that that one knows; every cluster adds its own addresses.
 */
export class ExternalDnsProvider implements DelegationProvider {
  readonly name: string = "external-dns";
  readonly #options: ExternalDnsProviderOptions;
  /** Which zone writes each object: the copy may not show yet what was just created. */
  readonly #zones = new Map<string, string>();

  constructor(options: ExternalDnsProviderOptions) {
    this.#options = options;
  }

  async ensure(zone: DelegatedZone, signal: AbortSignal): Promise<void> {
    const { client, namespace } = this.#options;
    const { name, stored } = this.#find(zone.loadBalancedZone);
    this.#zones.set(name, canonicalName(zone.loadBalancedZone));
    await createOrUpdate<DnsEndpoint>(client, dnsEndpointType, {
      desired: {
        apiVersion: `${dnsEndpointType.group}/${dnsEndpointType.version}`,
        kind: dnsEndpointType.kind,
        metadata: { name, namespace, labels: delegationLabels },
        spec: { endpoints: delegationRecords(zone, []) },
      },
      mutate: (current) => withDelegation(current, delegationRecords(zone, current.spec?.endpoints ?? [])),
      current: stored,
      signal,
    });
  }

  /**
   * Takes the own entries out. While other clusters stand in the delegation their NS set stays, marked as left: the own
   * external-dns may be its owner, and would take the zone away from all. `LeftDelegations` removes it after the last.
   */
  async withdraw(zone: DelegatedZone, signal: AbortSignal): Promise<"withdrawn"> {
    const { client, namespace } = this.#options;
    const { name } = this.#find(zone.loadBalancedZone);
    const stored = await this.#read(name, signal);
    if (stored === undefined) return "withdrawn";
    const present = stored.spec?.endpoints ?? [];
    const records = zone.isLast ? [] : withoutNameServer(present, zone.ownNameServer);
    this.#zones.delete(name);
    if (records.length === 0) {
      try {
        await client.delete(dnsEndpointType, { namespace, name }, { signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      return "withdrawn";
    }
    const next = withDelegation(stored, records, canonicalName(zone.parentZone));
    if (!deepEqual(next, stored)) await client.update<DnsEndpoint>(dnsEndpointType, next, { signal });
    return "withdrawn";
  }

  /** The object of a zone: under k8gb's name, unless that is taken by another zone that has the same. */
  #find(zone: string): { readonly name: string; readonly stored: DnsEndpoint | undefined } {
    const { endpoints, namespace } = this.#options;
    const read = (name: string): DnsEndpoint | undefined => endpoints.get(`${namespace}/${name}`);
    const plain = `k8gb-ns-extdns-${zoneObjectName(zone)}`;
    const apart = `k8gb-ns-extdns-${apartZoneObjectName(zone)}`;
    const [atPlain, atApart] = [read(plain), read(apart)];
    const holder = this.#zones.get(plain) ?? (atPlain === undefined ? undefined : delegatedZoneOf(atPlain));
    const isTaken = holder !== undefined && holder !== canonicalName(zone);
    // Once apart it stays so: changing names would take the records away for a moment.
    return isTaken || atApart !== undefined
      ? { name: apart, stored: atApart }
      : { name: plain, stored: atPlain };
  }

  async #read(name: string, signal: AbortSignal): Promise<DnsEndpoint | undefined> {
    const { client, namespace } = this.#options;
    try {
      return await client.get<DnsEndpoint>(dnsEndpointType, { namespace, name }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
