import type { Endpoint } from "@meridian/runtime";
import { isIpv4, isIpv6 } from "@meridian/kube";
import { familyOf } from "../decide/address-family.ts";
import { ttlSecondsMax } from "../decide/gslb-policy.ts";
import { defaultNameServerPrefix } from "../decide/zone-names.ts";
import type { AnswerModes } from "../decide/answer-modes.ts";
import { parseDnsZones, type ConfiguredZone } from "./dns-zones.ts";
import {
  EnvironmentReader,
  parseServerAddress,
  type ConfigProblem,
  type ServerAddress,
  type SettingOrigins,
} from "./environment-reader.ts";
import { parseGeoConfig, type GeoConfig } from "./geo-config.ts";
import { parseInfobloxConfig, type InfobloxConfig } from "./infoblox-config.ts";
import { parseRfc2136Config, type Rfc2136Config } from "./rfc2136-config.ts";
import { parseTracingConfig, type TracingConfig } from "./tracing-config.ts";

/** Where it is not given, or 0: what failed is tried again all the same, since nobody else might look. */
const zoneRetrySecondsDefault = 30;

/** How the own DNS server is exposed: the types that a Service has. */
export type DnsServiceType = "ClusterIP" | "LoadBalancer" | "NodePort" | "ExternalName";

/** Everything that an operator is told from outside, checked as a whole. */
export interface OperatorConfig {
  /** `CLUSTER_GEO_TAG` */
  readonly geoTag: string;
  /** `EXT_GSLB_CLUSTERS_GEO_TAGS` without the own one, sorted. */
  readonly peerGeoTags: readonly string[];
  /** `MERIDIAN_GEO_TAGS`: whether other clusters than the listed ones may join, as they are found. */
  readonly areGeoTagsDynamic: boolean;
  /** `MERIDIAN_PEERS`: where to ask a peer, by geo tag, instead of the addresses of its name server's name. */
  readonly peers: ReadonlyMap<string, readonly Endpoint[]>;
  /** `DNS_ZONES` */
  readonly zones: readonly ConfiguredZone[];
  /** `EDGE_DNS_SERVERS` */
  readonly edgeDnsServers: readonly ServerAddress[];
  /** `CLUSTER_EXPOSED_IPS` */
  readonly exposedAddresses: readonly string[];
  /** `MERIDIAN_DNS_ADDRESSES`: where the own DNS server is reached from outside; wins over `CLUSTER_EXPOSED_IPS`. */
  readonly dnsAddresses: readonly string[];
  /** `COREDNS_SERVICE_TYPE` */
  readonly dnsServiceType: DnsServiceType;
  /** `GLUEA_PREFIX` */
  readonly nameServerPrefix: string;
  /** `NS_RECORD_TTL` */
  readonly nameServerTtlSeconds: number;
  /** `RECONCILE_REQUEUE_SECONDS`; 0 turns the periodic reconcile off, but peers are still asked every 30 s. */
  readonly periodSeconds: number;
  /** `ZONE_DELEGATION_RECONCILE_REQUEUE_SECONDS` */
  readonly zonePeriodSeconds: number;
  /** `ZONE_DELEGATION_RECOVERY_SECONDS`: the longest wait between two tries for a ZoneDelegation that failed. */
  readonly zoneRetrySeconds: number;
  /** `POD_NAMESPACE` */
  readonly podNamespace: string;
  /** `MERIDIAN_NOTIFY`: tells peers of changes at once and listens to them. False leaves polling only. */
  readonly notify: boolean;
  /** `MERIDIAN_PEER_DEADLINE_MS`: how long one question to a peer may take, retries included. */
  readonly peerDeadlineMs: number;
  /**
   * `MERIDIAN_ADDRESS_GRACE_SECONDS`: how long the last addresses stand in for those of an object that is there and shows none
   * any more.
   */
  readonly addressGraceSeconds: number;
  /** `MERIDIAN_PEER_PROOF`: whether peers that cannot prove themselves by the fleet's key are believed all the same. */
  readonly peerProof: "preferred" | "required";
  /** `MERIDIAN_LEADER_ELECTION`: whether this may be one of several replicas, of which one writes what is decided. */
  readonly leaderElection: boolean;
  /** `MERIDIAN_LEASE_SECONDS`: how long what the own cluster says of itself is answered after its operator has died. */
  readonly leaseSeconds: number;
  /** `MERIDIAN_WEIGHTS`, `MERIDIAN_TXT_TARGETS` and `MERIDIAN_RECORD_TTL` */
  readonly answerModes: AnswerModes;
  /** The variables that start with `MERIDIAN_GEOIP_`. */
  readonly geo: GeoConfig;
  /** `EXTDNS_ENABLED`, `INFOBLOX_GRID_HOST`, `MERIDIAN_RFC2136_SERVERS`: who writes the delegation into the parent zone. */
  readonly provider:
    | { readonly kind: "none" | "externalDns" }
    | { readonly kind: "rfc2136"; readonly rfc2136: Rfc2136Config }
    | { readonly kind: "infoblox"; readonly infoblox: InfobloxConfig };
  /** `METRICS_ADDRESS` */
  readonly metricsAddress: ServerAddress;
  /** The variables that start with `TRACING_`, and `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly tracing: TracingConfig;
  /** `LOG_LEVEL` and `LOG_FORMAT` */
  readonly log: {
    readonly level: "debug" | "info" | "warn" | "error" | "trace";
    readonly format: "simple" | "json";
  };
  /** Sentences about deprecated settings in use. */
  readonly deprecations: readonly string[];
}

