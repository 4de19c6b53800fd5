import assert from "node:assert/strict";
import { test } from "node:test";
import { KubeClient } from "@meridian/controller";
import { httpTo, testApi, type TestApi } from "@meridian/controller/testing";
import { Authority, DnsClient } from "@meridian/dns";
import { configMapType, type ConfigMap, type Ingress, type KubeObject } from "@meridian/kube";
import type { HttpClientRequest } from "@meridian/runtime";
import { parseOperatorConfig } from "./config/operator-config.ts";
import { textHash } from "./decide/text-hash.ts";
import { startOperator, type Operator } from "./operator.ts";
import type { Gslb } from "./resources/gslb.ts";
import { operatorTypes } from "./testdata/operator-types.ts";

const host = "app.cloud.example.com";
const app = { namespace: "demo", name: "app" };
const ingress: Ingress = {
  ...{ apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata: app },
  spec: {
    rules: [
      {
        host,
        http: {
          paths: [
            { path: "/", pathType: "Prefix", backend: { service: { name: "app", port: { number: 80 } } } },
          ],
        },
      },
    ],
  },
};
const gslb: Gslb = {
  ...{ apiVersion: "k8gb.io/v1beta1", kind: "Gslb", metadata: app },
  spec: {
    resourceRef: { apiVersion: ingress.apiVersion, kind: "Ingress", name: "app" },
    strategy: { type: "roundRobin", splitBrainThresholdSeconds: 300 },
  },
};

interface Started extends Pick<TestApi, "truth" | "clock"> {
  readonly operator: Operator;
  /** How long it took until it was ready. */
  readonly readyAfterMs: number;
  /** How often it has waited for as long as between two looks for what was written. */
  readonly looks: () => number;
}

/** With these objects in the cluster; `between` befalls its requests. */
async function started(
  objects: readonly KubeObject[],
  between: (request: HttpClientRequest, api: TestApi) => Promise<unknown> | undefined,
): Promise<Started> {
  const api = testApi({ types: operatorTypes, unserved: "answer" });
  const { clock, truth, box } = api;
  for (const object of objects) truth.put(object);
  const server = box.client(httpTo(truth.handler));
  const befallen = {
    request: async (request: HttpClientRequest) => {
      await between(request, api);
      return server.request(request);
    },
    [Symbol.asyncDispose]: async () => {},
  };
  let looks = 0;
  const runtime = {
    ...api.runtime,
    network: { ...api.runtime.network, httpClient: () => befallen },
    clock: {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      after: (ms: number, callback: () => void) => clock.after(ms, callback),
      sleep: (ms: number, signal?: AbortSignal) => {
        if (ms === 20) looks += 1;
        return clock.sleep(ms, signal);
      },
    },
  };
  const { config } = parseOperatorConfig({
    ...{ CLUSTER_GEO_TAG: "eu", EXT_GSLB_CLUSTERS_GEO_TAGS: "eu,us", EDGE_DNS_SERVERS: "10.0.0.53" },
    ...{ DNS_ZONES: "example.com:cloud.example.com:30", MERIDIAN_DNS_ADDRESSES: "10.0.0.1" },
    CLUSTER_EXPOSED_IPS: "192.0.2.1",
  });
  const operator = startOperator(runtime, {
    client: new KubeClient(runtime, { origin: "http://truth" }),
    authority: new Authority({ random: runtime.random, clock: runtime.clock }),
    dnsClient: new DnsClient(runtime, { from: "10.0.0.1" }),
    config: config!,
  });
  const startedMs = clock.monotonicMs();
  await clock.outcome(operator.ready);
  return { ...{ truth, clock, operator, readyAfterMs: clock.monotonicMs() - startedMs }, looks: () => looks };
}

const writesEndpoint = ({ method, target }: HttpClientRequest): boolean =>
  method !== "GET" && target.includes("/dnsendpoints");

const cases: readonly {
  readonly what: string;
  readonly stored?: readonly KubeObject[];
  readonly between: Parameters<typeof started>[1];
  readonly isWaitedFor: boolean;
}[] = [
  { what: "that is written", between: () => undefined, isWaitedFor: false },
  {
    what: "that the API server refuses",
    between: (request, { box }) => {
      const refusal = { code: 403, reason: "Forbidden", message: "exceeded quota" };
      if (writesEndpoint(request)) box.befallRequest({ do: "refuse", with: refusal });
      return undefined;
    },
    isWaitedFor: false,
  },
  {
    what: "that cannot be written now",
    between: (request, { box }) => {
      const refusal = { code: 500, reason: "InternalError", message: "failed calling webhook" };
      if (writesEndpoint(request)) box.befallRequest({ do: "refuse", with: refusal });
      return undefined;
    },
    isWaitedFor: true,
  },
  {
    what: "that a Gslb which is ending gets no more",
    stored: [
      {
        ...gslb,
        metadata: { ...app, finalizers: ["example.com/kept"], deletionTimestamp: "2026-01-01T00:00:00Z" },
      },
    ],
    between: () => undefined,
    isWaitedFor: false,
  },
];

let usualMs = 0;
for (const { what, stored = [gslb], between, isWaitedFor } of cases)
  test(`a DNSEndpoint ${what} is ${isWaitedFor ? "waited for 15 s" : "not waited for"} at the start, and not looked for after it`, async () => {
    const { operator, clock, readyAfterMs, looks } = await started([ingress, ...stored], between);
    usualMs ||= readyAfterMs;
    if (isWaitedFor) assert.ok(readyAfterMs >= 15_000, `${readyAfterMs} ms`);
    else assert.ok(readyAfterMs < usualMs + 1_000, `${readyAfterMs} ms, and ${usualMs} ms as usual`);
    await clock.advance(1_000);
    const before = looks();
    await clock.advance(60_000);
    assert.equal(looks(), before);
    await clock.outcome(operator.stop());
  });

test("what was remembered of peers is kept until it is known which hosts there are, and then those that are gone are forgotten", async () => {
  const gone = "gone.cloud.example.com";
  const entry = { A: { targets: ["192.0.2.9"] } };
  const refOf = (name: string): { readonly namespace: string; readonly name: string } => ({
    namespace: "k8gb",
    name: `meridian-peer-us-cloud-example-com-${textHash(name) % 16}`,
  });
  const mapOf = (name: string): ConfigMap => ({
    ...{ apiVersion: "v1", kind: "ConfigMap" },
    metadata: {
      ...refOf(name),
      labels: { "app.kubernetes.io/managed-by": "meridian", "app.kubernetes.io/component": "peer-views" },
    },
    data: {
      "views.json": JSON.stringify({
        zone: "cloud.example.com",
        geoTag: "us",
        hosts: { [name]: entry },
      }),
    },
  });
  assert.notEqual(textHash(host) % 16, textHash(gone) % 16);
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const { operator, clock, truth } = await started([ingress, gslb, mapOf(host), mapOf(gone)], ({ target }) =>
    target.includes("/customresourcedefinitions") ? answered : undefined,
  );
  const kept = (): readonly string[] =>
    [host, gone].filter((name) => truth.get(configMapType, refOf(name)) !== undefined);
  await clock.advance(30_000);
  assert.deepEqual(kept(), [host, gone], "nobody knows whether the legacy Gslbs name them");
  answer();
  await clock.advance(30_000);
  assert.deepEqual(kept(), [host]);
  await clock.outcome(operator.stop());
});
