import assert from "node:assert/strict";
import { test } from "node:test";
import { DnsClient, generateKey, keyToFiles, parseTsigKeyFile, type TsigKey } from "@meridian/dns";
import { dnsKeysLabel } from "@meridian/gslb";
import { secretType, type ResourceType } from "@meridian/kube";
import type { Cluster } from "./cluster.ts";
import { simulatedFleet } from "../testdata/simulated-fleet.ts";

const sliceType: ResourceType = {
  group: "discovery.k8s.io",
  version: "v1",
  plural: "endpointslices",
  kind: "EndpointSlice",
  namespaced: true,
};
const failover = { namespace: "demo", name: "failover" };
const untilMs = 600_000;

async function failoverAndBack(seed: number): Promise<string> {
  const { simulation, clusters, answers } = await simulatedFleet(seed);
  const eu = clusters.get("eu");
  assert(eu !== undefined);
  await simulation.complete(Promise.all([...clusters.values()].map((cluster) => cluster.ready)), { untilMs });
  await answers(["192.0.2.1", "192.0.2.2"]);
  const { metadata } = await simulation.complete(eu.client.get(sliceType, failover), { untilMs });
  assert(metadata.annotations?.["kubectl.kubernetes.io/last-applied-configuration"], "kubectl apply warns");

  const markReady = (ready: boolean): Promise<unknown> => {
    const endpoints = [{ addresses: ["10.244.3.11"], conditions: { ready } }];
    return simulation.complete(eu.client.patch(sliceType, failover, { type: "merge", body: { endpoints } }));
  };
  await markReady(false);
  const changedAt = simulation.nowMs;
  await answers(["198.51.100.1", "198.51.100.2"]);
  // With polling alone it would take up to the period of 30 s: virtual time, so this is no measurement.
  assert(simulation.nowMs - changedAt < 5_000);
  await markReady(true);
  await answers(["192.0.2.1", "192.0.2.2"]);

  const stopped = Promise.all([...clusters.values()].map((cluster) => cluster[Symbol.asyncDispose]()));
  await simulation.complete(stopped, { untilMs: simulation.nowMs + 60_000 });
  return simulation.traceHash;
}

test("the DNS server takes keys of labelled Secrets while it serves: cookies, TSIG and signing", async () => {
  const { simulation, clusters } = await simulatedFleet(3);
  const eu = clusters.get("eu");
  assert(eu !== undefined);
  await simulation.complete(eu.ready, { untilMs });
  const asker = simulation.node({ name: "asker", addresses: ["127.0.10.97"] });
  const times = { publish: 0, activate: 0 };
  const signingKey = generateKey(asker.runtime.random, { secureEntryPoint: true, times });
  const pair = keyToFiles("cloud.example.com", signingKey);
  const tsigText =
    'key "check" { algorithm hmac-sha256; secret "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="; };';
  const contents: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    cookies: { active: "5".repeat(32) },
    tsig: { "check.key": tsigText },
    dnssec: { "a.key": pair.publicText, "a.private": pair.privateText },
  };
  for (const [kind, stringData] of Object.entries(contents)) {
    const metadata = { namespace: "k8gb", name: kind, labels: { [dnsKeysLabel]: kind } };
    const secret = { apiVersion: "v1", kind: "Secret", metadata, stringData };
    await simulation.complete(eu.client.create(secretType, secret), { untilMs });
  }
  await simulation.run({ untilMs: simulation.nowMs + 1000 });
  assert.equal(eu.authority.cookieSecrets.read().all[0]?.[0], 0x55);
  assert.notEqual(eu.authority.zone("cloud.example.com")?.signing, undefined);

  const dnsClient = new DnsClient(asker.runtime, { from: "127.0.10.97" });
  const ask = (key: TsigKey): ReturnType<DnsClient["query"]> =>
    dnsClient.query({
      ...{ name: "cloud.example.com", type: "DNSKEY", key, deadlineMs: 5000 },
      servers: [{ address: "127.0.10.1", port: 5300 }],
    });
  const [key] = parseTsigKeyFile(tsigText);
  assert(key !== undefined);
  const verdict = await simulation.complete(ask(key), { untilMs });
  assert.equal(verdict.state, "answered");
  assert.equal((await simulation.complete(ask({ ...key, name: "other" }), { untilMs })).state, "unreachable");
  await simulation.complete(
    Promise.all([...clusters.values()].map((cluster) => cluster[Symbol.asyncDispose]())),
    { untilMs: simulation.nowMs + 60_000 },
  );
});

test("an operator tells how its controllers, copies and requests are doing", async () => {
  const { simulation, clusters, registries } = await simulatedFleet(4);
  await simulation.complete(Promise.all([...clusters.values()].map((cluster) => cluster.ready)), { untilMs });
  const text = (await registries.get("eu")?.metrics()) ?? "";
  for (const line of [
    /^workqueue_adds_total\{name="gslb",controller="gslb"\} [1-9]/m,
    /^controller_runtime_reconcile_total\{controller="gslb",result="success"\} [1-9]/m,
    /^controller_runtime_reconcile_total\{controller="zone-delegation",result="requeue_after"\} \d/m,
    /^informer_connected\{name="gslbs.k8gb.io"\} 1$/m,
    /^rest_client_requests_total\{code="201",method="POST",host="[^"]+"\} [1-9]/m,
  ])
    assert.match(text, line);
  await simulation.complete(
    Promise.all([...clusters.values()].map((cluster) => cluster[Symbol.asyncDispose]())),
    { untilMs: simulation.nowMs + 60_000 },
  );
});

test("the same assembly fails over on simulated machines, and a seed replays it", async () => {
  assert.equal(await failoverAndBack(7), await failoverAndBack(7));
});

test("a cluster that starts again publishes the keys of its peers with its first answer", async () => {
  const { simulation, clusters, restart } = await simulatedFleet(4);
  const { random } = simulation.node({ name: "asker", addresses: ["127.0.10.97"] }).runtime;
  const peersText =
    'key "meridian-peers" { algorithm hmac-sha256; secret "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="; };';
  for (const { client, ready } of clusters.values()) {
    await simulation.complete(ready, { untilMs });
    const key = generateKey(random, { secureEntryPoint: true, times: { publish: 0, activate: 0 } });
    const { publicText, privateText } = keyToFiles("cloud.example.com", key);
    const contents = {
      tsig: { "peers.key": peersText },
      dnssec: { "a.key": publicText, "a.private": privateText },
    };
    for (const [kind, stringData] of Object.entries(contents)) {
      const metadata = { namespace: "k8gb", name: kind, labels: { [dnsKeysLabel]: kind } };
      const secret = { apiVersion: "v1", kind: "Secret", metadata, stringData };
      await simulation.complete(client.create(secretType, secret), { untilMs });
    }
  }
  const keysOf = ({ authority }: Cluster): readonly string[] =>
    authority
      .zone("cloud.example.com")!
      .recordSetsOf("cloud.example.com")
      .filter(({ type }) => type === "DNSKEY")
      .flatMap(({ data }) => data);
  await simulation.run({ untilMs: simulation.nowMs + 61_000 });
  assert.equal(keysOf(clusters.get("eu")!).length, 2, "each has those of both");

  const eu = await restart("eu");
  const zone = (): ReturnType<Cluster["authority"]["zone"]> => eu.authority.zone("cloud.example.com");
  while (zone()?.ready !== true) await simulation.run({ untilMs: simulation.nowMs + 1 });
  assert.equal(keysOf(eu).length, 2);
});
