import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryStorage } from "@meridian/apiserver";
import { Authority, DnsClient, parseZoneFile, serveDns } from "@meridian/dns";
import { gslbType } from "@meridian/gslb";
import { endpointSliceType, serviceType, type KubeObject, type ResourceType } from "@meridian/kube";
import { startCluster, type Cluster } from "@meridian/meridian";
import { Simulation } from "@meridian/runtime/sim";
import { ingressRules, ReferenceWorld, zone } from "./reference-world.ts";

// Changes under live traffic: what is asked for changes, clusters join, and no answer is ever empty.

const host = `app.${zone}`;

test("M-03: every field of a live Gslb can be changed in place, and back, without an empty answer", async () => {
  const world = await ReferenceWorld.open();
  for (const name of ["app", "other"]) {
    await world.serve(name);
    await world.ingress(name, { [host]: name }, { labels: { app: name } });
  }
  const refTo = (name: string): object => ({ apiVersion: "networking.k8s.io/v1", kind: "Ingress", name });
  const first = { strategy: { type: "roundRobin", dnsTtlSeconds: 30 }, resourceRef: refTo("app") };
  await world.create(gslbType, "live", { spec: first });
  await world.settle();
  const strategy = (fields: object): object => ({ strategy: { ...first.strategy, ...fields } });
  const changes: readonly object[] = [
    strategy({ dnsTtlSeconds: 5 }),
    strategy({ weight: { eu: 5 } }),
    { strategy: { type: "failover", primaryGeoTag: "eu" } },
    { strategy: { type: "failover", primaryGeoTag: null } },
    strategy({ type: "geoip" }),
    strategy({ splitBrainThresholdSeconds: 60 }),
    { serviceHealthPolicy: "All" },
    { resourceRef: refTo("other") },
    { resourceRef: { name: null, matchLabels: { app: "other" } } },
    { resourceRef: null, ingress: { rules: ingressRules({ [host]: "app" }) } },
    // A mistake, and its correction.
    strategy({ type: "none" }),
  ];
  const back = {
    serviceHealthPolicy: null,
    ingress: null,
    strategy: { weight: null, primaryGeoTag: null, splitBrainThresholdSeconds: null, ...first.strategy },
    resourceRef: { matchLabels: null, ...first.resourceRef },
  };
  for (const change of changes)
    for (const spec of [change, back]) {
      await world.patch(gslbType, "live", { spec });
      for (let step = 0; step < 20; step += 1) {
        assert.equal(await world.dig(host), "data 192.0.2.1", JSON.stringify(spec));
        await world.settle(25);
      }
    }
  await world.close();
});

/** A fleet of `eu` and `us` whose parent knows both from the beginning; each cluster is started by itself. */
class LiveFleet {
  readonly simulation = new Simulation({ seed: 1 });
  readonly #client = new DnsClient(this.simulation.node({ name: "client", addresses: ["10.0.9.9"] }).runtime);
  readonly #clusters = new Map<string, Cluster>();
  /** Each answer of the first cluster, in order. */
  readonly answers: string[] = [];

  static readonly addresses: Readonly<Record<string, string>> = { eu: "10.0.0.1", us: "10.0.1.1" };

  async startEdge(): Promise<void> {
    const { runtime } = this.simulation.node({ name: "edge", addresses: ["10.0.0.53"] });
    const authority = new Authority({ random: runtime.random });
    const glue = Object.entries(LiveFleet.addresses).map(
      ([tag, address]) => `gslb-ns-${tag}-cloud.example.com. A ${address}`,
    );
    const text = `$ORIGIN example.com.\n$TTL 30\n@ SOA ns hostmaster 1 60 60 60 5\n@ NS ns\nns A 10.0.0.53\n${glue.join("\n")}\n`;
    authority.setZone(parseZoneFile(text).zone!);
    await this.#complete(serveDns(runtime, { authority, listen: [{ address: "10.0.0.53", port: 53 }] }));
  }

