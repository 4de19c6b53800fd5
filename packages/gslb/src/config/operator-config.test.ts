import assert from "node:assert/strict";
import { test } from "node:test";
import { parseOperatorConfig, type OperatorConfig } from "./operator-config.ts";

type Environment = Readonly<Record<string, string>>;

const minimal: Environment = {
  CLUSTER_GEO_TAG: "us",
  DNS_ZONES: "example.com:cloud.example.com:30",
  EDGE_DNS_SERVERS: "local.test",
  EXTDNS_ENABLED: "true",
};

function config(more: Environment = {}): OperatorConfig {
  const parsed = parseOperatorConfig({ ...minimal, ...more });
  assert.deepEqual(parsed.problems, undefined);
  return parsed.config;
}

function refusedVariables(more: Environment): readonly string[] {
  return (parseOperatorConfig({ ...minimal, ...more }).problems ?? []).map((problem) => problem.variable);
}

test("Configuration: the minimal environment gives the defaults, and reading it again the same", () => {
  const { peers, ...rest } = config();
  assert.equal(peers.size, 0);
  assert.deepEqual(rest, {
    geoTag: "us",
    peerGeoTags: [],
    areGeoTagsDynamic: false,
    zones: [{ parentZone: "example.com", loadBalancedZone: "cloud.example.com", negativeTtlSeconds: 30 }],
    edgeDnsServers: [{ host: "local.test", port: 53 }],
    exposedAddresses: [],
    dnsAddresses: [],
    dnsServiceType: "ClusterIP",
    nameServerPrefix: "gslb-ns-",
    nameServerTtlSeconds: 30,
    periodSeconds: 30,
    zonePeriodSeconds: 300,
    zoneRetrySeconds: 30,
    podNamespace: "k8gb",
    notify: true,
    addressGraceSeconds: 300,
    peerDeadlineMs: 2000,
    peerProof: "preferred",
    leaderElection: false,
    leaseSeconds: 30,
    answerModes: { weights: "choice", txtTargets: "records", recordTtl: 60 },
    geo: {
      databasePath: undefined,
      fields: ["datacenter"],
      mapPath: undefined,
      configMapName: "meridian-geo-map",
      trusted: undefined,
    },
    provider: { kind: "externalDns" },
    metricsAddress: { host: "0.0.0.0", port: 8080 },
    tracing: { enabled: false, samplingRatio: 1, endpoint: "http://localhost:4318" },
    log: { level: "info", format: "simple" },
    deprecations: [],
  });
  assert.deepEqual(config(), config());
});

