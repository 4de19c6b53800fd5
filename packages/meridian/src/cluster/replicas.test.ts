import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryStorage } from "@meridian/apiserver";
import { KubeClient } from "@meridian/controller";
import {
  Authority,
  createRequestPipeline,
  DnsClient,
  serveDns,
  TsigKeyring,
  ZoneTransferClient,
} from "@meridian/dns";
import {
  dnsEndpointType,
  dnsKeysLabel,
  gslbType,
  parseOperatorConfig,
  startOperator,
  viewTransferServer,
  type Operator,
} from "@meridian/gslb";
import {
  endpointSliceType,
  ingressType,
  namespaceType,
  secretType,
  serviceType,
  type KubeObject,
} from "@meridian/kube";
import { Simulation } from "@meridian/runtime/sim";
import { startCluster, type Cluster } from "./cluster.ts";

const zone = "cloud.example.com";
const view = `_localtargets.${zone}`;
const app = `app.${zone}`;
const addresses = { eu: "10.0.0.1", us: "10.0.0.2", second: "10.0.0.3" } as const;
const untilMs = 600_000;

type Settings = Readonly<Record<string, string>>;

function settings(tag: "eu" | "us"): Settings {
  const euServers = `eu=${addresses.eu}:53,eu=${addresses.second}:53`;
  return {
    CLUSTER_GEO_TAG: tag,
    EXT_GSLB_CLUSTERS_GEO_TAGS: "eu,us",
    DNS_ZONES: `example.com:${zone}:30`,
    MERIDIAN_DNS_ADDRESSES: addresses[tag],
    MERIDIAN_PEERS: tag === "eu" ? `us=${addresses.us}:53` : euServers,
    MERIDIAN_LEADER_ELECTION: "true",
  };
}

interface Fleet {
  readonly simulation: Simulation;
  readonly eu: Cluster;
  readonly us: Cluster;
  /** A second operator of eu, with a DNS server of its own. */
  readonly second: { readonly authority: Authority; readonly operator: Operator };
  readonly complete: <T>(work: Promise<T>) => Promise<T>;
  readonly pass: (ms: number) => Promise<void>;
}

async function open(changed: { readonly [Tag in "eu" | "us"]?: Settings } = {}): Promise<Fleet> {
  const simulation = new Simulation({ seed: 5 });
  const complete = <T>(work: Promise<T>): Promise<T> => simulation.complete(work, { untilMs });
  const start = async (tag: "eu" | "us"): Promise<Cluster> => {
    const { runtime } = simulation.node({ name: tag, addresses: [addresses[tag]] });
    const address = addresses[tag];
    const cluster = await complete(
      startCluster(runtime, {
        storage: await complete(openMemoryStorage(runtime, { persistent: false })),
        token: "token",
        apiServer: { address, port: 6443 },
        operator: { address, port: 6444 },
        dns: { address, port: 53 },
        operatorEnvironment: { ...settings(tag), ...changed[tag] },
      }),
    );
    await complete(cluster.ready);
    await complete(prepare(cluster, tag));
    return cluster;
  };
  const eu = await start("eu");
  const us = await start("us");

  const { runtime } = simulation.node({ name: "second", addresses: [addresses.second] });
  const from = addresses.second;
  const client = new KubeClient(runtime, {
    origin: `http://${addresses.eu}:6443`,
    token: "token",
    userAgent: "second",
  });
  const authority = new Authority({ random: runtime.random, clock: runtime.clock });
  const keyring = new TsigKeyring();
  authority.requests = createRequestPipeline({
    ...{ clock: runtime.clock, log: runtime.log, keyring, authority },
    transfer: viewTransferServer({ clock: runtime.clock, authority }).answer,
  });
  await complete(serveDns(runtime, { authority, listen: [{ address: from, port: 53 }] }));
  const { config } = parseOperatorConfig({ ...settings("eu"), ...changed.eu });
  const operator = startOperator(runtime, {
    ...{ client, authority, config: config!, dnsClient: new DnsClient(runtime, { from }) },
    transfers: new ZoneTransferClient(runtime, { from }),
    onKeys: ({ tsig }) => keyring.replace(tsig),
  });
  await complete(operator.ready);
  const pass = (ms: number): Promise<void> => simulation.run({ untilMs: simulation.nowMs + ms });
  await pass(60_000);
  return { simulation, eu, us, second: { authority, operator }, complete, pass };
}

