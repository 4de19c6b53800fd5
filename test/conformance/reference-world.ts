import assert from "node:assert/strict";
import { openMemoryStorage } from "@meridian/apiserver";
import { isApiError } from "@meridian/controller";
import { Authority, DnsClient, parseZoneFile, serveDns } from "@meridian/dns";
import { dnsEndpointType, gslbType } from "@meridian/gslb";
import {
  customResourceDefinitionType,
  endpointSliceType,
  eventType,
  findCondition,
  ingressType,
  serviceType,
  type Condition,
  type Event,
  type KubeObject,
  type ResourceType,
} from "@meridian/kube";
import { startCluster, type Cluster, type ClusterOptions } from "@meridian/meridian";
import { Simulation, type SimLogLine, type SimNode } from "@meridian/runtime/sim";

export const zone = "cloud.example.com";
const namespace = "default";

/** A cluster among others. */
export interface ReferencePlace {
  readonly geoTag: string;
  /** Its addresses are `10.0.<network>.*`. */
  readonly network: number;
  /** Where the others are. */
  readonly simulation: Simulation;
}

/** A kind of the Gateway API or of Istio. */
export function foreignType(group: string, version: string, kind: string): ResourceType {
  const plural = `${kind.toLowerCase()}s`;
  return { group, version, plural, kind, namespaced: true };
}

/** A Gslb's status, as far as tests look at it. */
export interface SeenStatus {
  readonly conditions?: readonly Condition[];
  readonly serviceHealth?: Readonly<Record<string, string>>;
  readonly healthyRecords?: Readonly<Record<string, readonly string[]>>;
  readonly loadBalancer?: { readonly exposedIps?: readonly string[] };
  readonly servers?: readonly { readonly services?: readonly { readonly name: string }[] }[];
}

/** A DNSEndpoint. */
export interface SeenEndpoint extends KubeObject {
  readonly spec?: {
    readonly endpoints?: readonly {
      readonly dnsName: string;
      readonly recordType: string;
      readonly targets?: readonly string[];
      readonly labels?: Readonly<Record<string, string>>;
    }[];
  };
}

/** Fields of an object but its kind and name. */
export interface ObjectFields {
  /** Default: that of all objects. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly [field: string]: unknown;
}

/**
 * One whole cluster (API server, operator, DNS server) in a simulation, with all its objects in one namespace: what stands in
 * the API goes in, what status and DNS say comes out.
 */
export class ReferenceWorld {
  readonly simulation: Simulation;
  /** Everything that was logged by a cluster that is alone. */
  readonly logged: readonly SimLogLine[];
  cluster: Cluster;
  readonly #start: () => Promise<Cluster>;
  readonly #dnsClient: DnsClient;
  readonly #edge: SimNode;
  readonly #address: string;

  private constructor(
    { simulation, geoTag, network }: ReferencePlace,
    logged: readonly SimLogLine[],
    { start, cluster }: { readonly start: () => Promise<Cluster>; readonly cluster: Cluster },
  ) {
    this.simulation = simulation;
    this.logged = logged;
    this.cluster = cluster;
    this.#start = start;
    this.#address = `10.0.${network}.1`;
    this.#edge = simulation.node({ name: `edge of ${geoTag}`, addresses: [`10.0.${network}.53`] });
    const client = simulation.node({ name: `client of ${geoTag}`, addresses: [`10.0.${network}.9`] });
    this.#dnsClient = new DnsClient(client.runtime);
  }

  /** Opens a cluster; without a place it is `eu` and alone. */
  static async open(
    settings: Readonly<Record<string, string>> = {},
    { place, ...parts }: Pick<ClusterOptions, "openFile"> & { readonly place?: ReferencePlace } = {},
  ): Promise<ReferenceWorld> {
    const logged: SimLogLine[] = [];
    const alone = (): ReferencePlace => ({
      ...{ geoTag: "eu", network: 0 },
      simulation: new Simulation({ seed: 1, onLog: (line) => logged.push(line) }),
    });
    const at = place ?? alone();
    const { simulation, geoTag } = at;
    const address = `10.0.${at.network}.1`;
    const node = simulation.node({ name: geoTag, addresses: [address] });
    const storage = await simulation.complete(openMemoryStorage(node.runtime, { persistent: true }));
    const start = (): Promise<Cluster> =>
      startCluster(node.runtime, {
        ...{ storage, ...parts },
        token: "token",
        apiServer: { address, port: 6443 },
        operator: { address, port: 6444 },
        dns: { address, port: 53 },
        operatorEnvironment: {
          CLUSTER_GEO_TAG: geoTag,
          DNS_ZONES: `example.com:${zone}:30`,
          EDGE_DNS_SERVERS: `10.0.${at.network}.53`,
          MERIDIAN_DNS_ADDRESSES: address,
          ...settings,
        },
      });
    const cluster = await simulation.complete(start());
    await simulation.complete(cluster.ready, { untilMs: simulation.nowMs + 120_000 });
    return new ReferenceWorld(at, logged, { start, cluster });
  }

