import {
  Controller,
  createOrUpdate,
  type ControllerMeter,
  type EventRecorder,
  type KubeClient,
  type Lister,
} from "@meridian/controller";
import { controllerOf, deepEqual, isNotFound, objectKey, parseObjectKey } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { canonicalName, zoneOf } from "../decide/dns-name.ts";
import { planFleetHost } from "../decide/fleet-host.ts";
import { balancedHostProblem } from "../decide/local-targets-name.ts";
import type { PublishedPolicy } from "../decide/published-host.ts";
import { textHash } from "../decide/text-hash.ts";
import type { PeerViews } from "../peers/peer-views.ts";
import type { Peers } from "../peers/peers.ts";
import type { DnsEndpoint, DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import { isGslbReference } from "../resources/owner.ts";
import { dnsEndpointType } from "../resources/resource-types.ts";
import type { ZoneDelegation } from "../resources/zone-delegation.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
import type { BookedObject } from "../zones/endpoint-book.ts";
import {
  fleetEndpoint,
  isFleetEndpoint,
  storedFleetHosts,
  withPolicy,
  type StoredFleetHost,
} from "./fleet-endpoint.ts";

/** Who is asked about hosts that others carry, and who answers them. */
export interface FleetHostsOptions {
  readonly client: Pick<KubeClient, "get" | "create" | "update" | "delete">;
  readonly namespace: string;
  readonly geoTag: string;
  readonly peers: Pick<Peers, "addHost" | "removeHost" | "sessions">;
  readonly views: Pick<PeerViews, "of">;
  readonly endpoints: Pick<Lister<DnsEndpoint>, "get" | "list">;
  /** The load-balanced zones that there are now. */
  readonly zones: () => readonly string[];
  /** The ZoneDelegation of one, to tell its user. */
  readonly zoneObject: (zone: string) => ZoneDelegation | undefined;
  readonly events: Pick<EventRecorder, "record">;
  readonly tasks: TaskScope;
  /** Whether DNSEndpoints are written here: of several replicas only one does. */
  readonly isWriting: () => boolean;
  readonly meter?: ControllerMeter;
  /** The records of a DNSEndpoint, by `read`, may be others now. */
  readonly onRecords: (key: string) => void;
}

interface FleetHost {
  readonly zone: string;
  readonly policy: PublishedPolicy | undefined;
  records: readonly DnsEndpointRecord[];
}

/** Younger than anything that a user makes: whoever else gives a name has it. */
const youngest = "9999-12-31T23:59:59Z";
const shownMax = 5;
/** Objects of a zone over which hosts are spread, so that ten thousand fit and a change writes little. */
const shards = 16;
const storeAfterMs = 2_000;
/** So long a host is answered on for a Gslb of this cluster whose DNSEndpoint does not give it. */
const handOverMsMax = 30_000;

/**
 * Answers for hosts that peers carry and this cluster does not: it is delegated to all the same, and would else deny names
 * that exist. What peers tell with their views is enough to decide as they do; the records are kept in DNSEndpoints of
 * their own, so that they are there after a start, before anybody was asked.
 *
 * As soon as a Gslb of this cluster holds such a host, the host is that one's; it is answered on until that one's DNSEndpoint
 * gives it.
 */
export class FleetHosts {
  readonly controller: Controller;
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: FleetHostsOptions;
  /** Hosts that Gslbs of this cluster hold. */
  readonly #own = new Set<string>();
  /** Those of them that are still answered here, and until when, by the clock that only rises. */
  readonly #handingOver = new Map<string, number>();
  readonly #hosts = new Map<string, FleetHost>();
  readonly #shards = new Map<string, Set<string>>();
  readonly #dirty = new Set<string>();
  readonly #touched = new Set<string>();
  readonly #told = new Map<string, string>();

  constructor(runtime: Pick<Runtime, "clock" | "log">, options: FleetHostsOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.controller = new Controller(runtime, {
      name: "fleet-hosts",
      retryMsMax: 30_000,
      ...(options.meter === undefined ? {} : { meter: options.meter }),
      reconcile: (key, signal) => this.#reconcile(key, signal),
    });
  }

  /** Has all DNSEndpoints put right. */
  enqueueAll(): void {
    for (const key of this.#shards.keys()) this.controller.enqueue(key);
  }

  /** Takes over what an earlier run stored. Call it once the Gslbs of this cluster are known. */
  load(): void {
    for (const object of this.#options.endpoints.list(this.#options.namespace)) {
      if (!isFleetEndpoint(object)) continue;
      const { zone, hosts } = storedFleetHosts(object);
      for (const [host, stored] of hosts) {
        const isOfZone = canonicalName(zoneOf(host, this.#options.zones()) ?? "") === zone;
        if (isOfZone && !this.#own.has(host) && !this.#hosts.has(host))
          this.#adopt(host, { zone, ...stored });
      }
      this.controller.enqueue(objectKey(object.metadata));
    }
  }

  /** Whether a host is answered from what peers say alone. */
  has(host: string): boolean {
    return this.#hosts.has(canonicalName(host));
  }

  /** A Gslb of this cluster holds a host: its peers are asked for it, and it is that one's. */
  addHost(host: string, thresholdSeconds: number): void {
    const name = canonicalName(host);
    const known = this.#own.has(name) ? undefined : this.#hosts.get(name);
    this.#own.add(name);
    if (known !== undefined) {
      this.#handingOver.set(name, this.#runtime.clock.monotonicMs() + handOverMsMax);
      this.controller.enqueueAfter(this.#keyOf(known.zone, name), handOverMsMax);
    }
    this.#options.peers.addHost(name, thresholdSeconds);
  }

  /** No Gslb of this cluster holds a host any more. */
  removeHost(host: string): void {
    const name = canonicalName(host);
    this.#own.delete(name);
    this.#handingOver.delete(name);
    const zone = zoneOf(name, this.#options.zones());
    const carriers = this.#sessions(zone ?? "").filter(({ copy }) => copy.carries(name));
    if (zone === undefined || carriers.length === 0) {
      this.#drop(name);
      return this.#options.peers.removeHost(name);
    }
    const policy = carriers.map(({ copy }) => copy.policy(name)).find((told) => told !== undefined);
    this.#adopt(name, { zone: canonicalName(zone), policy });
    this.touchZone(zone);
  }

  /** A peer carries other hosts of a zone than before, or balances one otherwise. Taken up in the next turn. */
  touchZone(zone: string): void {
    this.#dirty.add(canonicalName(zone));
    if (this.#dirty.size > 1) return;
    this.#options.tasks.start("hosts that peers carry", async () => {
      await Promise.resolve();
      const zones = [...this.#dirty];
      this.#dirty.clear();
      for (const each of zones) this.#follow(each);
    });
  }

  /** Zones came or went. */
  touchAll(): void {
    const zones = [...this.#hosts.values()].map(({ zone }) => zone);
    for (const zone of new Set([...zones, ...this.#options.zones()])) this.touchZone(zone);
  }

  /** A peer's view of a host is another. Planned in the next turn, once for all that peers say of it in this one. */
  touchHost(host: string): void {
    if (!this.#hosts.has(host)) return;
    this.#touched.add(host);
    if (this.#touched.size > 1) return;
    this.#options.tasks.start("hosts of which peers say something else", async () => {
      await Promise.resolve();
      const hosts = [...this.#touched];
      this.#touched.clear();
      for (const each of hosts) if (this.#hosts.has(each)) this.#plan(each);
    });
  }

  /** A DNSEndpoint is there, or was changed or deleted by somebody: ours is put right, a Gslb's takes hosts over. */
  touchEndpoint(object: DnsEndpoint): void {
    const key = objectKey(object.metadata);
    if (this.#handingOver.size > 0 && isGslbReference(controllerOf(object)))
      for (const { dnsName = "" } of object.spec?.endpoints ?? []) this.#handOver(canonicalName(dnsName));
    const isOurs = isFleetEndpoint(object) || this.#shards.has(key);
    if (isOurs && !this.#isAsWanted(key)) this.controller.enqueue(key);
  }

  /** What a DNSEndpoint of ours says now, whether it is stored already or not; `undefined` for every other. */
  read(key: string): { readonly booked: BookedObject; readonly object: DnsEndpoint } | "none" | undefined {
    const stored = this.#options.endpoints.get(key);
    if (!isFleetEndpoint(stored) && !this.#shards.has(key)) return undefined;
    const records = this.#recordsOf(key);
    if (records.length === 0) return "none";
    return {
      booked: { key, since: youngest, isOwn: false, records },
      object: stored ?? this.#desired(key, records),
    };
  }

  #follow(zone: string): void {
    const isServed = this.#options.zones().some((each) => canonicalName(each) === zone);
    const carriage = isServed ? this.#carriage(zone) : new Map<string, Carried>();
    for (const [host, known] of [...this.#hosts]) {
      if (known.zone !== zone || carriage.has(host) || this.#own.has(host)) continue;
      // Who was not heard since the start may carry it.
      if (isServed && !this.#isSettled(zone)) continue;
      this.#drop(host);
      this.#options.peers.removeHost(host);
    }
    for (const [host, { policy }] of carriage) {
      const known = this.#hosts.get(host);
      // What peers say of all the others is the same as before, and there may be thousands.
      const isSame = known?.zone === zone && deepEqual(policy ?? known.policy, known.policy);
      if (!isSame && !this.#own.has(host)) this.#adopt(host, { zone, policy });
    }
    this.#tell(zone);
  }

  /** The hosts of a zone that peers carry, each with what the first of them by geo tag says of how it is balanced. */
  #carriage(zone: string): ReadonlyMap<string, Carried> {
    const carriage = new Map<string, Carried>();
    const zones = this.#options.zones();
    for (const { copy } of this.#sessions(zone)) {
      for (const host of copy.hosts()) {
        if (carriage.get(host)?.policy !== undefined || this.#own.has(host)) continue;
        const isOfZone = canonicalName(zoneOf(host, zones) ?? "") === canonicalName(zone);
        if (!isOfZone || balancedHostProblem(host, zone) !== undefined) continue;
        carriage.set(host, { policy: copy.policy(host) });
      }
    }
    return carriage;
  }

  /** In the same order in every cluster. */
  #sessions(zone: string): ReturnType<Peers["sessions"]> {
    return [...this.#options.peers.sessions(zone)].sort((a, b) => (a.geoTag < b.geoTag ? -1 : 1));
  }

  /** Whether every peer has told which hosts it carries, or cannot tell. */
  #isSettled(zone: string): boolean {
    return this.#options.peers.sessions(zone).every((session) => session.isCarriageKnown);
  }

  #adopt(
    host: string,
    { zone, ...of }: { readonly zone: string } & Carried & Partial<StoredFleetHost>,
  ): void {
    const key = this.#keyOf(zone, host);
    const known = this.#hosts.get(host);
    const isMoved = known !== undefined && known.zone !== zone;
    if (isMoved) this.#drop(host);
    const policy = of.policy ?? known?.policy;
    this.#hosts.set(host, { zone, policy, records: known?.records ?? of.records ?? [] });
    const shard = this.#shards.get(key) ?? new Set<string>();
    this.#shards.set(key, shard.add(host));
    this.#options.peers.addHost(host, policy?.splitBrainThresholdSeconds ?? 0);
    this.#plan(host);
    if (isMoved) this.#changed(key);
  }

  #handOver(host: string): void {
    if (this.#handingOver.delete(host)) this.#drop(host);
  }

  #drop(host: string): void {
    const known = this.#hosts.get(host);
    if (known === undefined) return;
    this.#hosts.delete(host);
    const key = this.#keyOf(known.zone, host);
    this.#shards.get(key)?.delete(host);
    this.#changed(key);
  }

  #plan(host: string): void {
    const known = this.#hosts.get(host)!;
    const { records: planned, afterMs } = planFleetHost({
      ...{ host, policy: known.policy, geoTag: this.#options.geoTag, stored: known.records },
      ...{ views: this.#options.views.of(host), now: this.#runtime.clock.now() },
    });
    const records = withPolicy(planned, known.policy);
    const key = this.#keyOf(known.zone, host);
    if (afterMs !== undefined) this.controller.enqueueAfter(key, afterMs);
    if (deepEqual(records, known.records)) return;
    known.records = records;
    this.#changed(key);
  }

  #changed(key: string): void {
    this.#options.onRecords(key);
    // Answered at once, and stored a little later: in a fleet a host mostly gets its Gslb everywhere at about the same time.
    this.controller.enqueueAfter(key, storeAfterMs);
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<void> {
    const nowMs = this.#runtime.clock.monotonicMs();
    for (const host of this.#shards.get(key) ?? []) {
      const leftMs = (this.#handingOver.get(host) ?? Infinity) - nowMs;
      if (leftMs <= 0) this.#handOver(host);
      else this.#plan(host);
      if (leftMs > 0 && leftMs < Infinity) this.controller.enqueueAfter(key, leftMs);
    }
    if (this.#isAsWanted(key) || !this.#options.isWriting()) return;
    const records = this.#recordsOf(key);
    if (records.length === 0) {
      this.#shards.delete(key);
      await this.#options.client
        .delete(dnsEndpointType, parseObjectKey(key), { signal })
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
      return;
    }
    await createOrUpdate<DnsEndpoint>(this.#options.client, dnsEndpointType, {
      desired: this.#desired(key, records),
      current: this.#options.endpoints.get(key),
      signal,
    });
  }

  #isAsWanted(key: string): boolean {
    const stored = this.#options.endpoints.get(key);
    const records = this.#recordsOf(key);
    return stored === undefined ? records.length === 0 : deepEqual(stored.spec?.endpoints ?? [], records);
  }

  #recordsOf(key: string): readonly DnsEndpointRecord[] {
    return [...(this.#shards.get(key) ?? [])].sort().flatMap((host) => this.#hosts.get(host)?.records ?? []);
  }

  #desired(key: string, records: readonly DnsEndpointRecord[]): DnsEndpoint {
    const [host = ""] = this.#shards.get(key) ?? [];
    return fleetEndpoint(parseObjectKey(key), this.#hosts.get(host)?.zone ?? "", records);
  }

  #keyOf(zone: string, host: string): string {
    return `${this.#options.namespace}/meridian-fleet-${textHash(zone).toString(16)}-${textHash(host) % shards}`;
  }

  /** Tells the zone's user which hosts have no Gslb here, each time that they are others. */
  #tell(zone: string): void {
    const hosts = [...this.#hosts]
      .flatMap(([host, known]) => (known.zone === zone && !this.#own.has(host) ? [host] : []))
      .sort();
    const text = hosts.join();
    if (text === (this.#told.get(zone) ?? "")) return;
    this.#told.set(zone, text);
    const object = this.#options.zoneObject(zone);
    if (hosts.length === 0 || object === undefined) return;
    const shown = hosts.slice(0, shownMax).join(", ");
    const more = hosts.length > shownMax ? ` and ${hosts.length - shownMax} more` : "";
    const message = `no Gslb here names ${shown}${more}; they are answered from what the clusters say that carry them`;
    this.#options.events.record(object, { type: "Normal", reason: "HostsWithoutGslb", message });
  }
}

interface Carried {
  readonly policy: PublishedPolicy | undefined;
}
