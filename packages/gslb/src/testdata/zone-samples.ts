import type { ZoneDelegation } from "../resources/zone-delegation.ts";

/** A ZoneDelegation of a zone under the parent `x`. */
export function zoneDelegation(name: string, loadBalancedZone: string): ZoneDelegation {
  return {
    apiVersion: "k8gb.io/v1beta1",
    kind: "ZoneDelegation",
    metadata: { name, uid: name, generation: 1 },
    spec: { loadBalancedZone, parentZone: "x", dnsZoneNegTTL: 30 },
  };
}

/** The same with `doFinalize`. */
export function finalized(zone: ZoneDelegation, doFinalize = true): ZoneDelegation {
  return { ...zone, spec: { ...zone.spec!, doFinalize } };
}

/** What DNS says of the zone `a.x` and its clusters `us` and `za`, which the parent delegates to beside `eu`. */
export const peersKnown: readonly (readonly [string, readonly string[]])[] = [
  ["x NS", ["ns.x."]],
  ["ns.x A", ["192.0.2.53"]],
  ["gslb-ns-us-a.x A", ["198.51.100.1", "198.51.100.2"]],
  ["gslb-ns-za-a.x A", ["203.0.113.1", "203.0.113.2"]],
  ["a.x NS", ["gslb-ns-eu-a.x.", "gslb-ns-us-a.x.", "gslb-ns-za-a.x."]],
];

/** The settings that name them. */
export const withPeers: Readonly<Record<string, string>> = { EXT_GSLB_CLUSTERS_GEO_TAGS: "us,za" };

/** `status.dnsServers` as `name address`. */
export function serversOf(zone: ZoneDelegation | undefined): readonly string[] {
  return (zone?.status?.dnsServers ?? []).map(({ name, address }) => `${name} ${address}`);
}

/** A condition as `status reason: message`. */
export function conditionOf(zone: ZoneDelegation | undefined, type: string): string {
  const found = zone?.status?.conditions?.find((each) => each.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}
