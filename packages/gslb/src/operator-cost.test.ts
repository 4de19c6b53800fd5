import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ControllerMetrics, KubeClient } from "@meridian/controller";
import { httpTo, testApi, type TestApi } from "@meridian/controller/testing";
import { Authority, DnsClient, type ZoneDelta } from "@meridian/dns";
import { endpointSliceType, type EndpointSlice, type Ingress, type Service } from "@meridian/kube";
import { Registry } from "prom-client";
import { parseOperatorConfig } from "./config/operator-config.ts";
import { startOperator, type Operator } from "./operator.ts";
import type { Gslb } from "./resources/gslb.ts";
import { operatorTypes } from "./testdata/operator-types.ts";

const gslbCount = 10_000;
const zoneName = "cloud.example.com";
const viewName = `_localtargets.${zoneName}`;
const named = (index: number): { readonly namespace: string; readonly name: string } => ({
  namespace: `team-${index % 10}`,
  name: `app-${index}`,
});

function slice(index: number, ready: readonly boolean[]): EndpointSlice {
  const metadata = { ...named(index), labels: { "kubernetes.io/service-name": `app-${index}` } };
  return {
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4", metadata },
    endpoints: ready.map((each, at) => ({ addresses: [`10.0.0.${at + 1}`], conditions: { ready: each } })),
  };
}

/** What one change costs. */
class Costs {
  readonly #registry: Registry;
  readonly writes: string[] = [];
  readonly deltas: string[] = [];
  #reconciles = 0;

  constructor({ truth }: TestApi, parts: { readonly authority: Authority; readonly registry: Registry }) {
    this.#registry = parts.registry;
    truth.observe(({ type }) => {
      // What the test does itself is no cost.
      if (type !== endpointSliceType) this.writes.push(type.kind);
    });
    for (const zone of parts.authority.zones)
      zone.observe(({ added }: ZoneDelta) => this.deltas.push(`${zone.origin} ${added.length - 1}`));
  }

  /** How many Gslbs were reconciled since the last time. */
  async takeReconciles(): Promise<number> {
    const metric = await this.#registry.getSingleMetric("controller_runtime_reconcile_total")!.get();
    const total = metric.values
      .filter(({ labels }) => labels["controller"] === "gslb")
      .reduce((sum, { value }) => sum + value, 0);
    const since = total - this.#reconciles;
    this.#reconciles = total;
    return since;
  }

  takeWrites(): readonly string[] {
    return this.writes.splice(0).sort();
  }

  takeDeltas(): readonly string[] {
    return this.deltas.splice(0).sort();
  }
}

let api: TestApi;
let operator: Operator;
let costs: Costs;

before(async () => {
  api = testApi({ types: operatorTypes, unserved: "answer" });
  const { runtime, clock, truth } = api;
  // Without the network that may fail, which takes each body apart.
  const network = { ...runtime.network, httpClient: () => httpTo(truth.handler) };
  const client = new KubeClient({ ...runtime, network }, { origin: "http://truth" });
  for (let index = 0; index < gslbCount; index += 1) {
    const metadata = named(index);
    const { name } = metadata;
    const backend = { service: { name, port: { number: 80 } } };
    const http = { paths: [{ path: "/", pathType: "Prefix", backend }] };
    const rules = [{ host: `${name}.${zoneName}`, http }];
    const service: Service = { apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ port: 80 }] } };
    const ingress: Ingress = {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata,
      spec: { rules },
    };
    const gslb: Gslb = {
      ...{ apiVersion: "k8gb.io/v1beta1", kind: "Gslb", metadata },
      spec: {
        resourceRef: { apiVersion: ingress.apiVersion, kind: "Ingress", name },
        strategy: { type: "roundRobin" },
      },
    };
    for (const object of [service, slice(index, [true, true]), ingress, gslb]) truth.put(object);
  }
  const { config } = parseOperatorConfig({
    CLUSTER_GEO_TAG: "eu",
    EXT_GSLB_CLUSTERS_GEO_TAGS: "eu",
    EDGE_DNS_SERVERS: "10.0.0.53",
    DNS_ZONES: `example.com:${zoneName}:30`,
    CLUSTER_EXPOSED_IPS: "192.0.2.1",
    MERIDIAN_DNS_ADDRESSES: "10.0.0.1",
  });
  const authority = new Authority({ random: runtime.random, clock: runtime.clock });
  const registry = new Registry();
  operator = startOperator(runtime, {
    ...{ client, authority, config: config!, meter: new ControllerMetrics(registry) },
    dnsClient: new DnsClient(runtime, { from: "10.0.0.1" }),
  });
  await clock.outcome(operator.ready);
  await clock.advance(120_000);
  costs = new Costs(api, { authority, registry });
  await costs.takeReconciles();
});

after(() => api.clock.outcome(operator.stop()));

test("D14: a quiet hour with 10,000 Gslbs costs no reconcile, no write and no change of a zone", async () => {
  await api.clock.advance(3_600_000);
  assert.deepEqual([await costs.takeReconciles(), costs.takeWrites(), costs.takeDeltas()], [0, [], []]);
});

test("one of 10,000 that fails costs one reconcile, a DNSEndpoint, a status and one step of each zone", async () => {
  for (const ready of [false, true]) {
    api.truth.put(slice(4711, [ready, ready]));
    await api.clock.advance(20_000);
    assert.equal(await costs.takeReconciles(), 1);
    // Of the Gslb its status; Events tell a person; the ConfigMap has the serial of the own view.
    const writes = costs.takeWrites().filter((kind) => kind !== "Event");
    assert.deepEqual(writes, ["ConfigMap", "DNSEndpoint", "Gslb"]);
    const zones = costs.takeDeltas().map((delta) => delta.split(" ")[0]);
    assert.deepEqual(zones, [viewName, zoneName]);
  }
});

test("one endpoint more or less of one of 10,000 costs one reconcile and at most a status", async () => {
  api.truth.put(slice(4711, [true, false]));
  await api.clock.advance(20_000);
  assert.equal(await costs.takeReconciles(), 1);
  assert.ok(costs.takeWrites().every((kind) => kind === "Gslb"));
  assert.deepEqual(costs.takeDeltas(), []);
});

test("a change that says nothing of health costs nothing", async () => {
  const { metadata, ...rest } = slice(4711, [true, false]);
  api.truth.put({ ...rest, metadata: { ...metadata, annotations: { touched: "yes" } } });
  await api.clock.advance(20_000);
  assert.deepEqual([await costs.takeReconciles(), costs.takeWrites(), costs.takeDeltas()], [0, [], []]);
});
