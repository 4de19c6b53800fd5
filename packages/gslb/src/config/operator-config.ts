import type { Endpoint } from "@meridian/runtime";

/** A server named in the configuration: an address or a host name, and its port. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** A zone to create a ZoneDelegation for at the start. */
export interface ConfiguredZone {
  readonly loadBalancedZone: string;
  readonly parentZone: string;
  readonly negativeTtlSeconds: number;
}

/** Everything that an operator is told from outside. Parsed and checked as a whole; nothing in it is derived later. */
export interface OperatorConfig {
  /** `CLUSTER_GEO_TAG` */
  readonly geoTag: string;
  /** `EXT_GSLB_CLUSTERS_GEO_TAGS` without the own one, sorted. */
  readonly peerGeoTags: readonly string[];
  /** `MERIDIAN_PEERS`: where to ask a peer, by geo tag, instead of the addresses of its name server's name. */
  readonly peers: ReadonlyMap<string, readonly Endpoint[]>;
  /** `DNS_ZONES` */
  readonly zones: readonly ConfiguredZone[];
  /** `EDGE_DNS_SERVERS` */
  readonly edgeDnsServers: readonly ServerAddress[];
  /** `CLUSTER_EXPOSED_IPS` */
  readonly exposedAddresses: readonly string[];
  /** `MERIDIAN_DNS_ADDRESSES`: where the own DNS server is reached from outside, before `CLUSTER_EXPOSED_IPS`. */
  readonly dnsAddresses: readonly string[];
  /** `COREDNS_SERVICE_TYPE` */
  readonly dnsServiceType: "ClusterIP" | "LoadBalancer" | "NodePort" | "ExternalName";
  /** `GLUEA_PREFIX` */
  readonly nameServerPrefix: string;
  /** `NS_RECORD_TTL` */
  readonly nameServerTtlSeconds: number;
  /** `RECONCILE_REQUEUE_SECONDS` */
  readonly periodSeconds: number;
  /** `ZONE_DELEGATION_RECONCILE_REQUEUE_SECONDS` */
  readonly zonePeriodSeconds: number;
  /** `POD_NAMESPACE` */
  readonly podNamespace: string;
  /** `MERIDIAN_NOTIFY`: tells peers of changes at once and listens to them. False leaves polling only. */
  readonly notify: boolean;
  /** `MERIDIAN_PEER_DEADLINE_MS`: how long one question to a peer may take, retries included. */
  readonly peerDeadlineMs: number;
  /** Sentences about deprecated settings in use. */
  readonly deprecations: readonly string[];
}

/** One thing wrong with the environment. */
export interface ConfigProblem {
  readonly variable: string;
  readonly value: string;
  /** One line: the rule and an example. */
  readonly message: string;
}

export type ParsedOperatorConfig =
  | { readonly config: OperatorConfig; readonly problems?: undefined }
  | { readonly config?: undefined; readonly problems: readonly ConfigProblem[] };

/** Reads the operator's configuration from environment variables under k8gb's names, or reports every problem at once. */
export function parseOperatorConfig(_environment: Readonly<Record<string, string | undefined>>): ParsedOperatorConfig {
  return { problems: [{ variable: "CLUSTER_GEO_TAG", value: "", message: "not there yet" }] };
}
