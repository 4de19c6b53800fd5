import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryStorage } from "@meridian/apiserver";
import { Authority, DnsClient, serveDns, Zone, type RecordSet } from "@meridian/dns";
import { dnsEndpointType, zoneDelegationType } from "@meridian/gslb";
import type { KubeObject } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { startCluster, type Cluster } from "./cluster.ts";

// Clusters that leave a zone, in every order, with a delegation that external-dns writes for each of them.

const addresses: Readonly<Record<string, string>> = { eu: "10.0.0.1", us: "10.0.0.2", za: "10.0.0.3" };
const tags = Object.keys(addresses);
const parentAddress = "10.0.0.53";
const zone = "cloud.example.com";
const serverOf = (tag: string): string => `gslb-ns-${tag}-${zone}`;
const untilMs = 3_600_000;

interface Endpoints extends KubeObject {
  readonly spec: {
    readonly endpoints: readonly {
      readonly dnsName: string;
      readonly recordType: string;
      readonly recordTTL: number;
      readonly targets: readonly string[];
    }[];
  };
}

/**
 * Writes what the clusters' DNSEndpoints say into the parent zone, as the external-dns of each would: a name is the first
 * writer's, and goes when that one is told no more of it.
 */
class ParentWriter {
  readonly #zone: Zone;
  readonly #owners = new Map<string, string>();

  constructor(parent: Zone) {
    this.#zone = parent;
  }

