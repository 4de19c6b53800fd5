import { labelSelectorFromSpec, objectKey, type Service } from "@meridian/kube";
import { readyNodes } from "../decide/health.ts";
import { exposedAddressesAnnotation } from "../resources/gslb-annotations.ts";
import { excludedLabel, nodeObjects, type Node } from "../resources/node.ts";
import { unreadKind } from "./find-object.ts";
import { reachedBy, unread, type ReachedAt } from "./reference-kind.ts";
import type { RecordedReads } from "./reference-source.ts";

/**
 * Where a Service of type NodePort is reached: at the nodes that are ready, or with `externalTrafficPolicy: Local` at those
 * of them that have a ready endpoint, since others drop what comes in. By their external addresses, or the internal ones
 * where no such node has an external one; of the families that the Service has.
 */
export function reachedAtNodes(service: Service, reads: RecordedReads): ReachedAt {
  const notThere = unreadKind(reads, nodeObjects);
  if (notThere !== undefined) {
    const reached = unread(notThere);
    const advice = `state the addresses of Service ${objectKey(service.metadata)} by the annotation ${exposedAddressesAnnotation}`;
    return { ...reached, problems: reached.problems.map((problem) => `${problem}; ${advice}`) };
  }
  const { spec, metadata } = service;
  const isLocal = spec?.externalTrafficPolicy === "Local";
  const nodes = isLocal ? nodesBehind(objectKey(metadata), reads) : reads.select(nodeObjects, everyNode);
  const ready = nodes.filter(takesTraffic);
  const families = spec?.ipFamilies ?? ["IPv4", "IPv6"];
  const addressesOf = (type: string): readonly string[] =>
    ready
      .flatMap(({ status }) => status?.addresses ?? [])
      .filter((each) => each.type === type && families.includes(each.address.includes(":") ? "IPv6" : "IPv4"))
      .map(({ address }) => address);
  const external = addressesOf("ExternalIP");
  const addresses = external.length > 0 ? external : addressesOf("InternalIP");
  if (addresses.length > 0) return reachedBy(addresses.map((ip) => ({ ip })));
  const which = isLocal
    ? " has a ready endpoint of it (externalTrafficPolicy is Local), is ready"
    : " is ready";
  const lacking = `Service ${objectKey(metadata)} is reached at no node: none${which} and has an address of ${families.join(" or ")}`;
  return { ...reachedBy([]), lacking };
}

const everyNode = labelSelectorFromSpec({});

function nodesBehind(serviceKey: string, reads: RecordedReads): readonly Node[] {
  const names = new Set(reads.slicesOf(serviceKey).flatMap(readyNodes));
  return [...names].sort().flatMap((name) => reads.get(nodeObjects, name) ?? []);
}

function takesTraffic({ metadata, status }: Node): boolean {
  const isReady = (status?.conditions ?? []).some(
    (condition) => condition.type === "Ready" && condition.status === "True",
  );
  return isReady && metadata.labels?.[excludedLabel] === undefined;
}
