import { controllerOf, deepEqual, ownerReferenceTo } from "@meridian/kube";
import { localMarks, type DnsEndpoint, type DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import type { Gslb } from "../resources/gslb.ts";
import { typeOfGslb } from "../resources/legacy-gslb.ts";
import { isPredecessor } from "../resources/owner.ts";
import { dnsEndpointType } from "../resources/resource-types.ts";

/** The DNSEndpoint of a Gslb: of its name, and collected with it. */
export function desiredEndpoint(gslb: Gslb, records: readonly DnsEndpointRecord[]): DnsEndpoint {
  const { name = "", namespace = "" } = gslb.metadata;
  return {
    apiVersion: `${dnsEndpointType.group}/${dnsEndpointType.version}`,
    kind: dnsEndpointType.kind,
    metadata: {
      name,
      namespace,
      labels: localMarks,
      annotations: localMarks,
      ownerReferences: [ownerReferenceTo(gslb, typeOfGslb(gslb))],
    },
    spec: { endpoints: records },
  };
}

/**
 * The stored DNSEndpoint with the records in it; itself where nothing differs. What others added to its metadata stays,
 * and so does a controller that it has; where it has none, the Gslb becomes it. A legacy Gslb hands it over to the one that
 * follows it.
 */
export function withRecords(
  stored: DnsEndpoint,
  gslb: Gslb,
  records: readonly DnsEndpointRecord[],
): DnsEndpoint {
  const owners = stored.metadata.ownerReferences ?? [];
  const kept = owners.filter((owner) => !isPredecessor(owner, gslb));
  const isControlled = kept.some(({ controller }) => controller === true);
  const metadata = {
    ...stored.metadata,
    labels: { ...stored.metadata.labels, ...localMarks },
    annotations: { ...stored.metadata.annotations, ...localMarks },
    ...(isControlled && kept.length === owners.length
      ? {}
      : { ownerReferences: isControlled ? kept : [...kept, ownerReferenceTo(gslb, typeOfGslb(gslb))] }),
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
  // A Gslb of this name that was deleted and made again takes it as its own only once the old one is collected.
  if (isPredecessor(controller, gslb)) return undefined;
  return `DNSEndpoint ${namespace}/${name} is controlled by ${controller.kind} ${controller.name}; delete it or rename the Gslb`;
}
