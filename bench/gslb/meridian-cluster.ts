import { createApiServer, openMemoryStorage, type Storage } from "@meridian/apiserver";
import { KubeClient } from "@meridian/controller";
import { httpTo } from "@meridian/controller/testing";
import { customResourceDefinitions, dnsKeysLabel } from "@meridian/gslb";
import { customResourceDefinitionType, endpointSliceType, namespaceType, secretType } from "@meridian/kube";
import { startCluster, type Cluster } from "@meridian/meridian";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { Registry } from "prom-client";
import {
  gslb,
  ingress,
  namespaceName,
  service,
  slice,
  types,
} from "../../test/simulation/fleet/application.ts";
import { machineMs, serveCommands, type ClusterCommands, type ClusterSetting } from "./cluster-protocol.ts";
import { appName, benchParentZone, benchZone, hostName, placeOf, targetOf } from "./fleet-place.ts";

const token = "bench";
const writesAtOnce = 16;
const runtime = nodeRuntime({ dataFolder: "/nonexistent", log: silentLogger });

/** Where the operator's Secret of the fleet's key is. */
const operatorNamespace = "k8gb";
const keyText = `key "meridian-peers" { algorithm hmac-sha256; secret "${Buffer.alloc(32, "b").toString("base64")}"; };`;

/** One cluster of Meridian: API server, operator and DNS server in this process, with the store in memory. */
class MeridianCluster implements ClusterCommands {
  #setting!: ClusterSetting;
  #storage!: Storage;
  #cluster: Cluster | undefined;
  #registry = new Registry();
  /** The people of the cluster; what they ask is not counted. */
  #user: KubeClient | undefined;

  async prepare(setting: ClusterSetting): Promise<void> {
    this.#setting = setting;
    this.#storage = await openMemoryStorage(runtime, { persistent: false });
    const tokens = [{ token, username: "bench", groups: ["system:masters"] }];
    await using server = createApiServer(runtime, { storage: this.#storage, tokens });
    await server.ready;
    const network = { ...runtime.network, httpClient: () => httpTo(server.handler) };
    await using client = new KubeClient(
      { clock: runtime.clock, network },
      { origin: "http://server", token },
    );
    for (const definition of customResourceDefinitions)
      if (!definition.metadata.name!.endsWith(".absa.oss"))
        await client.create(customResourceDefinitionType, definition);
    for (const name of [namespaceName, operatorNamespace])
      await client.create(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await client.create(secretType, {
      ...{ apiVersion: "v1", kind: "Secret" },
      metadata: { namespace: operatorNamespace, name: "peers", labels: { [dnsKeysLabel]: "tsig" } },
      stringData: { "peers.key": keyText },
    });
    await inParallel(0, setting.applications, async (index) => {
      const name = appName(index);
      await client.create(types.service, service(name));
      await client.create(types.slice, slice(name, true));
      await client.create(types.ingress, ingress(name, hostName(index)));
      if (index < setting.gslbs) await this.#makeGslb(client, index);
    });
  }

  async start(): Promise<number> {
    const { tag, tags, network, periodSeconds } = this.#setting;
    const place = placeOf(network, tag);
    const startedMs = machineMs();
    this.#registry = new Registry();
    const peers = tags.filter((other) => other !== tag);
    const endpointOf = (other: string): string => {
      const { address, port } = placeOf(network, other).dns;
      return `${other}=${address}:${port}`;
    };
    this.#cluster = await startCluster(runtime, {
      ...{ storage: this.#storage, token, registry: this.#registry },
      ...{ apiServer: place.apiServer, operator: place.operator, dns: place.dns },
      operatorEnvironment: {
        CLUSTER_GEO_TAG: tag,
        EXT_GSLB_CLUSTERS_GEO_TAGS: tags.join(","),
        DNS_ZONES: `${benchParentZone}:${benchZone}:30`,
        CLUSTER_EXPOSED_IPS: targetOf(tag),
        MERIDIAN_DNS_ADDRESSES: place.dns.address,
        MERIDIAN_PEERS: peers.map(endpointOf).join(","),
        RECONCILE_REQUEUE_SECONDS: String(periodSeconds),
      },
    });
    const { address, port } = place.apiServer;
    this.#user = new KubeClient(runtime, { origin: `http://${address}:${port}`, token });
    await this.#cluster.ready;
    return machineMs() - startedMs;
  }

  async restart(): Promise<number> {
    await this.#user?.[Symbol.asyncDispose]();
    await this.#cluster?.[Symbol.asyncDispose]();
    return this.start();
  }

  async setReady(index: number, ready: boolean): Promise<number> {
    const endpoints = [{ addresses: ["10.244.0.1"], conditions: { ready } }];
    const ref = { namespace: namespaceName, name: appName(index) };
    await this.#user!.patch(endpointSliceType, ref, { type: "merge", body: { endpoints } });
    return machineMs();
  }

  async apply(from: number, to: number): Promise<{ readonly startedMs: number; readonly endedMs: number }> {
    const startedMs = machineMs();
    await inParallel(from, to, (index) => this.#makeGslb(this.#user!, index));
    return { startedMs, endedMs: machineMs() };
  }

  async counts(): ReturnType<ClusterCommands["counts"]> {
    const { user, system } = process.cpuUsage();
    const methods = await this.#total("rest_client_requests_total");
    const writes = await this.#total(
      "rest_client_requests_total",
      ({ method }) => method !== "GET" && method !== "HEAD",
    );
    return {
      cpuMs: (user + system) / 1000,
      residentMiB: process.memoryUsage.rss() / 2 ** 20,
      dnsMessages: await this.#total("meridian_dns_queries_total"),
      tcpConnections: await this.#total("meridian_dns_tcp_connections_total"),
      apiRequests: methods,
      apiWrites: writes,
      reconciles: await this.#total(
        "controller_runtime_reconcile_total",
        ({ controller }) => controller === "gslb",
      ),
    };
  }

  async #total(
    name: string,
    isMeant: (labels: Readonly<Record<string, unknown>>) => boolean = () => true,
  ): Promise<number> {
    const { values = [] } = (await this.#registry.getSingleMetric(name)?.get()) ?? {};
    return values.reduce((sum, { labels, value }) => (isMeant(labels) ? sum + value : sum), 0);
  }

  async #makeGslb(client: KubeClient, index: number): Promise<void> {
    const strategy = { type: "failover", primaryGeoTag: this.#setting.tags[0]!, dnsTtlSeconds: 5 };
    await client.create(types.gslb, gslb(appName(index), strategy));
  }
}

async function inParallel(from: number, to: number, task: (index: number) => Promise<void>): Promise<void> {
  let next = from;
  const work = async (): Promise<void> => {
    while (next < to) await task(next++);
  };
  await Promise.all(Array.from({ length: writesAtOnce }, work));
}

serveCommands(new MeridianCluster());
