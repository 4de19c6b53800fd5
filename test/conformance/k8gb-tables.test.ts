import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openMemoryStorage } from "@meridian/apiserver";
import { DnsClient } from "@meridian/dns";
import { dnsEndpointType, gslbType } from "@meridian/gslb";
import type { KubeObject, ResourceType } from "@meridian/kube";
import { startCluster, type Cluster } from "@meridian/meridian";
import { Simulation } from "@meridian/runtime/sim";

// Tables of k8gb's own tests, told to one whole cluster (API server, operator and DNS server): what stands in the API goes
// in, what status and DNS say comes out.

const zone = "cloud.example.com";
const ingressAddress = "192.0.2.1";

type Health = "healthy" | "unhealthy" | "missing";

interface HealthCase {
  readonly name: string;
  readonly policy?: "Any" | "All";
  /** Per host, the services behind its paths. */
  readonly hosts: readonly (readonly Health[])[];
  /** Per host. */
  readonly status: readonly ("Healthy" | "Unhealthy" | "NotFound")[];
}

const healthCases: readonly HealthCase[] = [
  { name: "one service", hosts: [["healthy"]], status: ["Healthy"] },
  { name: "two services", hosts: [["healthy", "healthy"]], status: ["Healthy"] },
  { name: "all of two", policy: "All", hosts: [["healthy", "healthy"]], status: ["Healthy"] },
  { name: "any of two, one missing", policy: "Any", hosts: [["healthy", "missing"]], status: ["Healthy"] },
  { name: "all of two, one missing", policy: "All", hosts: [["healthy", "missing"]], status: ["NotFound"] },
  {
    name: "any of two, one unhealthy",
    policy: "Any",
    hosts: [["healthy", "unhealthy"]],
    status: ["Healthy"],
  },
  {
    name: "all of two, one unhealthy",
    policy: "All",
    hosts: [["healthy", "unhealthy"]],
    status: ["Unhealthy"],
  },
  {
    name: "all of two, the first unhealthy",
    policy: "All",
    hosts: [["unhealthy", "healthy"]],
    status: ["Unhealthy"],
  },
  { name: "no service", hosts: [[]], status: ["NotFound"] },
  { name: "two missing", hosts: [["missing", "missing"]], status: ["NotFound"] },
  { name: "two unhealthy", hosts: [["unhealthy", "unhealthy"]], status: ["Unhealthy"] },
  { name: "two hosts, each its own", hosts: [["healthy"], ["unhealthy"]], status: ["Healthy", "Unhealthy"] },
  { name: "three of three", policy: "All", hosts: [["healthy", "healthy", "healthy"]], status: ["Healthy"] },
  {
    name: "all of three, the second unhealthy",
    policy: "All",
    hosts: [["healthy", "unhealthy", "healthy"]],
    status: ["Unhealthy"],
  },
];

const builtIn = (group: string, plural: string, kind: string): ResourceType => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced: true,
});
const services = builtIn("", "services", "Service");
const slices = builtIn("discovery.k8s.io", "endpointslices", "EndpointSlice");
const ingresses = builtIn("networking.k8s.io", "ingresses", "Ingress");

let simulation: Simulation;
let cluster: Cluster;
let dnsClient: DnsClient;

before(async () => {
  simulation = new Simulation({ seed: 1 });
  const node = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const storage = await simulation.complete(openMemoryStorage(node.runtime, { persistent: true }));
  const starting = startCluster(node.runtime, {
    storage,
    token: "token",
    apiServer: { address: "10.0.0.1", port: 6443 },
    operator: { address: "10.0.0.1", port: 6444 },
    dns: { address: "10.0.0.1", port: 53 },
    operatorEnvironment: {
      CLUSTER_GEO_TAG: "eu",
      DNS_ZONES: `example.com:${zone}:30`,
      EDGE_DNS_SERVERS: "10.0.0.53",
      MERIDIAN_DNS_ADDRESSES: "10.0.0.1",
    },
  });
  cluster = await simulation.complete(starting);
  await simulation.complete(cluster.ready, { untilMs: 120_000 });
  dnsClient = new DnsClient(simulation.node({ name: "client", addresses: ["10.0.0.9"] }).runtime);
});

after(async () => {
  await simulation.complete(dnsClient[Symbol.asyncDispose]());
  await simulation.complete(cluster[Symbol.asyncDispose]() as Promise<void>);
});

async function create(type: ResourceType, name: string, fields: object): Promise<void> {
  const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
  const metadata = { name, namespace: "default" };
  const object: KubeObject = { apiVersion, kind: type.kind, metadata, ...fields };
  await simulation.complete(cluster.client.create(type, object));
}

async function createService(name: string, health: Health): Promise<void> {
  if (health === "missing") return;
  await create(services, name, { spec: { ports: [{ name: "http", port: 80, targetPort: 8080 }] } });
  await createSlice(name, name, health === "healthy");
}

async function createSlice(name: string, service: string, ready: boolean): Promise<void> {
  const metadata = { name, namespace: "default", labels: { "kubernetes.io/service-name": service } };
  const endpoints = [{ addresses: ["10.244.0.1"], conditions: { ready } }];
  await create(slices, name, {
    metadata,
    addressType: "IPv4",
    endpoints,
    ports: [{ name: "http", port: 8080 }],
  });
}

/** An Ingress with its address in the status, and a Gslb that refers to it. */
async function createGslb(name: string, hosts: readonly (readonly string[])[], spec: object): Promise<void> {
  const rules = hosts.map((backends, index) => ({
    host: `${name}-${index}.${zone}`,
    http: {
      paths: backends.map((service, at) => ({
        path: `/${at}`,
        pathType: "Prefix",
        backend: { service: { name: service, port: { name: "http" } } },
      })),
    },
  }));
  await create(ingresses, name, { spec: { rules } });
  const body = { status: { loadBalancer: { ingress: [{ ip: ingressAddress }] } } };
  const ref = { namespace: "default", name };
  await simulation.complete(
    cluster.client.patch(ingresses, ref, { type: "merge", subresource: "status", body }),
  );
  const resourceRef = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name };
  await create(gslbType, name, { spec: { resourceRef, ...spec } });
}

