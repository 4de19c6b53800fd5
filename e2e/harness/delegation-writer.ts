import type { ClusterProcess } from "./cluster-process.ts";
import type { DynamicParent } from "./dynamic-parent.ts";

interface Endpoint {
  readonly dnsName: string;
  readonly recordType: string;
  readonly recordTTL: number;
  readonly targets: readonly string[];
}

interface EndpointList {
  readonly items: readonly { readonly spec: { readonly endpoints?: readonly Endpoint[] } }[];
}

/**
 * Does to a parent zone what the external-dns of every cluster does with policy `sync`: writes what the cluster's DNSEndpoints
 * say, where no other cluster's has written that name, and deletes what it wrote and is not told any more. A round is made
 * when it is asked for, so a test knows when the parent has seen what.
 */
export class DelegationWriter {
  readonly #parent: DynamicParent;
  readonly #key: string;
  /** Which cluster's wrote each name and type, and what. */
  readonly #owners = new Map<string, { readonly owner: string; readonly text: string }>();

  constructor(parent: DynamicParent, key: string) {
    this.#parent = parent;
    this.#key = key;
  }

  /** One round for each of the clusters, in this order. */
  async round(clusters: Iterable<ClusterProcess>): Promise<void> {
    for (const cluster of clusters) {
      const wanted = await this.#wanted(cluster);
      const lines: string[] = [];
      for (const [key, { owner }] of this.#owners) {
        if (owner !== cluster.name || wanted.has(key)) continue;
        this.#owners.delete(key);
        lines.push(`update delete ${key}`);
      }
      for (const [key, endpoint] of wanted) {
        const text = JSON.stringify(endpoint);
        const present = this.#owners.get(key);
        if (present !== undefined && (present.owner !== cluster.name || present.text === text)) continue;
        this.#owners.set(key, { owner: cluster.name, text });
        lines.push(`update delete ${key}`);
        for (const target of endpoint.targets) {
          const data = endpoint.recordType === "NS" ? `${target}.` : target;
          lines.push(`update add ${endpoint.dnsName}. ${endpoint.recordTTL} ${endpoint.recordType} ${data}`);
        }
      }
      if (lines.length === 0) continue;
      const { code, stderr } = await this.#parent.update(this.#key, lines);
      if (code !== 0) throw new Error(`nsupdate: ${stderr}`);
    }
  }

  async #wanted(cluster: ClusterProcess): Promise<ReadonlyMap<string, Endpoint>> {
    const { items } = await cluster.get<EndpointList>(
      ...["dnsendpoints.externaldns.k8s.io", "-A", "-l", "k8gb.io/dnstype=extdns"],
    );
    const endpoints = items.flatMap(({ spec }) => spec.endpoints ?? []);
    return new Map(endpoints.map((endpoint) => [`${endpoint.dnsName}. ${endpoint.recordType}`, endpoint]));
  }
}
