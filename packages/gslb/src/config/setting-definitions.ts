/** One setting of the operator, however it is given. */
export interface SettingDefinition {
  /** The environment variable: k8gb's, or one of our own that starts with `MERIDIAN_`. */
  readonly variable: string;
  /** The flag without `--`, in kebab-case: k8gb's field where that says what it is. */
  readonly flag: string;
  /** How the value is called in the help. */
  readonly value: string;
  readonly help: string;
  /** Never shown: not in logs, not in problems. */
  readonly isSecret?: true;
  /** Given in k8gb, and without effect here. */
  readonly isIgnored?: true;
}

type Row = readonly [variable: string, flag: string, value: string, help: string];

const rows: readonly Row[] = [
  ["CLUSTER_GEO_TAG", "cluster-geo-tag", "TAG", "this cluster's geo tag"],
  ["EXT_GSLB_CLUSTERS_GEO_TAGS", "ext-gslb-clusters-geo-tags", "TAGS", "the other clusters' geo tags: eu,us"],
  ["DNS_ZONES", "dns-zones", "ZONES", "parent:zone:negative TTL, several with ;"],
  [
    "EDGE_DNS_SERVERS",
    "edge-dns-servers",
    "SERVERS",
    "servers to look other clusters up at: 10.0.0.2:53,ns.test",
  ],
  ["EDGE_DNS_SERVER", "edge-dns-server", "HOST", "deprecated: use --edge-dns-servers"],
  ["EDGE_DNS_SERVER_PORT", "edge-dns-server-port", "PORT", "deprecated: use --edge-dns-servers"],
  [
    "CLUSTER_EXPOSED_IPS",
    "cluster-exposed-ips",
    "ADDRESSES",
    "where this cluster is reached, instead of what is found",
  ],
  [
    "COREDNS_SERVICE_TYPE",
    "core-dns-service-type",
    "TYPE",
    "of the DNS Service: ClusterIP (default), LoadBalancer ...",
  ],
  ["GLUEA_PREFIX", "glue-a-prefix", "TEXT", "with what the names of name servers begin (default gslb-ns-)"],
  ["NS_RECORD_TTL", "ns-record-ttl", "SECONDS", "TTL of the delegation (default 30)"],
  [
    "RECONCILE_REQUEUE_SECONDS",
    "reconcile-requeue-seconds",
    "SECONDS",
    "how often peers are asked (default 30)",
  ],
  [
    "ZONE_DELEGATION_RECONCILE_REQUEUE_SECONDS",
    "zone-delegation-reconcile-requeue-seconds",
    "SECONDS",
    "how often delegations are checked (default 300)",
  ],
  [
    "ZONE_DELEGATION_RECOVERY_SECONDS",
    "zone-delegation-recovery-seconds",
    "SECONDS",
    "the longest wait between tries for a delegation that failed (default 30)",
  ],
  [
    "POD_NAMESPACE",
    "pod-namespace",
    "NAMESPACE",
    "where the operator keeps objects of its own (default k8gb)",
  ],
  ["EXTDNS_ENABLED", "ext-dns-enabled", "BOOL", "external-dns writes the delegation"],
  ["INFOBLOX_GRID_HOST", "infoblox-grid-host", "HOST", "the Infoblox grid that holds the delegation"],
  ["INFOBLOX_WAPI_PORT", "infoblox-wapi-port", "PORT", "its port (default 443)"],
  ["INFOBLOX_WAPI_USERNAME", "infoblox-wapi-username", "NAME", "its user"],
  [
    "INFOBLOX_WAPI_PASSWORD",
    "infoblox-wapi-password",
    "TEXT",
    "its password; a flag shows it to all who list processes",
  ],
  ["INFOBLOX_WAPI_VERSION", "infoblox-wapi-version", "VERSION", "its WAPI version (default v2)"],
  [
    "INFOBLOX_HTTP_REQUEST_TIMEOUT",
    "infoblox-http-request-timeout",
    "SECONDS",
    "bound on a call (default 20)",
  ],
  ["INFOBLOX_HTTP_POOL_CONNECTIONS", "infoblox-http-pool-connections", "N", "connections to it (default 10)"],
  ["INFOBLOX_DNS_VIEW", "infoblox-dns-view", "VIEW", "its view of the zone (default default)"],
  [
    "METRICS_ADDRESS",
    "metrics-address",
    "ADDR:PORT",
    "where /metrics, /healthz and /readyz are (default 0.0.0.0:8080)",
  ],
  ["TRACING_ENABLED", "tracing-enabled", "BOOL", "whether spans are exported"],
  [
    "TRACING_SAMPLING_RATIO",
    "tracing-sampling-ratio",
    "RATIO",
    "the share of traces that is kept (default 1.0)",
  ],
  [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "otel-exporter-otlp-endpoint",
    "ADDR:PORT",
    "where spans go, by OTLP over HTTP (default localhost:4318)",
  ],
  ["LOG_LEVEL", "log-level", "LEVEL", "debug, info (default), warn, error or trace"],
  [
    "LOG_FORMAT",
    "log-format",
    "FORMAT",
    "simple: text on standard error (default); json: on standard output",
  ],
  [
    "MERIDIAN_DNS_ADDRESSES",
    "dns-addresses",
    "ADDRESSES",
    "where the own DNS server is reached from outside",
  ],
  ["MERIDIAN_GEO_TAGS", "geo-tags", "MODE", "static: only listed clusters take part; dynamic: others join"],
  ["MERIDIAN_INFOBLOX_CA_FILE", "infoblox-ca-file", "PATH", "CAs that vouch for the grid, in PEM"],
  ["MERIDIAN_PEERS", "peers", "PEERS", "geotag=address:port,...: where to ask peers, where glue cannot tell"],
  ["MERIDIAN_NOTIFY", "notify", "BOOL", "tell peers of changes, and listen to them (default true)"],
  [
    "MERIDIAN_ADDRESS_GRACE_SECONDS",
    "address-grace-seconds",
    "SECONDS",
    "how long addresses stand that an object shows no more (default 300)",
  ],
  ["MERIDIAN_PEER_DEADLINE_MS", "peer-deadline-ms", "MS", "bound on a question to a peer (default 2000)"],
  [
    "MERIDIAN_PEER_PROOF",
    "peer-proof",
    "MODE",
    "preferred (default), or required: only peers with the key are believed",
  ],
  [
    "MERIDIAN_LEADER_ELECTION",
    "leader-election",
    "BOOL",
    "there may be several replicas, of which one writes",
  ],
  [
    "MERIDIAN_LEASE_SECONDS",
    "lease-seconds",
    "SECONDS",
    "how long the word of a dead operator counts (default 30)",
  ],
  ["MERIDIAN_WEIGHTS", "weights", "MODE", "choice (default), or order as k8gb has it"],
  ["MERIDIAN_TXT_TARGETS", "txt-targets", "MODE", "records (default), or strings as k8gb has it"],
  ["MERIDIAN_RECORD_TTL", "record-ttl", "SECONDS", "of records whose DNSEndpoint says none (default 60)"],
  ["MERIDIAN_GEOIP_DATABASE", "geoip-database", "PATH", "a MaxMind DB"],
  ["MERIDIAN_GEOIP_FIELDS", "geoip-fields", "PATHS", "what of its records is compared (default datacenter)"],
  ["MERIDIAN_GEOIP_MAP", "geoip-map", "PATH", "a map of networks, countries and continents"],
  [
    "MERIDIAN_GEOIP_CONFIG_MAP",
    "geoip-config-map",
    "NAME",
    "the ConfigMap with such a map (default meridian-geo-map)",
  ],
  [
    "MERIDIAN_GEOIP_RESOLVERS",
    "geoip-resolvers",
    "NETWORKS",
    "resolvers whose client subnets are used (default all)",
  ],
  [
    "MERIDIAN_RFC2136_SERVERS",
    "rfc2136-servers",
    "SERVERS",
    "primaries of parent zones, which take dynamic updates",
  ],
  ["MERIDIAN_RFC2136_KEY_FILE", "rfc2136-key-file", "PATH", "TSIG keys that sign updates"],
  ["MERIDIAN_RFC2136_KEYS", "rfc2136-keys", "KEYS", "zone=key,...: which key is for which parent zone"],
  ["MERIDIAN_RFC2136_UNSIGNED", "rfc2136-unsigned", "BOOL", "updates are not signed"],
  ["COREDNS_EXPOSED", "core-dns-exposed", "BOOL", "ignored, as in k8gb"],
  ["NO_COLOR", "no-color", "BOOL", "ignored: logs have no colours"],
];

const secretVariables: readonly string[] = ["INFOBLOX_WAPI_PASSWORD"];
const ignoredVariables: readonly string[] = ["COREDNS_EXPOSED", "NO_COLOR"];

/** Every setting that the operator knows, k8gb's first. */
export const settingDefinitions: readonly SettingDefinition[] = rows.map(([variable, flag, value, help]) => ({
  ...{ variable, flag, value, help },
  ...(secretVariables.includes(variable) ? { isSecret: true } : {}),
  ...(ignoredVariables.includes(variable) ? { isIgnored: true } : {}),
}));

/** The key of a setting in a file: its flag in camelCase. `nsRecordTtl`, `dnsZones`. */
export function settingKey({ flag }: SettingDefinition): string {
  return flag.replace(/-([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase());
}
