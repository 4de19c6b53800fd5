import type { Lister } from "@meridian/controller";
import { controllerOf } from "@meridian/kube";
import { parseGslbPolicy } from "../decide/gslb-policy.ts";
import { publishedPolicyText } from "../decide/published-host.ts";
import { isLocalDnsEndpoint, type DnsEndpoint } from "../resources/dns-endpoint.ts";
import type { Gslb } from "../resources/gslb.ts";
import { isGslbReference, isPredecessor } from "../resources/owner.ts";
import { gslbType } from "../resources/resource-types.ts";
import type { BookedObject } from "./endpoint-book.ts";

/** The copies that say whether a DNSEndpoint counts. */
export interface EndpointCopies {
  readonly endpoints: { readonly lister: Pick<Lister<DnsEndpoint>, "get"> };
  readonly gslbs: {
    readonly lister: Pick<Lister<Gslb>, "get">;
    /** It cannot be told whether a legacy Gslb is there. */
    readonly isLegacyUnknown?: boolean;
  };
}

/**
 * A DNSEndpoint as its records count now, `undefined` where they do not: it is gone, it is for another DNS server, or the
 * Gslb that controls it is gone and it only waits to be collected.
 *
 * It is the operator's own when the Gslb of its name controls it; it then has the age of that Gslb, so that a DNSEndpoint
 * that was deleted and written anew keeps its names.
 */
export function readBooked(
  key: string,
  copies: EndpointCopies,
): { readonly booked: BookedObject; readonly object: DnsEndpoint } | undefined {
  const object = copies.endpoints.lister.get(key);
  if (object === undefined || !isLocalDnsEndpoint(object)) return undefined;
  const records = object.spec?.endpoints ?? [];
  const controller = controllerOf(object);
  const gslb = copies.gslbs.lister.get(key);
  const isLegacy = isGslbReference(controller) && !controller.apiVersion.startsWith(`${gslbType.group}/`);
  if (!isGslbReference(controller) || (isLegacy && gslb === undefined && copies.gslbs.isLegacyUnknown)) {
    const since = object.metadata.creationTimestamp ?? "";
    return { booked: { key, since, isOwn: false, records }, object };
  }
  if (gslb === undefined) return undefined;
  if (gslb.metadata.uid !== controller.uid && !isPredecessor(controller, gslb)) return undefined;
  const { policy } = parseGslbPolicy(gslb);
  const since = gslb.metadata.creationTimestamp ?? "";
  return {
    booked: { key, since, isOwn: true, records, policyText: publishedPolicyText(policy) },
    object,
  };
}