/** The configuration, or everything that is wrong with the environment. */
export type ParsedOperatorConfig =
  | { readonly config: OperatorConfig; readonly problems?: undefined }
  | { readonly config?: undefined; readonly problems: readonly ConfigProblem[] };

/**
 * Reads the operator's configuration from environment variables under k8gb's names, or reports every problem at once.
 *
 * @param origins where values were given, if not in the environment; problems name that place
 */
export function parseOperatorConfig(
  environment: Readonly<Record<string, string | undefined>>,
  origins?: SettingOrigins,
): ParsedOperatorConfig {
  const reader = new EnvironmentReader(environment, origins);
  const deprecations: string[] = [];
  const geoTag = reader.text("CLUSTER_GEO_TAG");
  if (!isGeoTag(geoTag))
    reader.refuse("CLUSTER_GEO_TAG", "be this cluster's geo tag: letters, digits and -, for example eu");
  const tags = reader.list("EXT_GSLB_CLUSTERS_GEO_TAGS", "eu,us");
  for (const tag of tags.filter((each) => !isGeoTag(each)))
    reader.refuse(
      "EXT_GSLB_CLUSTERS_GEO_TAGS",
      "hold geo tags: letters, digits and -, for example eu,us",
      tag,
    );
  const peerGeoTags = tags.filter((tag) => tag !== geoTag && isGeoTag(tag)).sort();
  const peers = parsePeers(reader, peerGeoTags);
  const prefix = environment["GLUEA_PREFIX"] ?? defaultNameServerPrefix;
  const provider = parseProvider(reader);

  const config: OperatorConfig = {
    geoTag,
    peerGeoTags,
    areGeoTagsDynamic: parseGeoTagMode(reader, { geoTag, peerGeoTags, provider }),
    peers,
    zones: parseDnsZones(reader, { geoTags: [geoTag, ...peerGeoTags], prefix }),
    edgeDnsServers: parseEdgeDnsServers(
      reader,
      deprecations,
      peerGeoTags.every((tag) => peers.has(tag)) && peers.size > 0,
    ),
    exposedAddresses: parseAddresses(reader, "CLUSTER_EXPOSED_IPS"),
    dnsAddresses: parseAddresses(reader, "MERIDIAN_DNS_ADDRESSES"),
    dnsServiceType: reader.choice(
      "COREDNS_SERVICE_TYPE",
      ["ClusterIP", "LoadBalancer", "NodePort", "ExternalName"],
      "ClusterIP",
    ),
    nameServerPrefix: prefix,
    nameServerTtlSeconds: reader.integer("NS_RECORD_TTL", { fallback: 30, min: 1, max: ttlSecondsMax }),
    periodSeconds: reader.integer("RECONCILE_REQUEUE_SECONDS", { fallback: 30, min: 0 }),
    zonePeriodSeconds: reader.integer("ZONE_DELEGATION_RECONCILE_REQUEUE_SECONDS", { fallback: 300, min: 0 }),
    zoneRetrySeconds:
      reader.integer("ZONE_DELEGATION_RECOVERY_SECONDS", { fallback: 30, min: 0 }) || zoneRetrySecondsDefault,
    podNamespace: reader.text("POD_NAMESPACE", "k8gb"),
    notify: reader.flag("MERIDIAN_NOTIFY", true),
    addressGraceSeconds: reader.integer("MERIDIAN_ADDRESS_GRACE_SECONDS", {
      fallback: 300,
      min: 0,
      max: 86_400,
    }),
    peerDeadlineMs: reader.integer("MERIDIAN_PEER_DEADLINE_MS", { fallback: 2000, min: 100, max: 60_000 }),
    peerProof: reader.choice("MERIDIAN_PEER_PROOF", ["preferred", "required"], "preferred"),
    leaderElection: reader.flag("MERIDIAN_LEADER_ELECTION", false),
    leaseSeconds: reader.integer("MERIDIAN_LEASE_SECONDS", { fallback: 30, min: 1, max: 3_600 }),
    answerModes: {
      weights: reader.choice("MERIDIAN_WEIGHTS", ["choice", "order"], "choice"),
      txtTargets: reader.choice("MERIDIAN_TXT_TARGETS", ["records", "strings"], "records"),
      recordTtl: reader.integer("MERIDIAN_RECORD_TTL", { fallback: 60, min: 0, max: ttlSecondsMax }),
    },
    geo: parseGeoConfig(reader),
    provider,
    metricsAddress: parseMetricsAddress(reader),
    tracing: parseTracingConfig(reader),
    log: {
      level: reader.choice("LOG_LEVEL", ["debug", "info", "warn", "error", "trace"], "info"),
      format: reader.choice("LOG_FORMAT", ["simple", "json"], "simple"),
    },
    deprecations,
  };
  reader.flag("COREDNS_EXPOSED", false);
  return reader.problems.length === 0 ? { config } : { problems: reader.problems };
}

