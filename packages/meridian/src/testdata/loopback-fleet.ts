import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { once } from "node:events";
import { openMemoryStorage } from "@meridian/apiserver";
import { DnsClient, type Verdict } from "@meridian/dns";
import { dnsKeysLabel, gslbType } from "@meridian/gslb";
import {
  endpointSliceType,
  ingressType,
  namespaceType,
  secretType,
  serviceType,
  type KubeObject,
} from "@meridian/kube";
import { silentLogger, type Endpoint, type Runtime } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { startCluster, type Cluster } from "../cluster/cluster.ts";

const address = "127.0.0.1";
export const zoneName = "cloud.example.com";

/** A port that is free for UDP and TCP now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const socket = createSocket("udp4");
    socket.bind(0, address);
    await once(socket, "listening");
    const { port } = socket.address();
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, address, () => server.close(() => resolve(true)));
    });
    await new Promise<void>((resolve) => socket.close(() => resolve()));
    if (isFree) return port;
  }
}

/** Clusters in this process, over real sockets of the loopback address. */
export class LoopbackFleet implements AsyncDisposable {
  readonly runtime: Runtime = nodeRuntime({ dataFolder: "/nonexistent", log: silentLogger });
  readonly clusters: Map<string, Cluster> = new Map();
  readonly dns: Map<string, Endpoint> = new Map();
  readonly #storages: AsyncDisposable[] = [];
  readonly #client = new DnsClient(this.runtime, { from: address });

  /** Takes a place for the DNS server of each of these, ours or not. */
  static async open(tags: readonly string[]): Promise<LoopbackFleet> {
    const fleet = new LoopbackFleet();
    for (const tag of tags) fleet.dns.set(tag, { address, port: await freePort() });
    return fleet;
  }

  /** Starts a cluster; resolves when it answers. */
  async start(tag: string, settings: Readonly<Record<string, string>> = {}): Promise<Cluster> {
    const peers = [...this.dns].filter(([other]) => other !== tag);
    const storage = await openMemoryStorage(this.runtime, { persistent: false });
    this.#storages.push(storage);
    const cluster = await startCluster(this.runtime, {
      storage,
      token: "token",
      apiServer: { address, port: await freePort() },
      operator: { address, port: await freePort() },
      dns: this.dns.get(tag)!,
      operatorEnvironment: {
        CLUSTER_GEO_TAG: tag,
        EXT_GSLB_CLUSTERS_GEO_TAGS: [...this.dns.keys()].join(","),
        DNS_ZONES: `example.com:${zoneName}:30`,
        MERIDIAN_DNS_ADDRESSES: address,
        MERIDIAN_PEERS: peers.map(([other, { port }]) => `${other}=${address}:${port}`).join(","),
        ...settings,
      },
    });
    this.clusters.set(tag, cluster);
    await cluster.ready;
    return cluster;
  }

  /** Gives every cluster, or these, the fleet's key. */
  async shareKey(tags: Iterable<string> = this.clusters.keys()): Promise<void> {
    const secret = Buffer.alloc(32, "A").toString("base64");
    for (const tag of tags)
      await this.clusters.get(tag)!.client.create(secretType, {
        ...{ apiVersion: "v1", kind: "Secret" },
        metadata: { namespace: "k8gb", name: "peers", labels: { [dnsKeysLabel]: "tsig" } },
        stringData: { "peers.key": `key "meridian-peers" { algorithm hmac-sha256; secret "${secret}"; };` },
      });
  }

  /** Makes an application: a Gslb on an Ingress with a Service, ready or not, at these addresses. */
  async apply(
    tag: string,
    app: {
      readonly name: string;
      readonly strategy: object;
      readonly targets: readonly string[];
      readonly ready?: boolean;
    },
  ): Promise<void> {
    const { client } = this.clusters.get(tag)!;
    const { name, strategy, targets, ready = true } = app;
    const metadata = { namespace: "demo", name };
    const backend = { service: { name, port: { number: 80 } } };
    const http = { paths: [{ path: "/", pathType: "Prefix", backend }] };
    await client
      .create(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name: "demo" } })
      .catch(() => {});
    const reference = { apiVersion: "networking.k8s.io/v1", kind: "Ingress" };
    await client.create(serviceType, {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { ports: [{ port: 80 }] },
    });
    await client.create(endpointSliceType, {
      ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" as const },
      metadata: { ...metadata, labels: { "kubernetes.io/service-name": name } },
      endpoints: [{ addresses: ["10.244.0.1"], conditions: { ready } }],
    });
    const made = await client.create(ingressType, {
      ...{ ...reference, metadata, spec: { rules: [{ host: `${name}.${zoneName}`, http }] } },
    });
    const status = { loadBalancer: { ingress: targets.map((ip) => ({ ip })) } };
    await client.updateStatus(ingressType, { ...made, status });
    const gslb: KubeObject & { readonly spec: object } = {
      ...{ apiVersion: "k8gb.io/v1beta1", kind: "Gslb", metadata },
      spec: { resourceRef: { ...reference, name }, strategy },
    };
    await client.create(gslbType, gslb);
  }

  /** Marks an application's only endpoint. */
  async setReady(tag: string, name: string, ready: boolean): Promise<void> {
    const endpoints = [{ addresses: ["10.244.0.1"], conditions: { ready } }];
    const ref = { namespace: "demo", name };
    await this.clusters
      .get(tag)!
      .client.patch(endpointSliceType, ref, { type: "merge", body: { endpoints } });
  }

  /** What a DNS server says of a name. */
  ask(tag: string, name: string, type = "A"): Promise<Verdict> {
    return this.#client.query({ name, type, servers: [this.dns.get(tag)!], deadlineMs: 2_000 });
  }

  /** The sorted addresses that it answers, or the kind of its answer where there are none. */
  async answer(tag: string, name: string): Promise<string> {
    const verdict = await this.ask(tag, name);
    if (verdict.state !== "answered") return verdict.state;
    const targets = verdict.records.map(({ data }) => data).sort();
    return targets.length === 0 ? verdict.outcome : targets.join(" ");
  }

  /** Waits until something is so; what it was last is told where it never is. */
  async until<T>(read: () => Promise<T> | T, isSo: (value: T) => boolean): Promise<T> {
    for (let tries = 0; ; tries++) {
      const value = await read();
      if (isSo(value)) return value;
      if (tries === 600) throw new Error(`it never came about; last: ${JSON.stringify(value)}`);
      await this.runtime.clock.sleep(25);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const cluster of this.clusters.values()) await cluster[Symbol.asyncDispose]();
    for (const storage of this.#storages) await storage[Symbol.asyncDispose]();
    await this.#client[Symbol.asyncDispose]();
  }
}
