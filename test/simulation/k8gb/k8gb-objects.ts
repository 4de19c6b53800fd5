import type { Application } from "../fleet/application.ts";
import { tamperedTarget, type WantedApplication } from "../fleet/cluster-user.ts";
import type { BalancedZone } from "../fleet/fleet-map.ts";
import type { MemberUser } from "../fleet/member.ts";
import type { K8gbEndpoint } from "./k8gb-endpoint.ts";

/** One address of one cluster's DNS server in the status of a ZoneDelegation. */
export interface K8gbServer {
  readonly name: string;
  readonly address: string;
}

/** Who is woken by a change of an object. */
export interface K8gbWatcher {
  onGslb(name: string): void;
}

/**
 * What the API server of a k8gb cluster holds, and the people who write it. It outlives the cluster's crashes; that an API
 * server keeps what it acknowledged is none of k8gb's business.
 */
export class K8gbObjects implements MemberUser {
  readonly #applications = new Map<string, WantedApplication>();
  readonly #endpoints = new Map<string, readonly K8gbEndpoint[]>();
  readonly #servers = new Map<string, readonly K8gbServer[]>();
  readonly zones: readonly BalancedZone[];
  /** When somebody else than the operator last changed a DNSEndpoint, by the Gslb's name. */
  readonly tamperedMs: Map<string, number> = new Map();
  watcher: K8gbWatcher | undefined;
  readonly #nowMs: () => number;
  #version = 0;

  constructor(zones: readonly BalancedZone[], nowMs: () => number) {
    this.zones = zones;
    this.#nowMs = nowMs;
  }

  readonly idle = true;

  get applications(): ReadonlyMap<string, WantedApplication> {
    return this.#applications;
  }

  /** Another number after each change of a DNSEndpoint. */
  get version(): number {
    return this.#version;
  }

  /** The entries of all DNSEndpoints. */
  *endpoints(): IterableIterator<K8gbEndpoint> {
    for (const entries of this.#endpoints.values()) yield* entries;
  }

  /** The status of a ZoneDelegation. */
  servers(zone: BalancedZone): readonly K8gbServer[] {
    return this.#servers.get(zone.name) ?? [];
  }

  setServers(zone: BalancedZone, servers: readonly K8gbServer[]): void {
    this.#servers.set(zone.name, servers);
  }

  /**
   * Takes what is wanted at once. Gslbs and EndpointSlices are watched; the status of a referenced Ingress is not, so
   * another address waits for the period.
   */
  want(wanted: WantedApplication): void {
    const { name } = wanted.application;
    const before = this.#applications.get(name);
    this.#applications.set(name, wanted);
    if (wanted.strategy === undefined) this.#remove(name);
    const isWatched =
      before?.ready !== wanted.ready || JSON.stringify(before?.strategy) !== JSON.stringify(wanted.strategy);
    if (isWatched) this.watcher?.onGslb(name);
  }

  /** Overwrites a Gslb's DNSEndpoint. @returns whether anything but the order changed */
  write(name: string, entries: readonly K8gbEndpoint[]): boolean {
    const isOther = contentOf(entries) !== contentOf(this.#endpoints.get(name) ?? []);
    this.#endpoints.set(name, entries);
    this.#version++;
    return isOther;
  }

  async tamper({ name, host }: Application, how: "delete" | "edit"): Promise<void> {
    if (!this.#endpoints.has(name)) return;
    this.tamperedMs.set(name, this.#nowMs());
    if (how === "delete") this.#remove(name);
    else this.write(name, [{ dnsName: host, recordTtlSeconds: 5, targets: [tamperedTarget], labels: {} }]);
    this.watcher?.onGslb(name);
  }

  #remove(name: string): void {
    if (this.#endpoints.delete(name)) this.#version++;
  }
}

function contentOf(entries: readonly K8gbEndpoint[]): string {
  return JSON.stringify(
    entries.map(({ targets, labels, ...rest }) => [rest, targets.toSorted(), Object.entries(labels).sort()]),
  );
}