const accepted: readonly {
  readonly name: string;
  readonly environment: Environment;
  readonly expect: Partial<OperatorConfig>;
}[] = [
  {
    name: "peers",
    environment: { EXT_GSLB_CLUSTERS_GEO_TAGS: "za,eu" },
    expect: { peerGeoTags: ["eu", "za"] },
  },
  {
    name: "the own tag among the peers is ignored",
    environment: { EXT_GSLB_CLUSTERS_GEO_TAGS: "za,us,eu" },
    expect: { peerGeoTags: ["eu", "za"] },
  },
  {
    name: "only the own tag: no peers",
    environment: { EXT_GSLB_CLUSTERS_GEO_TAGS: "us" },
    expect: { peerGeoTags: [] },
  },
  {
    name: "several edge servers",
    environment: { EDGE_DNS_SERVERS: "local.test,10.10.0.2:5353,10.10.0.2" },
    expect: {
      edgeDnsServers: [
        { host: "local.test", port: 53 },
        { host: "10.10.0.2", port: 5353 },
        { host: "10.10.0.2", port: 53 },
      ],
    },
  },
  {
    name: "the deprecated port is ignored where the list is set",
    environment: { EDGE_DNS_SERVER: "x.test", EDGE_DNS_SERVER_PORT: "0" },
    expect: { deprecations: [] },
  },
  {
    name: "exposed addresses",
    environment: { CLUSTER_EXPOSED_IPS: "192.0.2.1,192.0.2.2" },
    expect: { exposedAddresses: ["192.0.2.1", "192.0.2.2"] },
  },
  {
    name: "D22, D-08: exposed addresses of both families, where k8gb refuses IPv6",
    environment: {
      CLUSTER_EXPOSED_IPS: "192.0.2.5,2001:db8::5",
      MERIDIAN_DNS_ADDRESSES: "192.0.2.6,2001:db8::6",
    },
    expect: {
      exposedAddresses: ["192.0.2.5", "2001:db8::5"],
      dnsAddresses: ["192.0.2.6", "2001:db8::6"],
    },
  },
  {
    name: "the metrics address",
    environment: { METRICS_ADDRESS: "10.0.0.2:8080" },
    expect: { metricsAddress: { host: "10.0.0.2", port: 8080 } },
  },
  {
    name: "k8gb's ways of answering",
    environment: { MERIDIAN_WEIGHTS: "order", MERIDIAN_TXT_TARGETS: "strings", MERIDIAN_RECORD_TTL: "5" },
    expect: { answerModes: { weights: "order", txtTargets: "strings", recordTtl: 5 } },
  },
  {
    name: "geography",
    environment: {
      MERIDIAN_GEOIP_DATABASE: "/geoip.mmdb",
      MERIDIAN_GEOIP_FIELDS: "country.iso_code, continent.code",
      MERIDIAN_GEOIP_MAP: "/geo.yaml",
      MERIDIAN_GEOIP_RESOLVERS: "192.0.2.0/24",
    },
    expect: {
      geo: {
        databasePath: "/geoip.mmdb",
        fields: ["country.iso_code", "continent.code"],
        mapPath: "/geo.yaml",
        configMapName: "meridian-geo-map",
        trusted: [{ octets: Uint8Array.of(192, 0, 2, 0), octetCount: 4, prefix: 24 }],
      },
    },
  },
  {
    name: "traces to a collector beside",
    environment: { TRACING_ENABLED: "true", TRACING_SAMPLING_RATIO: "0.25" },
    expect: { tracing: { enabled: true, samplingRatio: 0.25, endpoint: "http://localhost:4318" } },
  },
  {
    name: "traces to a URL",
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.test:4318/" },
    expect: { tracing: { enabled: false, samplingRatio: 1, endpoint: "https://collector.test:4318" } },
  },
  {
    name: "D13: the wait after a delegation failed, which has an effect",
    environment: { ZONE_DELEGATION_RECOVERY_SECONDS: "5" },
    expect: { zoneRetrySeconds: 5 },
  },
  { name: "no NOTIFY", environment: { MERIDIAN_NOTIFY: "false" }, expect: { notify: false } },
  {
    name: "no provider",
    environment: { EXTDNS_ENABLED: "false", INFOBLOX_GRID_HOST: "" },
    expect: { provider: { kind: "none" } },
  },
  {
    name: "Infoblox with defaults",
    environment: {
      EXTDNS_ENABLED: "false",
      INFOBLOX_GRID_HOST: "10.0.0.9",
      INFOBLOX_WAPI_USERNAME: "u",
      INFOBLOX_WAPI_PASSWORD: "p",
    },
    expect: {
      provider: {
        kind: "infoblox",
        infoblox: {
          host: "10.0.0.9",
          port: 443,
          username: "u",
          password: "p",
          version: "v2",
          requestTimeoutSeconds: 20,
          connections: 10,
          dnsView: "default",
          caFile: undefined,
        },
      },
    },
  },
  {
    name: "Infoblox with everything set",
    environment: {
      EXTDNS_ENABLED: "false",
      INFOBLOX_GRID_HOST: "grid.example.net",
      INFOBLOX_WAPI_PORT: "8443",
      INFOBLOX_WAPI_USERNAME: "u",
      INFOBLOX_WAPI_PASSWORD: "p",
      INFOBLOX_WAPI_VERSION: "2.3.1",
      INFOBLOX_HTTP_REQUEST_TIMEOUT: "5",
      INFOBLOX_HTTP_POOL_CONNECTIONS: "3",
      INFOBLOX_DNS_VIEW: "outside",
      MERIDIAN_INFOBLOX_CA_FILE: "/ca.pem",
    },
    expect: {
      provider: {
        kind: "infoblox",
        infoblox: {
          ...{ host: "grid.example.net", port: 8443, username: "u", password: "p", version: "2.3.1" },
          ...{ requestTimeoutSeconds: 5, connections: 3, dnsView: "outside", caFile: "/ca.pem" },
        },
      },
    },
  },
  { name: "no zones", environment: { DNS_ZONES: "" }, expect: { zones: [] } },
  {
    name: "zones with spaces and a last semicolon",
    environment: {
      DNS_ZONES: "cloud.example.com: k8gb-test.gslb.cloud.example.com :60; example.org:a.example.org:5; ",
    },
    expect: {
      zones: [
        {
          parentZone: "cloud.example.com",
          loadBalancedZone: "k8gb-test.gslb.cloud.example.com",
          negativeTtlSeconds: 60,
        },
        { parentZone: "example.org", loadBalancedZone: "a.example.org", negativeTtlSeconds: 5 },
      ],
    },
  },
];

