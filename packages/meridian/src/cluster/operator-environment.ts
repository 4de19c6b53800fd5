import { formatEndpoint } from "@meridian/runtime";
import type { ClusterRole } from "../fleet/child-protocol.ts";
import { playgroundZone } from "../fleet/fleet-layout.ts";

/** What a playground cluster's operator is told, under the names that k8gb's users know. */
export function operatorEnvironment(role: ClusterRole): Readonly<Record<string, string>> {
  const { name, parent, negativeTtl } = playgroundZone;
  return {
    EDGE_DNS_SERVERS: formatEndpoint(role.parentDns),
    MERIDIAN_DNS_ADDRESSES: role.dns.address,
    DNS_ZONES: `${parent}:${name}:${negativeTtl}`,
    ...role.operatorSettings,
    CLUSTER_GEO_TAG: role.geoTag,
    EXT_GSLB_CLUSTERS_GEO_TAGS: role.peerGeoTags.join(","),
    ...(role.peers === undefined
      ? {}
      : { MERIDIAN_PEERS: role.peers.map((peer) => `${peer.geoTag}=${formatEndpoint(peer.dns)}`).join(",") }),
  };
}

/**
 * What a person may set for all operators of a playground, another parent than the playground's own included; where the
 * clusters are, the playground knows itself.
 */
const tunable = [
  "EDGE_DNS_SERVERS",
  "EXTDNS_ENABLED",
  "MERIDIAN_RFC2136_SERVERS",
  "MERIDIAN_RFC2136_KEY_FILE",
  "MERIDIAN_RFC2136_KEYS",
  "RECONCILE_REQUEUE_SECONDS",
  "ZONE_DELEGATION_RECONCILE_REQUEUE_SECONDS",
  "NS_RECORD_TTL",
  "MERIDIAN_NOTIFY",
  "MERIDIAN_PEER_DEADLINE_MS",
  "MERIDIAN_PEER_PROOF",
  "MERIDIAN_LEASE_SECONDS",
  "MERIDIAN_ADDRESS_GRACE_SECONDS",
  "MERIDIAN_WEIGHTS",
  "MERIDIAN_TXT_TARGETS",
  "MERIDIAN_RECORD_TTL",
  "MERIDIAN_GEOIP_DATABASE",
  "MERIDIAN_GEOIP_FIELDS",
  "MERIDIAN_GEOIP_MAP",
  "MERIDIAN_GEOIP_CONFIG_MAP",
  "MERIDIAN_GEOIP_RESOLVERS",
  "TRACING_ENABLED",
  "TRACING_SAMPLING_RATIO",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
] as const;

/** The settings for operators that stand in an environment. */
export function operatorSettings(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const given = tunable.map((name) => [name, environment[name]] as const);
  return Object.fromEntries(
    given.filter((entry): entry is readonly [(typeof tunable)[number], string] => entry[1] !== undefined),
  );
}
