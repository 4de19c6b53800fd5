import { controllerOf, deepEqual, ownerReferenceTo } from "@meridian/kube";
import {
  dnsTypeLabel,
  legacyDnsTypeLabel,
  type DnsEndpoint,
  type DnsEndpointRecord,
} from "../resources/dns-endpoint.ts";
import type { Gslb } from "../resources/gslb.ts";
import { isGslbReference } from "../resources/owner.ts";
import { dnsEndpointType, gslbType } from "../resources/resource-types.ts";

/** Both the labels and the annotations of a DNSEndpoint that the clusters' own DNS servers answer from. */
const marks = { [dnsTypeLabel]: "local", [legacyDnsTypeLabel]: "local" };

/** The DNSEndpoint of a Gslb: of its name, and collected with it. */
export function desiredEndpoint(gslb: Gslb, records: readonly DnsEndpointRecord[]): DnsEndpoint {
  const { name = "", namespace = "" } = gslb.metadata;
  return {
    apiVersion: `${dnsEndpointType.group}/${dnsEndpointType.version}`,
    kind: dnsEndpointType.kind,
    metadata: {
      name,
      namespace,
      labels: marks,
      annotations: marks,
      ownerReferences: [ownerReferenceTo(gslb, gslbType)],
    },
    spec: { endpoints: records },
  };
}

/**
 * The stored DNSEndpoint with the records in it; itself where nothing differs. What others added to its metadata stays,
 * and so does a controller that it has; where it has none, the Gslb becomes it.
 */
export function withRecords(
  stored: DnsEndpoint,
  gslb: Gslb,
  records: readonly DnsEndpointRecord[],
): DnsEndpoint {
  const owners = stored.metadata.ownerReferences ?? [];
  const metadata = {
    ...stored.metadata,
    labels: { ...stored.metadata.labels, ...marks },
    annotations: { ...stored.metadata.annotations, ...marks },
    ...(controllerOf(stored) === undefined
      ? { ownerReferences: [...owners, ownerReferenceTo(gslb, gslbType)] }
      : {}),
  };
  const next: DnsEndpoint = { ...stored, metadata, spec: { ...stored.spec, endpoints: records } };
  return deepEqual(next, stored) ? stored : next;
}

/** Whether a stored DNSEndpoint is what was last wanted for its Gslb, in all that we write into it. */
export function isAsWanted(
  stored: DnsEndpoint,
  gslb: Gslb,
  records: readonly DnsEndpointRecord[] | undefined,
): boolean {
  if (records === undefined || endpointProblem(stored, gslb) !== undefined) return false;
  return withRecords(stored, gslb, records) === stored;
}

/** Why a stored DNSEndpoint is not the Gslb's to write, or `undefined` where it is. */
export function endpointProblem(stored: DnsEndpoint | undefined, gslb: Gslb): string | undefined {
  const controller = stored === undefined ? undefined : controllerOf(stored);
  if (controller === undefined || controller.uid === gslb.metadata.uid) return undefined;
  const { namespace = "", name = "" } = gslb.metadata;
  // A legacy Gslb hands its DNSEndpoint over; a Gslb of this name that was deleted and made again takes it as its own
  // only once the old one is collected.
  if (isGslbReference(controller) && controller.apiVersion.startsWith("k8gb.absa.oss/")) return undefined;
  return `DNSEndpoint ${namespace}/${name} is controlled by ${controller.kind} ${controller.name}; delete it or rename the Gslb`;
}
