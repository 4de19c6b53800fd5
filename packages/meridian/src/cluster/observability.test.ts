import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gslbType } from "@meridian/gslb";
import type { KubeObject, ResourceType } from "@meridian/kube";
import type { Cluster } from "./cluster.ts";
import { lintMetrics } from "../testdata/prometheus-lint.ts";
import { simulatedFleet, type SimulatedFleet } from "../testdata/simulated-fleet.ts";

const untilMs = 600_000;
const sliceType: ResourceType = {
  ...{
    group: "discovery.k8s.io",
    version: "v1",
    plural: "endpointslices",
    kind: "EndpointSlice",
    namespaced: true,
  },
};
const eventType: ResourceType = {
  ...{ group: "events.k8s.io", version: "v1", plural: "events", kind: "Event", namespaced: true },
};
const failover = { namespace: "demo", name: "failover" };

async function readyFleet(
  seed: number,
): Promise<SimulatedFleet & { readonly eu: Cluster; readonly us: Cluster }> {
  const fleet = await simulatedFleet(seed);
  const { clusters, simulation } = fleet;
  await simulation.complete(Promise.all([...clusters.values()].map((cluster) => cluster.ready)), { untilMs });
  await fleet.answers(["192.0.2.1", "192.0.2.2"]);
  return { ...fleet, eu: clusters.get("eu")!, us: clusters.get("us")! };
}

async function close({ simulation, clusters }: SimulatedFleet, but?: Cluster): Promise<void> {
  const left = [...clusters.values()].filter((cluster) => cluster !== but);
  await simulation.complete(Promise.all(left.map((cluster) => cluster[Symbol.asyncDispose]())), {
    untilMs: simulation.nowMs + 60_000,
  });
}

async function series(
  { registries }: SimulatedFleet,
  cluster: string,
  name: string,
): Promise<readonly string[]> {
  const text = (await registries.get(cluster)?.metrics()) ?? "";
  return text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}

async function markReady(
  { simulation, eu }: { simulation: SimulatedFleet["simulation"]; eu: Cluster },
  ready: boolean,
): Promise<void> {
  const endpoints = [{ addresses: ["10.244.3.11"], conditions: { ready } }];
  await simulation.complete(eu.client.patch(sliceType, failover, { type: "merge", body: { endpoints } }));
}

interface Event extends KubeObject {
  readonly reason?: string;
  readonly note?: string;
  readonly regarding?: { readonly kind?: string; readonly name?: string };
}

async function events({ simulation }: SimulatedFleet, { client }: Cluster): Promise<readonly string[]> {
  // They are written a moment after.
  await simulation.run({ untilMs: simulation.nowMs + 5_000 });
  const { items } = await simulation.complete(client.list<Event>(eventType, { namespace: "demo" }), {
    untilMs,
  });
  return items.map(
    ({ reason, note, regarding }) => `${regarding?.kind}/${regarding?.name} ${reason}: ${note}`,
  );
}