async function prepare({ client }: Cluster, tag: "eu" | "us"): Promise<void> {
  const secret = Buffer.alloc(32, "A").toString("base64");
  await client.create(secretType, {
    ...{ apiVersion: "v1", kind: "Secret" },
    metadata: { namespace: "k8gb", name: "peers", labels: { [dnsKeysLabel]: "tsig" } },
    stringData: { "peers.key": `key "meridian-peers" { algorithm hmac-sha256; secret "${secret}"; };` },
  });
  const metadata = { namespace: "demo", name: "app" };
  const backend = { service: { name: "app", port: { number: 80 } } };
  const http = { paths: [{ path: "/", pathType: "Prefix", backend }] };
  const reference = { apiVersion: "networking.k8s.io/v1", kind: "Ingress" };
  await client.create(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name: "demo" } });
  await client.create(serviceType, {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { ports: [{ port: 80 }] },
  });
  await client.create(endpointSliceType, {
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" as const },
    metadata: { ...metadata, labels: { "kubernetes.io/service-name": "app" } },
    endpoints: [{ addresses: ["10.244.0.1"], conditions: { ready: true } }],
  });
  const made = await client.create(ingressType, {
    ...reference,
    metadata,
    spec: { rules: [{ host: app, http }] },
  });
  const ip = tag === "eu" ? "192.0.2.1" : "198.51.100.1";
  await client.updateStatus(ingressType, { ...made, status: { loadBalancer: { ingress: [{ ip }] } } });
  const gslb: KubeObject & { readonly spec: object } = {
    ...{ apiVersion: "k8gb.io/v1beta1", kind: "Gslb", metadata },
    spec: { resourceRef: { ...reference, name: "app" }, strategy: { type: "roundRobin", dnsTtlSeconds: 5 } },
  };
  await client.create(gslbType, gslb);
}

const setReady = ({ client }: Cluster, ready: boolean): Promise<unknown> =>
  client.patch(
    endpointSliceType,
    { namespace: "demo", name: "app" },
    {
      type: "merge",
      body: { endpoints: [{ addresses: ["10.244.0.1"], conditions: { ready } }] },
    },
  );

function told(authority: Authority): { readonly serial: number | undefined; readonly content: string } {
  const served = authority.zone(view);
  const sets = [...(served?.recordSets() ?? [])].filter(({ type }) => type !== "SOA");
  return {
    serial: served?.serial,
    content: JSON.stringify(sets.map(({ name, type, data }) => [name, type, data])),
  };
}

const answered = (authority: Authority): string =>
  authority
    .zone(zone)!
    .recordSetsOf(app)
    .flatMap(({ data }) => data)
    .sort()
    .join(" ");

test("D52: two replicas of a cluster give one view under one serial, and only one of them writes", async () => {
  const { eu, us, second, complete, pass } = await open();
  assert.equal(answered(eu.authority), "192.0.2.1 198.51.100.1");
  const generation = async (): Promise<number> =>
    (await complete(eu.client.get(dnsEndpointType, { namespace: "demo", name: "app" }))).metadata
      .generation ?? 0;
  let serial = 0;
  const before = await generation();
  let steps = 0;
  for (const [cluster, ready, expected] of [
    [eu, false, "198.51.100.1"],
    [us, false, ""],
    [us, true, "198.51.100.1"],
    [eu, true, "192.0.2.1 198.51.100.1"],
  ] as const) {
    await complete(setReady(cluster, ready));
    await pass(40_000);
    steps += 1;
    const [one, two] = [told(eu.authority), told(second.authority)];
    assert.deepEqual(one, two, "equal serial, equal content");
    assert.deepEqual([answered(eu.authority), answered(second.authority)], [expected, expected]);
    if (cluster === eu) assert.ok(one.serial! > serial);
    else assert.equal(one.serial, serial === 0 ? one.serial : serial, "what a peer does is no news of ours");
    serial = one.serial!;
  }
  assert.ok((await generation()) - before <= steps, "one write for each change, and none against each other");
});

