import assert from "node:assert/strict";
import { test } from "node:test";
import { KubeClient } from "@meridian/controller";
import { httpTo, testApi } from "@meridian/controller/testing";
import { Authority, DnsClient } from "@meridian/dns";
import type { HttpClientRequest } from "@meridian/runtime";
import { parseOperatorConfig } from "./config/operator-config.ts";
import { startOperator } from "./operator.ts";
import { zoneDelegationType } from "./resources/resource-types.ts";
import { operatorTypes } from "./testdata/operator-types.ts";

// What a whole operator asks the API server for, seen between the two.

interface Asked {
  readonly readyAfterMs: number;
  /** Lists and watches, as `path?selector`, in the order in which they came. */
  readonly collections: readonly string[];
  readonly openWatches: () => number;
  readonly addZone: (zone: string) => Promise<void>;
  readonly removeZone: (zone: string) => Promise<void>;
  readonly zones: () => readonly string[];
  readonly stop: () => Promise<void>;
}

/** With a ZoneDelegation for this zone that somebody has made. */
async function runningOperator(present?: string): Promise<Asked> {
  const { runtime, clock, truth, box } = testApi({ types: operatorTypes, unserved: "answer" });
  const collections: string[] = [];
  const server = httpTo(truth.handler);
  const recorded = {
    request: (request: HttpClientRequest) => {
      const { pathname, searchParams } = new URL(request.target, "http://truth");
      const isOfOne =
        /\/(configmaps|secrets|gslbs|zonedelegations|dnsendpoints|namespaces)\/[^/]+(\/status)?$/;
      if (request.method === "GET" && !isOfOne.test(pathname)) {
        const selectors = ["fieldSelector", "labelSelector"].map((name) => searchParams.get(name) ?? "");
        collections.push(`${pathname}?${selectors.join("")}`);
      }
      return server.request(request);
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const network = { ...runtime.network, httpClient: () => box.client(recorded) };
  const client = new KubeClient({ ...runtime, network }, { origin: "http://truth" });
  const { config } = parseOperatorConfig({
    CLUSTER_GEO_TAG: "eu",
    EDGE_DNS_SERVERS: "10.0.0.53",
    DNS_ZONES: "example.com:cloud.example.com:30",
    MERIDIAN_DNS_ADDRESSES: "10.0.0.1",
  });
  const name = (zone: string): string => zone.toLowerCase().replaceAll(".", "-");
  const putZone = (zone: string): unknown =>
    truth.put({
      ...{ apiVersion: "k8gb.io/v1beta1", kind: "ZoneDelegation", metadata: { name: name(zone) } },
      spec: { loadBalancedZone: zone, parentZone: "example.com", dnsZoneNegTTL: 30 },
    });
  if (present !== undefined) putZone(present);
  const authority = new Authority({ random: runtime.random, clock: runtime.clock });
  const operator = startOperator(runtime, {
    ...{ client, authority, config: config! },
    dnsClient: new DnsClient(runtime, { from: "10.0.0.1" }),
  });
  const startedMs = clock.monotonicMs();
  await clock.outcome(operator.ready);
  const readyAfterMs = clock.monotonicMs() - startedMs;
  await clock.advance(60_000);
  return {
    ...{ collections, readyAfterMs },
    openWatches: () => box.watches,
    zones: () => authority.zones.map(({ origin }) => origin),
    addZone: async (zone) => {
      putZone(zone);
      await clock.advance(5_000);
    },
    removeZone: async (zone) => {
      truth.remove(zoneDelegationType, { name: name(zone) });
      await clock.advance(5_000);
    },
    stop: () => clock.outcome(operator.stop()),
  };
}

test("D51: of ConfigMaps and Secrets only the own ones are asked for, by name or label, in the own namespace", async () => {
  const { collections, stop } = await runningOperator();
  const asked = [...new Set(collections)].filter((each) => /configmaps|secrets|events/.test(each));
  assert.ok(asked.length > 0);
  for (const each of asked)
    assert.match(each, /^\/api\/v1\/namespaces\/k8gb\/(configmaps|secrets)\?(metadata\.name=)?[a-z]/);
  await stop();
});

test("D50: zones that come and go start no watch, and an operator that stops leaves none behind", async () => {
  const { collections, openWatches, addZone, removeZone, zones, stop } = await runningOperator();
  const [asked, open] = [collections.length, openWatches()];
  for (const zone of ["a.example.com", "b.example.com"]) {
    await addZone(zone);
    assert.ok(zones().includes(zone), `${zone} is served`);
    await removeZone(zone);
    assert.ok(!zones().includes(zone), `${zone} is gone`);
  }
  assert.deepEqual(collections.slice(asked), []);
  assert.equal(openWatches(), open);
  await stop();
  assert.equal(openWatches(), 0);
});

test("a ZoneDelegation that spells its zone otherwise than DNS_ZONES is waited for no longer than another", async () => {
  const [same, other] = [
    await runningOperator("cloud.example.com"),
    await runningOperator("Cloud.Example.com"),
  ];
  assert.equal(other.readyAfterMs, same.readyAfterMs);
  for (const { stop } of [same, other]) await stop();
});