function isGeoTag(text: string): boolean {
  return /^[\p{L}\p{N}-]+$/u.test(text);
}

function parsePeers(
  reader: EnvironmentReader,
  peerGeoTags: readonly string[],
): ReadonlyMap<string, readonly Endpoint[]> {
  const peers = new Map<string, Endpoint[]>();
  const rule = "hold geotag=address:port, for example us=127.0.1.2:5300";
  for (const item of reader.list("MERIDIAN_PEERS", "us=127.0.1.2:5300,za=127.0.1.3:5300")) {
    const equals = item.indexOf("=");
    const tag = item.slice(0, Math.max(0, equals));
    const server = parseServerAddress(item.slice(equals + 1), 53);
    if (server === undefined || !(isIpv4(server.host) || isIpv6(server.host))) {
      reader.refuse("MERIDIAN_PEERS", rule, item);
    } else if (!peerGeoTags.includes(tag)) {
      reader.refuse("MERIDIAN_PEERS", "name only peers that EXT_GSLB_CLUSTERS_GEO_TAGS lists", item);
    } else peers.set(tag, [...(peers.get(tag) ?? []), { address: server.host, port: server.port }]);
  }
  return peers;
}

function parseEdgeDnsServers(
  reader: EnvironmentReader,
  deprecations: string[],
  areOptional: boolean,
): readonly ServerAddress[] {
  const example = "10.0.0.2:53,[2001:db8::53]";
  const rule = `hold servers as host or host:port, for example ${example}`;
  const items = reader.list("EDGE_DNS_SERVERS", example);
  if (reader.isSet("EDGE_DNS_SERVERS")) {
    return items.flatMap((item) => {
      const server = parseServerAddress(item, 53);
      if (server === undefined) reader.refuse("EDGE_DNS_SERVERS", rule, item);
      return server ?? [];
    });
  }
  if (reader.isSet("EDGE_DNS_SERVER_PORT"))
    deprecations.push(
      "EDGE_DNS_SERVER_PORT is deprecated: write the port into EDGE_DNS_SERVERS, as host:port",
    );
  const port = reader.integer("EDGE_DNS_SERVER_PORT", { fallback: 53, min: 1, max: 65_535 });
  if (reader.isSet("EDGE_DNS_SERVER")) {
    deprecations.push("EDGE_DNS_SERVER is deprecated: use EDGE_DNS_SERVERS");
    const server = parseServerAddress(reader.text("EDGE_DNS_SERVER"), port);
    if (server === undefined) reader.refuse("EDGE_DNS_SERVER", "be a host name or an address");
    return server === undefined ? [] : [{ host: server.host, port }];
  }
  if (!areOptional)
    reader.refuse("EDGE_DNS_SERVERS", `be set, unless MERIDIAN_PEERS names every peer: ${rule}`);
  return [];
}