test("an operator that takes over goes on with the serial, and peers hear it where they are", async () => {
  const { eu, us, second, complete, pass } = await open();
  const serial = told(eu.authority).serial!;
  await complete(eu.operator.stop());
  await complete(setReady(eu, false));
  await pass(90_000);
  const after = told(second.authority);
  assert.ok(after.serial! > serial);
  assert.equal(told(eu.authority).serial, serial, "who has stopped says nothing new");
  assert.equal(answered(second.authority), "198.51.100.1");
  assert.equal(answered(us.authority), "198.51.100.1");
  await complete(setReady(eu, true));
  await pass(90_000);
  assert.equal(answered(us.authority), "192.0.2.1 198.51.100.1");
});

/** Tells the replicas of eu of each other, as Kubernetes does. */
async function prepareDnsService({ client }: Cluster): Promise<void> {
  const labels = { "app.kubernetes.io/name": "coredns" };
  const ports = [{ name: "udp-53", port: 53, protocol: "UDP" as const }];
  await client.create(serviceType, {
    ...{ apiVersion: "v1", kind: "Service" },
    metadata: { namespace: "k8gb", name: "k8gb-coredns", labels },
    spec: { ports },
  });
  await client.create(endpointSliceType, {
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" as const },
    metadata: {
      ...{ namespace: "k8gb", name: "k8gb-coredns-1" },
      labels: { "kubernetes.io/service-name": "k8gb-coredns" },
    },
    endpoints: [addresses.eu, addresses.second].map((address) => ({
      addresses: [address],
      conditions: { ready: true },
    })),
    ports: [...ports, { name: "tcp-53", port: 53, protocol: "TCP" }],
  });
}

test("a NOTIFY that reaches a replica which does not lead is passed on to the one that does, once", async () => {
  // So long a period that whatever comes about came by a NOTIFY; us knows of one replica alone, as behind one address.
  const slow = { RECONCILE_REQUEUE_SECONDS: "3600" };
  const { eu, us, second, complete, pass } = await open({
    eu: slow,
    us: { ...slow, MERIDIAN_PEERS: `eu=${addresses.second}:53` },
  });
  await complete(prepareDnsService(eu));
  await complete(setReady(us, false));
  await pass(5_000);
  const taken = new Map<string, number[]>();
  for (const [name, { authority }] of [["leader", eu] as const, ["other", second] as const]) {
    const take = authority.onNotify!;
    taken.set(name, []);
    authority.onNotify = (hint) => {
      taken.get(name)!.push(hint.serial ?? -1);
      return take(hint);
    };
  }
  for (const [ready, expected] of [
    [true, "192.0.2.1 198.51.100.1"],
    [false, "192.0.2.1"],
    [true, "192.0.2.1 198.51.100.1"],
  ] as const) {
    const { serial } = told(us.authority);
    await complete(setReady(us, ready));
    await pass(5_000);
    assert.deepEqual([answered(eu.authority), answered(second.authority)], [expected, expected]);
    // The other one has it from us, and from itself what it told both; the leader has it from the other one.
    const [leader, other] = [taken.get("leader")!.splice(0), taken.get("other")!.splice(0)];
    assert.equal(leader.length, 1);
    assert.ok(leader[0]! < 2 ** 20, "the mark of a replica");
    assert.deepEqual(other, [told(us.authority).serial, leader[0]]);
    assert.ok(other[0]! > serial!);
  }
});
