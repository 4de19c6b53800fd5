import { deepEqual } from "@meridian/kube";
import { addressFamilies } from "../decide/address-family.ts";
import { canonicalName } from "../decide/dns-name.ts";
import {
  dnsTypeLabel,
  legacyDnsTypeLabel,
  type DnsEndpoint,
  type DnsEndpointRecord,
} from "../resources/dns-endpoint.ts";
import type { DelegatedZone } from "./delegation-provider.ts";

/** The labels of DNSEndpoints that external-dns writes into a parent zone, in the present and the legacy group. */
export const delegationLabels: Readonly<Record<string, string>> = {
  [dnsTypeLabel]: "extdns",
  [legacyDnsTypeLabel]: "extdns",
};

/**
 * The annotation of a delegation that this cluster left while others still stand in it. It names the parent zone; the
 * records are kept for the others' sake, since the own external-dns may be the one that owns them.
 */
export const leftDelegationAnnotation = "meridian/left-delegation";

/**
 * The records of a delegation: the NS set of all clusters, and the addresses of the own server only; of a family that nobody
 * could tell of, those that are present too.
 */
export function delegationRecords(
  zone: DelegatedZone,
  present: readonly DnsEndpointRecord[],
): readonly DnsEndpointRecord[] {
  const { loadBalancedZone, nameServers, ownNameServer, ttlSeconds: recordTTL } = zone;
  const isOwn = ({ dnsName = "" }: DnsEndpointRecord): boolean => canonicalName(dnsName) === ownNameServer;
  const glue = addressFamilies.map((recordType) => {
    const records = recordType === zone.unknownFamily ? present.filter(isOwn) : [];
    const kept = records.filter((record) => record.recordType === recordType);
    const targets = [...zone.ownAddresses[recordType], ...kept.flatMap((record) => record.targets ?? [])];
    return { recordType, targets: [...new Set(targets)] };
  });
  return [
    { dnsName: canonicalName(loadBalancedZone), recordType: "NS", recordTTL, targets: nameServers },
    ...glue
      .filter(({ targets }) => targets.length > 0)
      .map(({ recordType, targets }) => ({ dnsName: ownNameServer, recordType, recordTTL, targets })),
  ];
}

/** The object with exactly these records; what others added to its metadata stays. Itself where nothing differs. */
export function withDelegation(
  stored: DnsEndpoint,
  records: readonly DnsEndpointRecord[],
  leftParent?: string,
): DnsEndpoint {
  const { [leftDelegationAnnotation]: _left, ...others } = stored.metadata.annotations ?? {};
  const annotations =
    leftParent === undefined ? others : { ...others, [leftDelegationAnnotation]: leftParent };
  const { annotations: _annotations, ...metadata } = stored.metadata;
  const next: DnsEndpoint = {
    ...stored,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...delegationLabels },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: { ...stored.spec, endpoints: records },
  };
  return deepEqual(next, stored) ? stored : next;
}

/** The records without those of one name server: neither its addresses nor its place in an NS set, nor a set that is empty then. */
export function withoutNameServer(
  records: readonly DnsEndpointRecord[],
  nameServer: string,
): readonly DnsEndpointRecord[] {
  const isIt = (name: string | undefined): boolean => canonicalName(name ?? "") === canonicalName(nameServer);
  return records.flatMap((record) => {
    if (record.recordType !== "NS") return isIt(record.dnsName) ? [] : [record];
    const targets = (record.targets ?? []).filter((target) => !isIt(target));
    return targets.length === 0 ? [] : [{ ...record, targets }];
  });
}

/** The zone that a delegation's DNSEndpoint is about; `undefined` where its records do not tell. */
export function delegatedZoneOf(endpoint: DnsEndpoint): string | undefined {
  const record = endpoint.spec?.endpoints?.find(({ recordType }) => recordType === "NS");
  return record?.dnsName === undefined ? undefined : canonicalName(record.dnsName);
}