  /** Stops every part and starts it again over the same storage; its zones may not answer yet. */
  async restart(): Promise<void> {
    await this.simulation.complete(this.cluster[Symbol.asyncDispose]() as Promise<void>);
    this.cluster = await this.simulation.complete(this.#start());
  }

  /** Starts the edge DNS server of the settings, which serves one zone. @returns what takes it away */
  async startEdge(zoneFile: string): Promise<() => Promise<void>> {
    const { runtime } = this.#edge;
    const authority = new Authority({ random: runtime.random });
    authority.setZone(parseZoneFile(zoneFile).zone!);
    const listen = [{ address: this.#edge.addresses[0]!, port: 53 }];
    const server = await this.simulation.complete(serveDns(runtime, { authority, listen }));
    return () => this.simulation.complete(server[Symbol.asyncDispose]() as Promise<void>);
  }

  async create(type: ResourceType, name: string, fields: ObjectFields = {}): Promise<KubeObject> {
    const { labels, annotations, namespace: inNamespace = namespace, ...rest } = fields;
    const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
    const metadata = {
      name,
      ...(type.namespaced ? { namespace: inNamespace } : {}),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    };
    const object: KubeObject = { apiVersion, kind: type.kind, metadata, ...rest };
    return this.simulation.complete(this.cluster.client.create(type, object));
  }

  /** Defines a kind, without any schema to speak of. */
  async define(type: ResourceType, versions: readonly string[] = [type.version]): Promise<void> {
    const { group, plural, kind } = type;
    const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const schema = { openAPIV3Schema: { type: "object", properties: { spec: open, status: open } } };
    await this.create(customResourceDefinitionType, `${plural}.${group}`, {
      annotations: { "api-approved.kubernetes.io": "unapproved, for a test" },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
        versions: versions.map((name, index) => ({
          ...{ name, served: true, storage: index === 0, schema },
          subresources: { status: {} },
        })),
      },
    });
    await this.settle();
  }

  async patch(type: ResourceType, name: string, body: object): Promise<void> {
    await this.simulation.complete(
      this.cluster.client.patch(type, this.#ref(type, name), { type: "merge", body }),
    );
  }

  async patchStatus(type: ResourceType, name: string, status: object): Promise<void> {
    await this.simulation.complete(
      this.cluster.client.patch(type, this.#ref(type, name), {
        type: "merge",
        subresource: "status",
        body: { status },
      }),
    );
  }

  async remove(type: ResourceType, name: string): Promise<void> {
    await this.simulation.complete(this.cluster.client.delete(type, this.#ref(type, name)));
  }

  async find<T extends KubeObject>(type: ResourceType<T>, name: string): Promise<T | undefined> {
    const found = this.cluster.client.get<T>(type, this.#ref(type, name)).catch((error: unknown) => {
      if (isApiError(error) && error.code === 404) return undefined;
      throw error;
    });
    return this.simulation.complete(found);
  }

  /** A Service, and one slice that says whether it is ready. */
  async serve(
    name: string,
    { ready = true, type = "ClusterIP" }: { readonly ready?: boolean; readonly type?: string } = {},
  ): Promise<void> {
    await this.create(serviceType, name, { spec: { type, ports: [{ name: "http", port: 80 }] } });
    await this.create(endpointSliceType, name, {
      labels: { "kubernetes.io/service-name": name },
      addressType: "IPv4",
      ...slicePart(ready),
    });
  }

  setReady(name: string, ready: boolean): Promise<void> {
    return this.patch(endpointSliceType, name, slicePart(ready));
  }

  /** An Ingress of hosts and their Services, with an address in its status. */
  async ingress(
    name: string,
    hosts: Readonly<Record<string, string>>,
    fields: ObjectFields = {},
  ): Promise<void> {
    await this.create(ingressType, name, { spec: { rules: ingressRules(hosts) }, ...fields });
    await this.patchStatus(ingressType, name, { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } });
  }

  /** A Gslb with a reference, by name or else as `ref` has it. */
  async gslb(name: string, ref: object, fields: ObjectFields = {}): Promise<void> {
    const spec = { strategy: { type: "roundRobin" }, resourceRef: ref, ...fields.spec };
    await this.create(gslbType, name, { ...fields, spec });
  }

  /** Lets everything come to rest. */
  async settle(ms = 3000): Promise<void> {
    await this.simulation.run({ untilMs: this.simulation.nowMs + ms });
  }

  /** What the DNS server says, as in `data 192.0.2.1` or `nodata`. */
  async dig(host: string, type = "A"): Promise<string> {
    const verdict = await this.simulation.complete(
      this.#dnsClient.query({
        name: host,
        type,
        servers: [{ address: this.#address, port: 53 }],
        deadlineMs: 2000,
      }),
    );
    if (verdict.state !== "answered") return verdict.state;
    return `${verdict.outcome} ${verdict.records
      .map(({ data }) => data)
      .sort()
      .join()}`.trim();
  }

  async status(name: string): Promise<SeenStatus | undefined> {
    const gslb: (KubeObject & { readonly status?: SeenStatus }) | undefined = await this.find(gslbType, name);
    return gslb?.status;
  }

  /** A condition as `status reason`. */
  async condition(name: string, type: string): Promise<string> {
    const condition = findCondition((await this.status(name))?.conditions, type);
    return `${condition?.status} ${condition?.reason}`;
  }

  async endpoint(name: string): Promise<SeenEndpoint | undefined> {
    return this.find<SeenEndpoint>(dnsEndpointType, name);
  }

  /** What was told about an object, as `kind reason: message`. */
  async events(name: string): Promise<readonly string[]> {
    const listed = await this.simulation.complete(this.cluster.client.list<Event>(eventType, { namespace }));
    return listed.items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ involvedObject, reason, message }) => `${involvedObject.kind} ${reason}: ${message}`);
  }