function parseAddresses(reader: EnvironmentReader, variable: string): readonly string[] {
  const addresses = reader.list(variable, "192.0.2.1,2001:db8::1");
  // k8gb takes IPv4 only here; a cluster behind NAT64, or without IPv4, has no other means to say where it is.
  for (const address of addresses.filter((each) => familyOf(each) === undefined))
    reader.refuse(variable, "hold IP addresses, for example 192.0.2.1,2001:db8::1", address);
  return addresses;
}

/**
 * As in k8gb an empty list means no peers, save with a provider by which each cluster adds itself to the delegation: then the
 * delegation tells who they are.
 */
function parseGeoTagMode(
  reader: EnvironmentReader,
  { geoTag, peerGeoTags, provider }: Pick<OperatorConfig, "geoTag" | "peerGeoTags" | "provider">,
): boolean {
  const isTold = provider.kind !== "none" && provider.kind !== "externalDns";
  const fallback = isTold && peerGeoTags.length === 0 ? "dynamic" : "static";
  const isDynamic = reader.choice("MERIDIAN_GEO_TAGS", ["static", "dynamic"], fallback) === "dynamic";
  // With another spelling elsewhere a Gslb's primary or weight would be nobody's there.
  for (const tag of isDynamic ? [geoTag, ...peerGeoTags] : [])
    if (tag !== tag.toLowerCase())
      reader.refuse(
        tag === geoTag ? "CLUSTER_GEO_TAG" : "EXT_GSLB_CLUSTERS_GEO_TAGS",
        `be ${tag.toLowerCase()} where clusters are found by DNS names, which carry no case; or set MERIDIAN_GEO_TAGS=static and list all clusters`,
        tag,
      );
  return isDynamic;
}

function parseProvider(reader: EnvironmentReader): OperatorConfig["provider"] {
  const isExternalDns = reader.flag("EXTDNS_ENABLED", false);
  const isInfoblox = reader.isSet("INFOBLOX_GRID_HOST");
  const rfc2136 = parseRfc2136Config(reader);
  if (isExternalDns && isInfoblox)
    reader.refuse(
      "EXTDNS_ENABLED",
      "be false where INFOBLOX_GRID_HOST is set: one provider writes the delegation",
    );
  if (rfc2136 !== undefined && (isExternalDns || isInfoblox))
    reader.refuse(
      "MERIDIAN_RFC2136_SERVERS",
      `be unset where ${isInfoblox ? "INFOBLOX_GRID_HOST" : "EXTDNS_ENABLED"} is set: one provider writes the delegation`,
    );
  if (rfc2136 !== undefined) return { kind: "rfc2136", rfc2136 };
  if (isInfoblox) return { kind: "infoblox", infoblox: parseInfobloxConfig(reader) };
  return { kind: isExternalDns ? "externalDns" : "none" };
}

function parseMetricsAddress(reader: EnvironmentReader): ServerAddress {
  const server = parseServerAddress(reader.text("METRICS_ADDRESS", "0.0.0.0:8080"), 8080);
  if (server === undefined) reader.refuse("METRICS_ADDRESS", "be host:port, for example 0.0.0.0:8080");
  return server ?? { host: "0.0.0.0", port: 8080 };
}
