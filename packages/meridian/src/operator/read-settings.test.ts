import assert from "node:assert/strict";
import { test } from "node:test";
import { parseOperatorConfig, settingDefinitions, settingKey } from "@meridian/gslb";
import { operatorSettings } from "./operator-settings.ts";
import { readSettings, type GivenSettings, type ReadSettings } from "./read-settings.ts";

function read(given: Partial<Omit<GivenSettings, "file">> & { readonly file?: string }): ReadSettings {
  const { flags = new Map(), environment = {}, file } = given;
  return readSettings({
    ...{ flags, environment },
    ...(file === undefined ? {} : { file: { path: "settings.yaml", text: file } }),
  });
}

test("a flag comes before the environment, and that before the file", () => {
  const { values, origins } = read({
    flags: new Map([["ns-record-ttl", "1"]]),
    environment: { NS_RECORD_TTL: "2", RECONCILE_REQUEUE_SECONDS: "2", LOG_LEVEL: "" },
    file: "nsRecordTtl: 3\nreconcileRequeueSeconds: 3\nlogLevel: warn\n",
  });
  assert.deepEqual(values, { NS_RECORD_TTL: "1", RECONCILE_REQUEUE_SECONDS: "2", LOG_LEVEL: "warn" });
  assert.deepEqual(Object.fromEntries(origins), {
    NS_RECORD_TTL: "--ns-record-ttl",
    LOG_LEVEL: "settings.yaml:3 logLevel",
  });
});

test("a file says lists as lists, and zones with the fields of k8gb's chart or as the variable has them", () => {
  const { values, problems } = read({
    file: `
clusterGeoTag: eu
extGslbClustersGeoTags: [us, za]
edgeDNSServers:
  - 10.0.0.2
  - ns.test:5353
dnsZones:
  - parentZone: example.com
    loadBalancedZone: cloud.example.com
    dnsZoneNegTTL: 30
  - example.org:cloud.example.org:60
tracingEnabled: true
`,
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(values, {
    CLUSTER_GEO_TAG: "eu",
    EXT_GSLB_CLUSTERS_GEO_TAGS: "us,za",
    EDGE_DNS_SERVERS: "10.0.0.2,ns.test:5353",
    DNS_ZONES: "example.com:cloud.example.com:30;example.org:cloud.example.org:60",
    TRACING_ENABLED: "true",
  });
});

const broken: readonly (readonly [string, string, RegExp])[] = [
  [
    "an unknown key",
    "clusterGeoTag: eu\nnsRecordTTl2: 3\n",
    /^settings\.yaml:2 nsRecordTTl2: there is no such setting/,
  ],
  ["no YAML", "clusterGeoTag: [eu\n", /^settings\.yaml:\d+: /],
  ["a text", "clusterGeoTag\n", /^settings\.yaml:1: must hold settings as "key: value"/],
  [
    "a map where a value is meant",
    "clusterGeoTag: { a: b }\n",
    /^settings\.yaml:1 clusterGeoTag: must be one value/,
  ],
  ["a key twice", "logLevel: info\nlogLevel: warn\n", /^settings\.yaml:2: /],
];

for (const [name, file, says] of broken)
  test(`a file with ${name} is refused, with its line`, () => {
    const { problems } = read({ file });
    assert.equal(problems.length, 1);
    assert.match(problems[0]!, says);
  });

test("of a file that is no YAML nothing else is told: what it would have set is not missing", () => {
  const given = { flags: new Map(), environment: {}, file: { path: "settings.yaml", text: "logLevel: [\n" } };
  const { problems = [] } = operatorSettings(given);
  assert.ok(problems.length > 0);
  for (const problem of problems) assert.match(problem, /^settings\.yaml:\d+: /);
});

test("an empty file gives nothing", () => {
  for (const file of ["", "# nothing yet\n", "---\n"])
    assert.deepEqual(read({ file }), { values: {}, origins: new Map(), problems: [], isUnreadable: false });
});

test("Configuration: every problem is told at once, each by the flag, the variable or the place in the file", () => {
  const { values, origins } = read({
    flags: new Map([["metrics-address", "10.0.0.:8080"]]),
    environment: { NS_RECORD_TTL: "0", EDGE_DNS_SERVERS: "10.0.0.2" },
    file: "clusterGeoTag: e_u\n",
  });
  const { problems = [] } = parseOperatorConfig(values, origins);
  assert.deepEqual(
    problems.map(({ message }) => message.replace(/; .*/, "")),
    ['settings.yaml:1 clusterGeoTag is "e_u"', 'NS_RECORD_TTL is "0"', '--metrics-address is "10.0.0.:8080"'],
  );
});

test("D48: a problem with a secret does not show it", () => {
  const environment = {
    CLUSTER_GEO_TAG: "eu",
    EDGE_DNS_SERVERS: "10.0.0.2",
    INFOBLOX_WAPI_PASSWORD: "hunter2",
  };
  const { values, origins } = read({ environment: { ...environment, INFOBLOX_GRID_HOST: "h" } });
  const { problems = [] } = parseOperatorConfig(values, origins);
  assert.deepEqual(
    problems.map(({ variable }) => variable),
    ["INFOBLOX_WAPI_USERNAME"],
  );
  assert.ok(!JSON.stringify(problems).includes("hunter2"));
});

test("every variable that the operator reads is a flag and a key too, and each name stands for one", () => {
  const read = new Set<string>();
  for (const provider of ["INFOBLOX_GRID_HOST", "MERIDIAN_RFC2136_SERVERS"]) {
    const given: Record<string, string> = { CLUSTER_GEO_TAG: "eu", [provider]: "10.0.0.1" };
    const environment = new Proxy(given, {
      get(target, name) {
        read.add(String(name));
        return target[String(name)];
      },
    });
    parseOperatorConfig(environment);
  }
  const known = settingDefinitions.map(({ variable }) => variable);
  assert.deepEqual(
    [...read].filter((name) => !known.includes(name)),
    [],
  );
  const unread = settingDefinitions.filter(({ variable, isIgnored }) => !read.has(variable) && !isIgnored);
  assert.deepEqual(unread, []);
  for (const names of [known, settingDefinitions.map(({ flag }) => flag), settingDefinitions.map(settingKey)])
    assert.equal(new Set(names).size, settingDefinitions.length);
});