interface Seen {
  readonly serviceHealth: Readonly<Record<string, string>>;
  readonly answers: readonly string[];
}

/** What status and DNS say once everything has come to rest. */
async function seenOf(name: string, hostCount: number): Promise<Seen> {
  await simulation.run({ untilMs: simulation.nowMs + 5_000 });
  const gslb = await simulation.complete(cluster.client.get(gslbType, { namespace: "default", name }));
  const { status } = gslb as {
    readonly status?: { readonly serviceHealth?: Readonly<Record<string, string>> };
  };
  const answers: string[] = [];
  for (let index = 0; index < hostCount; index++) {
    const verdict = await simulation.complete(
      dnsClient.query({
        name: `${name}-${index}.${zone}`,
        type: "A",
        servers: [{ address: "10.0.0.1", port: 53 }],
        deadlineMs: 2_000,
      }),
    );
    answers.push(
      verdict.state === "answered"
        ? `${verdict.outcome} ${verdict.records.map(({ data }) => data).join()}`.trim()
        : verdict.state,
    );
  }
  return { serviceHealth: status?.serviceHealth ?? {}, answers };
}

for (const [number, { name, policy, hosts, status }] of healthCases.entries()) {
  test(`service health, ${name}: ${status.join(", ")}`, async () => {
    const gslb = `health${number}`;
    const backends: string[][] = [];
    for (const [host, healths] of hosts.entries()) {
      const ofHost = healths.map((_, at) => `${gslb}-${host}-${at}`);
      for (const [at, health] of healths.entries()) await createService(ofHost[at]!, health);
      backends.push(ofHost);
    }
    const spec = {
      strategy: { type: "roundRobin" },
      ...(policy === undefined ? {} : { serviceHealthPolicy: policy }),
    };
    await createGslb(gslb, backends, spec);
    const { serviceHealth, answers } = await seenOf(gslb, hosts.length);
    assert.deepEqual(
      serviceHealth,
      Object.fromEntries(status.map((health, index) => [`${gslb}-${index}.${zone}`, health])),
    );
    assert.deepEqual(
      answers,
      status.map((health) => (health === "Healthy" ? `data ${ingressAddress}` : "nodata")),
    );
  });
}

test("service health, a ready endpoint in the second slice only: Healthy", async () => {
  await createService("slices", "unhealthy");
  await createSlice("slices-2", "slices", true);
  await createGslb("slices", [["slices"]], { strategy: { type: "roundRobin" } });
  assert.deepEqual((await seenOf("slices", 1)).answers, [`data ${ingressAddress}`]);
});

const ttlCases = [
  { name: "a TTL of 5", strategy: { type: "failover", primaryGeoTag: "eu", dnsTtlSeconds: 5 }, ttl: 5 },
  {
    name: "a TTL of 0, which is 30",
    strategy: { type: "failover", primaryGeoTag: "eu", dnsTtlSeconds: 0 },
    ttl: 30,
  },
  { name: "no TTL, which is 30", strategy: { type: "roundRobin" }, ttl: 30 },
];

for (const [number, { name, strategy, ttl }] of ttlCases.entries()) {
  test(`the record of a Gslb with ${name}`, async () => {
    const gslb = `ttl${number}`;
    await createService(gslb, "healthy");
    await createGslb(gslb, [[gslb]], { strategy });
    await seenOf(gslb, 1);
    const endpoint = await simulation.complete(
      cluster.client.get(dnsEndpointType, { namespace: "default", name: gslb }),
    );
    const { spec } = endpoint as unknown as {
      readonly spec: {
        readonly endpoints: readonly { readonly dnsName: string; readonly recordTTL: number }[];
      };
    };
    const ttls = spec.endpoints.map(({ dnsName, recordTTL }) => `${dnsName} ${recordTTL}`).sort();
    assert.deepEqual(ttls, [`localtargets-${gslb}-0.${zone} ${ttl}`, `${gslb}-0.${zone} ${ttl}`].sort());
  });
}

const refused = [
  { name: "an unknown strategy", strategy: { type: "Invalid" } },
  { name: "a weight over the limit", strategy: { type: "roundRobin", weight: { eu: 10_010 } } },
  { name: "a weight of a name that is no geo tag", strategy: { type: "roundRobin", weight: { "eu#": 1 } } },
];

for (const [number, { name, strategy }] of refused.entries()) {
  test(`a Gslb with ${name} is refused at once or by a condition, and answers nothing`, async () => {
    const gslb = `refused${number}`;
    await createService(gslb, "healthy");
    let atOnce: unknown;
    await createGslb(gslb, [[gslb]], { strategy }).catch((error: unknown) => (atOnce = error));
    if (atOnce !== undefined) {
      assert.match((atOnce as Error).message, /is invalid/);
      return;
    }
    const { answers } = await seenOf(gslb, 1);
    assert.deepEqual(answers, ["nxdomain"]);
    const found = await simulation.complete(
      cluster.client.get(gslbType, { namespace: "default", name: gslb }),
    );
    const { status } = found as unknown as {
      readonly status: {
        readonly conditions: readonly { readonly status: string; readonly message: string }[];
      };
    };
    const told = status.conditions.filter((condition) => condition.status === "False");
    assert.ok(told.length > 0 && told.every(({ message }) => message !== ""), JSON.stringify(status));
  });
}