test("O-01, O-02, D53, D54: a failover is told in numbers and by an event with from, to and cause; what is gone has no series", async () => {
  const fleet = await readyFleet(11);
  const { simulation, eu } = fleet;
  const about = 'namespace="demo",name="failover"';
  const host = 'host="failover.cloud.example.com"';
  const states = async (cluster: string): Promise<readonly string[]> =>
    (await series(fleet, cluster, "meridian_gslb_cluster_addresses")).filter(
      (line) => line.includes(host) && line.includes('family="A"'),
    );
  const stateOf = (geoTag: string, state: string, count: number): string =>
    `meridian_gslb_cluster_addresses{${about},${host},geotag="${geoTag}",family="A",state="${state}"} ${count}`;
  assert.deepEqual(await states("us"), [stateOf("eu", "serving", 2), stateOf("us", "standby", 2)]);

  await markReady(fleet, false);
  await fleet.answers(["198.51.100.1", "198.51.100.2"]);
  for (const cluster of ["eu", "us"])
    assert.deepEqual(await states(cluster), [stateOf("eu", "unhealthy", 0), stateOf("us", "serving", 2)]);
  for (const [cluster, status] of [
    ["eu", "Unhealthy_primary"],
    ["us", "Healthy_secondary"],
  ] as const) {
    const changes = await series(fleet, cluster, "meridian_gslb_cluster_changes_total");
    assert.ok(changes.includes(`meridian_gslb_cluster_changes_total{${about},cause="failover"} 1`), cluster);
    const counts = await series(fleet, cluster, "k8gb_gslb_status_count_for_failover");
    assert.ok(counts.includes(`k8gb_gslb_status_count_for_failover{${about},status="${status}"} 2`), cluster);
    assert.ok(
      (await events(fleet, fleet.clusters.get(cluster)!)).some((line) =>
        /^Gslb\/failover ClustersChanged: failover\.cloud\.example\.com is answered from us instead of eu: eu .* no /.test(
          line,
        ),
      ),
      cluster,
    );
  }
  const timed = await series(fleet, "eu", "meridian_gslb_convergence_seconds_count");
  assert.ok(timed.includes('meridian_gslb_convergence_seconds_count{cause="endpoints"} 1'), timed.join());
  assert.match(
    (await series(fleet, "us", "meridian_gslb_convergence_seconds_count")).join(),
    /cause="peer"\} [1-9]/,
  );

  await simulation.complete(eu.client.delete(gslbType, failover), { untilMs });
  await simulation.run({ untilMs: simulation.nowMs + 5_000 });
  const text = (await fleet.registries.get("eu")?.metrics()) ?? "";
  assert.deepEqual(
    text.split("\n").filter((line) => line.includes(about)),
    [],
  );
  assert.match(text, /^k8gb_gslb_healthy_records\{namespace="demo",name="roundrobin"\} 4$/m);
  await close(fleet);
});

test("O-02, D54: a peer that falls silent is told from one that has nothing: in numbers, a condition and an event", async () => {
  const fleet = await readyFleet(12);
  const { simulation, us, eu } = fleet;
  const up = (): Promise<readonly string[]> => series(fleet, "eu", "meridian_peer_up");
  assert.deepEqual(await up(), ['meridian_peer_up{zone="cloud.example.com",geotag="us"} 1']);
  await simulation.complete(us[Symbol.asyncDispose]() as Promise<void>, {
    untilMs: simulation.nowMs + 60_000,
  });
  await simulation.run({ untilMs: simulation.nowMs + 90_000 });
  assert.deepEqual(await up(), ['meridian_peer_up{zone="cloud.example.com",geotag="us"} 0']);
  const [age = ""] = await series(fleet, "eu", "meridian_peer_age_seconds");
  assert.ok(Number(age.split(" ").at(-1)) > 60, age);
  const states = await series(fleet, "eu", "meridian_gslb_cluster_addresses");
  assert.ok(states.some((line) => line.includes('geotag="us"') && line.includes('state="unreachable"')));
  const told = await events(fleet, eu);
  assert.ok(
    told.some((line) => /^Gslb\/roundrobin \w*Unreachable\w*: /.test(line)),
    told.join("\n"),
  );
  await close(fleet, us);
});

test("Metrics: Prometheus' linter has nothing against any name, label or help, and each name is there once", async () => {
  const fleet = await readyFleet(13);
  const registry = fleet.registries.get("eu")!;
  assert.deepEqual(await lintMetrics(registry), []);
  const docs = fileURLToPath(new URL("../../../../docs/", import.meta.url));
  const page = await readFile(`${docs}observability.md`, "utf8");
  const ofGslb = /^(k8gb|meridian_(gslb|peer|delegation|operator|dns_weighted))_/;
  const registered = registry.getMetricsAsArray().flatMap(({ name }) => (ofGslb.test(name) ? [name] : []));
  const named = new Set([...page.matchAll(/`((?:k8gb|meridian)_[a-z0-9_]+)`/g)].map(([, name]) => name));
  assert.deepEqual(
    [...named].sort(),
    registered.toSorted(),
    "docs/observability.md names each, and no other",
  );
  const alerts = await readFile(`${docs}alerts.yaml`, "utf8");
  for (const [, name = ""] of alerts.matchAll(/\b((?:k8gb|meridian)_[a-z0-9_]+)/g))
    assert.ok(registered.includes(name.replace(/_bucket$/, "")), `docs/alerts.yaml: ${name}`);
  const families = [...(await registry.metrics()).matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
  assert.equal(new Set(families).size, families.length);
  await close(fleet);
});
