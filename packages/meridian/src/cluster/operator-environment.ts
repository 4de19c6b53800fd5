import type { ClusterRole } from "../fleet/child-protocol.ts";
import { endpointText, playgroundZone } from "../fleet/fleet-layout.ts";

/** What a playground cluster's operator is told, under the names that k8gb's users know. */
export function operatorEnvironment(role: ClusterRole): Readonly<Record<string, string>> {
  const { name, parent, negativeTtl } = playgroundZone;
  return {
    CLUSTER_GEO_TAG: role.geoTag,
    EXT_GSLB_CLUSTERS_GEO_TAGS: role.peerGeoTags.join(","),
    DNS_ZONES: `${parent}:${name}:${negativeTtl}`,
    EDGE_DNS_SERVERS: endpointText(role.parentDns),
    MERIDIAN_DNS_ADDRESSES: role.dns.address,
    ...(role.peers === undefined
      ? {}
      : { MERIDIAN_PEERS: role.peers.map((peer) => `${peer.geoTag}=${endpointText(peer.dns)}`).join(",") }),
  };
}