  async join(tag: string): Promise<void> {
    const address = LiveFleet.addresses[tag]!;
    const { runtime } = this.simulation.node({ name: tag, addresses: [address] });
    const storage = await this.#complete(openMemoryStorage(runtime, { persistent: true }));
    const cluster = await this.#complete(
      startCluster(runtime, {
        ...{ storage, token: "token" },
        apiServer: { address, port: 6443 },
        operator: { address, port: 6444 },
        dns: { address, port: 53 },
        operatorEnvironment: {
          CLUSTER_GEO_TAG: tag,
          EXT_GSLB_CLUSTERS_GEO_TAGS: "eu,us",
          DNS_ZONES: `example.com:${zone}:30`,
          EDGE_DNS_SERVERS: "10.0.0.53",
          MERIDIAN_DNS_ADDRESSES: address,
          RECONCILE_REQUEUE_SECONDS: "5",
        },
      }),
    );
    this.#clusters.set(tag, cluster);
    await this.#complete(cluster.ready, { untilMs: this.simulation.nowMs + 60_000 });
  }

  async leave(tag: string): Promise<void> {
    await this.#complete(this.#clusters.get(tag)![Symbol.asyncDispose]() as Promise<void>);
    this.#clusters.delete(tag);
  }

  create(tag: string, type: ResourceType, object: object): Promise<KubeObject> {
    const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
    const made = { apiVersion, kind: type.kind, metadata: { name: "app", namespace: "default" }, ...object };
    return this.#complete(this.#clusters.get(tag)!.client.create(type, made));
  }

  async patch(tag: string, type: ResourceType, body: object): Promise<void> {
    const ref = { name: "app", namespace: "default" };
    await this.#complete(this.#clusters.get(tag)!.client.patch(type, ref, { type: "merge", body }));
  }

  /** The application of a cluster, and its Gslb. */
  async deploy(tag: string, { isReady, strategy }: { isReady: boolean; strategy: object }): Promise<void> {
    await this.create(tag, serviceType, { spec: { type: "ClusterIP", ports: [{ name: "http", port: 80 }] } });
    await this.create(tag, endpointSliceType, {
      metadata: { name: "app", namespace: "default", labels: { "kubernetes.io/service-name": "app" } },
      addressType: "IPv4",
      ...slices(isReady),
    });
    await this.create(tag, gslbType, {
      metadata: {
        ...{ name: "app", namespace: "default" },
        annotations: { "k8gb.io/exposed-ip-addresses": exposed(tag) },
      },
      spec: { strategy, ingress: { rules: ingressRules({ [host]: "app" }) } },
    });
  }

  /** Ten questions per second to the first cluster. */
  async ask(seconds: number): Promise<void> {
    for (let question = 0; question < seconds * 10; question += 1) {
      const verdict = await this.#complete(
        this.#client.query({
          ...{ name: host, type: "A", deadlineMs: 2000 },
          servers: [{ address: LiveFleet.addresses["eu"]!, port: 53 }],
        }),
      );
      const records = verdict.state === "answered" ? verdict.records : [];
      this.answers.push(
        records
          .map(({ data }) => data)
          .sort()
          .join(),
      );
      await this.simulation.run({ untilMs: this.simulation.nowMs + 100 });
    }
  }

  /** The different answers since the last call. */
  take(): readonly string[] {
    return [...new Set(this.answers.splice(0))];
  }

  async close(): Promise<void> {
    for (const cluster of this.#clusters.values())
      await this.#complete(cluster[Symbol.asyncDispose]() as Promise<void>);
    await this.#complete(this.#client[Symbol.asyncDispose]());
  }

  #complete<T>(promise: Promise<T>, options?: { readonly untilMs: number }): Promise<T> {
    return this.simulation.complete(promise, options);
  }
}

const exposed = (tag: string): string => (tag === "eu" ? "192.0.2.1" : "198.51.100.1");
const slices = (ready: boolean): object => ({
  endpoints: [{ addresses: ["10.244.0.1"], conditions: { ready } }],
  ports: [{ name: "http", port: 8080 }],
});

const simple = { type: "roundRobin" };
const weighted = { type: "roundRobin", weight: { eu: 1, us: 1 } };
/** The change of the strategy and the joiner's Gslb. */
const orders: readonly (readonly ("strategy" | "gslb")[])[] = [
  ["strategy", "gslb"],
  ["gslb", "strategy"],
];

for (const order of orders)
  test(`M-02: a second cluster joins under traffic, ${order.join(" before ")}: no empty answer, no traffic before it is healthy`, async () => {
    const fleet = new LiveFleet();
    await fleet.startEdge();
    await fleet.join("eu");
    await fleet.deploy("eu", { isReady: true, strategy: simple });
    await fleet.simulation.run({ untilMs: fleet.simulation.nowMs + 5_000 });
    await fleet.ask(5);
    assert.deepEqual(fleet.take(), [exposed("eu")]);

    await fleet.join("us");
    await fleet.ask(5);
    for (const step of order) {
      if (step === "strategy") await fleet.patch("eu", gslbType, { spec: { strategy: weighted } });
      else await fleet.deploy("us", { isReady: false, strategy: weighted });
      await fleet.ask(12);
      assert.deepEqual(fleet.take(), [exposed("eu")], step);
    }
    await fleet.patch("us", endpointSliceType, slices(true));
    await fleet.ask(15);
    // With weights an answer is of one cluster.
    assert.deepEqual(fleet.take().toSorted(), [exposed("eu"), exposed("us")]);

    const failover = { type: "failover", primaryGeoTag: "us", weight: null };
    for (const tag of ["us", "eu"]) {
      await fleet.patch(tag, gslbType, { spec: { strategy: failover } });
      await fleet.ask(8);
    }
    assert.deepEqual(fleet.take().toSorted(), [exposed("eu"), exposed("us")]);
    await fleet.ask(3);
    assert.deepEqual(fleet.take(), [exposed("us")]);
    await fleet.close();
  });

for (const [threshold, staysSeconds] of [
  [300, 200],
  [undefined, 0],
] as const)
  test(`M-06, D56: splitBrainThresholdSeconds of an unchanged manifest is how long a silent cluster is believed: ${threshold}`, async () => {
    const fleet = new LiveFleet();
    await fleet.startEdge();
    const strategy = { ...simple, ...(threshold && { splitBrainThresholdSeconds: threshold }) };
    for (const tag of ["eu", "us"]) {
      await fleet.join(tag);
      await fleet.deploy(tag, { isReady: true, strategy });
    }
    await fleet.simulation.run({ untilMs: fleet.simulation.nowMs + 15_000 });
    const both = `${exposed("eu")},${exposed("us")}`;
    await fleet.ask(1);
    assert.deepEqual(fleet.take(), [both]);

    await fleet.leave("us");
    await fleet.ask(staysSeconds);
    assert.deepEqual(fleet.take(), staysSeconds === 0 ? [] : [both]);
    await fleet.simulation.run({ untilMs: fleet.simulation.nowMs + 120_000 });
    await fleet.ask(1);
    assert.deepEqual(fleet.take(), [exposed("eu")]);
    await fleet.close();
  });