for (const { name, environment, expect } of accepted) {
  test(`Configuration, accepted: ${name}`, () => {
    const parsed = config(environment);
    for (const [field, value] of Object.entries(expect))
      assert.deepEqual(parsed[field as keyof OperatorConfig], value, field);
  });
}

const refused: readonly {
  readonly name: string;
  readonly environment: Environment;
  readonly variables: readonly string[];
}[] = [
  { name: "no geo tag", environment: { CLUSTER_GEO_TAG: "" }, variables: ["CLUSTER_GEO_TAG"] },
  {
    name: "a peer that is no geo tag",
    environment: { EXT_GSLB_CLUSTERS_GEO_TAGS: "za*" },
    variables: ["EXT_GSLB_CLUSTERS_GEO_TAGS"],
  },
  {
    name: "a peer twice",
    environment: { EXT_GSLB_CLUSTERS_GEO_TAGS: "za,eu,za" },
    variables: ["EXT_GSLB_CLUSTERS_GEO_TAGS"],
  },
  {
    name: "the own tag twice",
    environment: { EXT_GSLB_CLUSTERS_GEO_TAGS: "us,us" },
    variables: ["EXT_GSLB_CLUSTERS_GEO_TAGS"],
  },
  {
    name: "a port over the limit",
    environment: { EDGE_DNS_SERVERS: "local.test:500353" },
    variables: ["EDGE_DNS_SERVERS"],
  },
  {
    name: "a port that is none",
    environment: { EDGE_DNS_SERVERS: "local.test:badport" },
    variables: ["EDGE_DNS_SERVERS"],
  },
  { name: "no host", environment: { EDGE_DNS_SERVERS: ":5053" }, variables: ["EDGE_DNS_SERVERS"] },
  {
    name: "no host in a list",
    environment: { EDGE_DNS_SERVERS: "local.test,:53" },
    variables: ["EDGE_DNS_SERVERS"],
  },
  {
    name: "an edge server twice",
    environment: { EDGE_DNS_SERVERS: "local.test,10.0.0.2,local.test" },
    variables: ["EDGE_DNS_SERVERS"],
  },
  { name: "no edge server", environment: { EDGE_DNS_SERVERS: "" }, variables: ["EDGE_DNS_SERVERS"] },
  {
    name: "deprecated port 0",
    environment: { EDGE_DNS_SERVERS: "", EDGE_DNS_SERVER: "x.test", EDGE_DNS_SERVER_PORT: "0" },
    variables: ["EDGE_DNS_SERVER_PORT"],
  },
  {
    name: "two providers",
    environment: { INFOBLOX_GRID_HOST: "x", INFOBLOX_WAPI_USERNAME: "u", INFOBLOX_WAPI_PASSWORD: "p" },
    variables: ["EXTDNS_ENABLED"],
  },
  {
    name: "an Infoblox host with a dot too many",
    environment: {
      EXTDNS_ENABLED: "false",
      INFOBLOX_GRID_HOST: "192.168.10.10.",
      INFOBLOX_WAPI_USERNAME: "u",
      INFOBLOX_WAPI_PASSWORD: "p",
    },
    variables: ["INFOBLOX_GRID_HOST"],
  },
  {
    name: "Infoblox without user",
    environment: { EXTDNS_ENABLED: "false", INFOBLOX_GRID_HOST: "x", INFOBLOX_WAPI_PASSWORD: "p" },
    variables: ["INFOBLOX_WAPI_USERNAME"],
  },
  {
    name: "a metrics address that is none",
    environment: { METRICS_ADDRESS: "10.0.0.:8080" },
    variables: ["METRICS_ADDRESS"],
  },
  {
    name: "an exposed address that is none",
    environment: { CLUSTER_EXPOSED_IPS: "hello" },
    variables: ["CLUSTER_EXPOSED_IPS"],
  },
  {
    name: "an exposed address twice",
    environment: { CLUSTER_EXPOSED_IPS: "192.0.2.1,192.0.2.1" },
    variables: ["CLUSTER_EXPOSED_IPS"],
  },
  {
    name: "a zone TTL that is no number",
    environment: { DNS_ZONES: "example.com:cloud.example.com:30x" },
    variables: ["DNS_ZONES"],
  },
  {
    name: "a zone outside its parent",
    environment: { DNS_ZONES: "example.com:cloud.example.org:30" },
    variables: ["DNS_ZONES"],
  },
  {
    name: "a name server name over 63",
    environment: { DNS_ZONES: `example.com:${"a".repeat(60)}.example.com:30` },
    variables: ["DNS_ZONES"],
  },
  {
    name: "a service type that is none",
    environment: { COREDNS_SERVICE_TYPE: "Loadbalancer" },
    variables: ["COREDNS_SERVICE_TYPE"],
  },
  {
    name: "a share of traces over 1",
    environment: { TRACING_SAMPLING_RATIO: "1.5" },
    variables: ["TRACING_SAMPLING_RATIO"],
  },
  {
    name: "a collector without port number",
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:none" },
    variables: ["OTEL_EXPORTER_OTLP_ENDPOINT"],
  },
  { name: "a name server TTL of 0", environment: { NS_RECORD_TTL: "0" }, variables: ["NS_RECORD_TTL"] },
  {
    name: "an explicit peer that is no peer",
    environment: { MERIDIAN_PEERS: "mars=192.0.2.1:53" },
    variables: ["MERIDIAN_PEERS"],
  },
  {
    name: "all problems at once",
    environment: { CLUSTER_GEO_TAG: "", NS_RECORD_TTL: "x", LOG_LEVEL: "loud" },
    variables: ["CLUSTER_GEO_TAG", "NS_RECORD_TTL", "LOG_LEVEL"],
  },
];