  async close(): Promise<void> {
    await this.simulation.complete(this.#dnsClient[Symbol.asyncDispose]());
    await this.simulation.complete(this.cluster[Symbol.asyncDispose]() as Promise<void>);
  }

  #ref(type: ResourceType, name: string): { readonly namespace?: string; readonly name: string } {
    return { ...(type.namespaced ? { namespace } : {}), name };
  }
}

/** k8gb's common check: the DNSEndpoint has one owner and the own targets before the answer, and DNS says the answer. */
export async function assertServed(world: ReferenceWorld, name: string, addresses: string): Promise<void> {
  const host = `${name}.${zone}`;
  const endpoint = await world.endpoint(name);
  assert.ok(
    endpoint !== undefined,
    `there is no DNSEndpoint ${name}: ${JSON.stringify(await world.status(name))}`,
  );
  assert.equal(endpoint.metadata.ownerReferences?.length, 1);
  assert.equal(endpoint.metadata.labels?.["k8gb.io/dnstype"], "local");
  const records = (endpoint.spec?.endpoints ?? []).map(
    ({ dnsName, recordType, targets }) => `${dnsName} ${recordType} ${targets?.join()}`,
  );
  assert.deepEqual(records, [`localtargets-${host} A ${addresses}`, `${host} A ${addresses}`]);
  assert.equal(await world.dig(host), `data ${addresses}`);
}

/** Rules of an Ingress: hosts, and the Service behind each. */
export function ingressRules(hosts: Readonly<Record<string, string>>): readonly object[] {
  return Object.entries(hosts).map(([host, name]) => ({
    host,
    http: {
      paths: [{ path: "/", pathType: "Prefix", backend: { service: { name, port: { name: "http" } } } }],
    },
  }));
}

function slicePart(ready: boolean): object {
  return {
    endpoints: [{ addresses: ["10.244.0.1"], conditions: { ready } }],
    ports: [{ name: "http", port: 8080 }],
  };
}
