import { canonicalName } from "../decide/dns-name.ts";
import { parsePublishedPolicy, publishedPolicyText, type PublishedPolicy } from "../decide/published-host.ts";
import { localMarks, type DnsEndpoint, type DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import { dnsEndpointType } from "../resources/resource-types.ts";

/** The label of DNSEndpoints with hosts that peers carry and this cluster does not. */
const fleetHostsLabel = "meridian/fleet-hosts";
/** The zone whose hosts are in one. */
const zoneAnnotation = "meridian/zone";
/** Of a host's first record: how peers balance it, as in their views. */
const policyProperty = "meridian/policy";

/** What is stored of one host. */
export interface StoredFleetHost {
  readonly policy: PublishedPolicy | undefined;
  readonly records: readonly DnsEndpointRecord[];
}

/** A DNSEndpoint of such hosts, all of one zone. */
export function fleetEndpoint(
  ref: { readonly namespace?: string; readonly name: string },
  zone: string,
  records: readonly DnsEndpointRecord[],
): DnsEndpoint {
  return {
    apiVersion: `${dnsEndpointType.group}/${dnsEndpointType.version}`,
    kind: dnsEndpointType.kind,
    metadata: {
      ...ref,
      labels: { ...localMarks, "app.kubernetes.io/managed-by": "meridian", [fleetHostsLabel]: "true" },
      annotations: { ...localMarks, [zoneAnnotation]: zone },
    },
    spec: { endpoints: records },
  };
}

/** Whether a DNSEndpoint is such a one. */
export function isFleetEndpoint(object: DnsEndpoint | undefined): boolean {
  return object?.metadata.labels?.[fleetHostsLabel] !== undefined;
}

/** The hosts in such a DNSEndpoint, canonical, and the zone that they were in. */
export function storedFleetHosts({ metadata, spec }: DnsEndpoint): {
  readonly zone: string | undefined;
  readonly hosts: ReadonlyMap<string, StoredFleetHost>;
} {
  const hosts = new Map<string, { policy: PublishedPolicy | undefined; records: DnsEndpointRecord[] }>();
  for (const record of spec?.endpoints ?? []) {
    const host = canonicalName(record.dnsName ?? "");
    const stored = hosts.get(host);
    if (stored === undefined) hosts.set(host, { policy: policyIn(record), records: [record] });
    else stored.records.push(record);
  }
  return { zone: metadata.annotations?.[zoneAnnotation], hosts };
}

/** A host's records with what peers say of how it is balanced, for a start at which none can be asked. */
export function withPolicy(
  records: readonly DnsEndpointRecord[],
  policy: PublishedPolicy | undefined,
): readonly DnsEndpointRecord[] {
  if (policy === undefined) return records;
  const providerSpecific = [{ name: policyProperty, value: publishedPolicyText(policy) }];
  return records.map((record, index) => (index === 0 ? { ...record, providerSpecific } : record));
}

function policyIn({ providerSpecific, recordTTL = 0 }: DnsEndpointRecord): PublishedPolicy | undefined {
  const value = providerSpecific?.find(({ name }) => name === policyProperty)?.value;
  return value === undefined ? undefined : parsePublishedPolicy(value, recordTTL);
}