for (const { name, environment, variables } of refused) {
  test(`Configuration, refused: ${name}`, () => {
    assert.deepEqual(refusedVariables(environment), variables);
  });
}

test("Configuration: the deprecated edge server is used, and each deprecated variable is told once", () => {
  const both = config({ EDGE_DNS_SERVERS: "", EDGE_DNS_SERVER: "x.test", EDGE_DNS_SERVER_PORT: "1053" });
  assert.deepEqual([both.edgeDnsServers, both.deprecations.length], [[{ host: "x.test", port: 1053 }], 2]);
  const one = config({ EDGE_DNS_SERVERS: "", EDGE_DNS_SERVER: "x.test" });
  assert.deepEqual([one.edgeDnsServers, one.deprecations.length], [[{ host: "x.test", port: 53 }], 1]);
});

test("explicit peers make edge servers optional", () => {
  const parsed = config({
    EXT_GSLB_CLUSTERS_GEO_TAGS: "eu,za",
    MERIDIAN_PEERS: "eu=127.0.0.1:5301,za=127.0.0.1:5302,za=127.0.0.2:5302",
    EDGE_DNS_SERVERS: "",
  });
  assert.deepEqual(parsed.peers.get("za"), [
    { address: "127.0.0.1", port: 5302 },
    { address: "127.0.0.2", port: 5302 },
  ]);
});

test("a problem names variable, value and rule, and never a password", () => {
  const { problems = [] } = parseOperatorConfig({ ...minimal, NS_RECORD_TTL: "x" });
  assert.match(
    problems[0]!.message,
    /^NS_RECORD_TTL is "x"; it must be a whole number from 1 to \d+, for example 30$/,
  );
});