  async round(clusters: ReadonlyMap<string, Cluster>): Promise<void> {
    for (const [tag, { client }] of clusters) {
      const { items } = await client.list<Endpoints>(dnsEndpointType, { namespace: "k8gb" });
      const wanted = new Map(items.flatMap(({ spec }) => spec.endpoints).map((each) => [each.dnsName, each]));
      const changes = new Map<string, readonly RecordSet[]>();
      for (const [name, owner] of this.#owners)
        if (owner === tag && !wanted.has(name)) {
          this.#owners.delete(name);
          changes.set(name, []);
        }
      for (const [name, { recordType: type, recordTTL: ttl, targets }] of wanted) {
        if ((this.#owners.get(name) ?? tag) !== tag) continue;
        this.#owners.set(name, tag);
        const data = type === "NS" ? targets.map((each) => `${each}.`) : targets;
        changes.set(name, [{ name, type, ttl, data }]);
      }
      this.#zone.replace(changes);
    }
  }
}

/** A parent, and three clusters that are all delegated to. */
async function delegatedFleet(): Promise<{
  readonly simulation: Simulation;
  readonly clusters: ReadonlyMap<string, Cluster>;
  /** Lets time pass until the check holds, while external-dns comes around every 20 s. */
  readonly until: (what: string, check: () => Promise<boolean>) => Promise<void>;
  readonly delegation: () => readonly string[];
  /** Whether a cluster's server answers for the zone. */
  readonly ask: (tag: string) => Promise<boolean>;
}> {
  const simulation = new Simulation({ seed: 11 });
  const { runtime } = simulation.node({ name: "parent", addresses: [parentAddress] });
  const parent = new Zone({
    origin: "example.com",
    soa: {
      ...{ mname: "ns.example.com", rname: "host.example.com", serial: 1, refresh: 60, retry: 60 },
      ...{ expire: 60, minimum: 5, ttl: 5 },
    },
    nameServers: ["ns.example.com"],
    nameServerTtl: 30,
    ready: true,
  });
  parent.replace(
    new Map([["ns.example.com", [{ name: "ns.example.com", type: "A", ttl: 30, data: [parentAddress] }]]]),
  );
  const authority = new Authority({ random: runtime.random, clock: runtime.clock });
  authority.setZone(parent);
  await simulation.complete(serveDns(runtime, { authority, listen: [{ address: parentAddress, port: 53 }] }));
  const clusters = new Map<string, Cluster>();
  for (const tag of tags)
    clusters.set(tag, await simulation.complete(clusterOf(simulation, tag), { untilMs }));

  const dnsClient = new DnsClient(runtime, { from: parentAddress });
  const writer = new ParentWriter(parent);
  const delegation = (): readonly string[] =>
    parent
      .recordSetsOf(zone)
      .filter(({ type }) => type === "NS")
      .flatMap(({ data }) => data.map((each) => each.replace(/\.$/, "")))
      .sort();
  const until = async (what: string, check: () => Promise<boolean>): Promise<void> => {
    for (let second = 0; second < 600; second += 1) {
      if (second % 20 === 0) await simulation.complete(writer.round(clusters), { untilMs });
      if (await simulation.complete(check(), { untilMs })) return;
      await simulation.run({ untilMs: simulation.nowMs + 1000 });
    }
    throw new Error(`not within ten minutes: ${what}; the parent has ${delegation().join(", ")}`);
  };
  const ask = async (tag: string): Promise<boolean> => {
    const servers = [{ address: addresses[tag]!, port: 53 }];
    const verdict = await dnsClient.query({ name: zone, type: "SOA", servers, deadlineMs: 2000 });
    return verdict.state === "answered" && verdict.authoritative;
  };
  return { simulation, clusters, until, delegation, ask };
}

async function clusterOf(simulation: Simulation, tag: string): Promise<Cluster> {
  const address = addresses[tag]!;
  const { runtime }: { readonly runtime: Runtime } = simulation.node({ name: tag, addresses: [address] });
  const cluster = await startCluster(runtime, {
    storage: await openMemoryStorage(runtime, { persistent: true }),
    token: "token",
    apiServer: { address, port: 6443 },
    operator: { address, port: 6444 },
    dns: { address, port: 53 },
    operatorEnvironment: {
      CLUSTER_GEO_TAG: tag,
      EXT_GSLB_CLUSTERS_GEO_TAGS: tags.join(","),
      EXTDNS_ENABLED: "true",
      EDGE_DNS_SERVERS: parentAddress,
      MERIDIAN_DNS_ADDRESSES: address,
    },
  });
  await cluster.ready;
  await cluster.client.create(zoneDelegationType, {
    apiVersion: "k8gb.io/v1beta1",
    kind: "ZoneDelegation",
    metadata: { name: "cloud" },
    spec: { loadBalancedZone: zone, parentZone: "example.com", dnsZoneNegTTL: 5, doFinalize: true },
  } as KubeObject);
  return cluster;
}

const orders = tags.flatMap((first) =>
  tags
    .filter((tag) => tag !== first)
    .map((second) => [first, second, tags.find((tag) => tag !== first && tag !== second)!]),
);

for (const order of orders)
  test(`D29, D30: clusters leave a zone in the order ${order.join(", ")}, and none is ever delegated to that does not answer`, async () => {
    const { simulation, clusters, until, delegation, ask } = await delegatedFleet();
    const isLeft = async (tag: string): Promise<boolean> => {
      const { items } = await clusters.get(tag)!.client.list(zoneDelegationType);
      return items.length === 0;
    };
    await until("all are delegated to", async () => delegation().join() === tags.map(serverOf).join());
    for (const [index, tag] of order.entries()) {
      await simulation.complete(clusters.get(tag)!.client.delete(zoneDelegationType, { name: "cloud" }), {
        untilMs,
      });
      let lastDelegatedMs = simulation.nowMs;
      await until(`${tag} has left`, async () => {
        const isDelegated = delegation().includes(serverOf(tag));
        if (isDelegated) lastDelegatedMs = simulation.nowMs;
        // As long as caches may hold the delegation.
        if (simulation.nowMs - lastDelegatedMs < 30_000) assert.ok(await ask(tag), `${tag} answers`);
        return isLeft(tag);
      });
      assert.ok(!delegation().includes(serverOf(tag)), "the object goes after the delegation");
      assert.ok(simulation.nowMs - lastDelegatedMs >= 30_000, "and after its TTL");
      assert.equal(await simulation.complete(ask(tag), { untilMs }), false);
      for (const other of order.slice(index + 1))
        assert.ok(await simulation.complete(ask(other), { untilMs }), `${other} answers on`);
    }
    await until("nothing is left", async () => {
      const lists = [...clusters.values()].map(({ client }) => client.list(dnsEndpointType));
      return (await Promise.all(lists)).every(({ items }) => items.length === 0) && delegation().length === 0;
    });
    await simulation.complete(
      Promise.all([...clusters.values()].map((cluster) => cluster[Symbol.asyncDispose]())),
      { untilMs: simulation.nowMs + 60_000 },
    );
  });
