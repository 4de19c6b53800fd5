import {
  Controller,
  type ControllerMeter,
  type EventRecorder,
  type KubeClient,
  type Lister,
} from "@meridian/controller";
import type { DnsClient } from "@meridian/dns";
import { deepEqual, isConflict, isNotFound, objectKey, type Condition } from "@meridian/kube";
import type { Endpoint, Runtime } from "@meridian/runtime";
import type { OperatorConfig } from "../config/operator-config.ts";
import { withConditions, type ConditionOutcome } from "../decide/gslb-conditions.ts";
import { nameServerName, zonePairProblem } from "../decide/zone-names.ts";
import {
  addressesOf,
  dnsServerEntries,
  sameEntries,
  type ServerLookup,
} from "../delegation/dns-server-entries.ts";
import type { OwnAddresses } from "../delegation/own-dns-addresses.ts";
import { peerServers } from "../peers/peer-servers.ts";
import type { Peers } from "../peers/peers.ts";
import { lookUpAddresses } from "../references/address-book.ts";
import { zoneDelegationType } from "../resources/resource-types.ts";
import {
  zoneDelegationFinalizer,
  type DnsServerEntry,
  type ZoneDelegation,
  type ZoneDelegationSpec,
  type ZoneDelegationStatus,
} from "../resources/zone-delegation.ts";
import type { ZoneFeeder } from "../zones/zone-feeder.ts";

/** What zones are served by, and how clusters are found. */
export interface ZoneDelegationControllerOptions {
  readonly client: Pick<KubeClient, "update" | "updateStatus">;
  readonly copies: { readonly zones: { readonly lister: Pick<Lister<ZoneDelegation>, "get" | "list"> } };
  readonly peers: Pick<Peers, "addZone" | "removeZone" | "setServers">;
  readonly feeder: Pick<ZoneFeeder, "setZone" | "removeZone">;
  readonly dnsClient: Pick<DnsClient, "query">;
  readonly events: Pick<EventRecorder, "record">;
  readonly meter?: ControllerMeter;
  readonly config: OperatorConfig;
  readonly edgeServers: readonly Endpoint[];
  readonly ownAddresses: () => OwnAddresses;
  /** The set of zones is another now. */
  readonly onZonesChanged: () => void;
}

/** How soon to look again for a cluster that was not found; sooner where peers are asked more often than that. */
const retryMsMax = 15_000;
/** How soon to look again when the copy lags behind a write. */
const overtakenMs = 50;

/**
 * Serves the zones that ZoneDelegations name, and finds every cluster's DNS server for each. The found addresses stand in
 * `status.dnsServers`, which is also where they are read from after a start.
 */
export class ZoneDelegationController {
  readonly controller: Controller;
  readonly #runtime: Pick<Runtime, "clock">;
  readonly #options: ZoneDelegationControllerOptions;
  /** The zones served, by the name of their ZoneDelegation. */
  readonly #served = new Map<string, ZoneDelegationSpec>();

  constructor(runtime: Pick<Runtime, "clock" | "log">, options: ZoneDelegationControllerOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.controller = new Controller(runtime, {
      name: "zone-delegation",
      concurrency: 4,
      retryMsMax: 30_000,
      ...(options.meter === undefined ? {} : { meter: options.meter }),
      reconcile: (key, signal) => this.#reconcile(key, signal),
    });
  }

  /** The load-balanced zones, as the objects spell them. */
  get zones(): readonly string[] {
    return [...this.#served.values()].map((spec) => spec.loadBalancedZone);
  }

  /** Asks for a reconcile of every ZoneDelegation that there is. */
  enqueueAll(): void {
    for (const zone of this.#options.copies.zones.lister.list())
      this.controller.enqueue(objectKey(zone.metadata));
  }

  /**
   * Serves what a ZoneDelegation names, and asks peers where it last found them. Writes nothing and asks nobody where they
   * are. @returns the problem that keeps it from being served
   */
  observe(zone: ZoneDelegation): string | undefined {
    const name = zone.metadata.name ?? "";
    const problem = this.#problemOf(zone);
    if (problem !== undefined || zone.spec === undefined) {
      this.#withdraw(name);
      return problem;
    }
    const present = this.#served.get(name);
    const isMoved =
      present !== undefined &&
      (present.loadBalancedZone !== zone.spec.loadBalancedZone ||
        present.parentZone !== zone.spec.parentZone);
    if (isMoved) this.#withdraw(name);
    this.#served.set(name, zone.spec);
    const { loadBalancedZone, parentZone, dnsZoneNegTTL } = zone.spec;
    this.#options.feeder.setZone({ loadBalancedZone, parentZone, negativeTtlSeconds: dnsZoneNegTTL });
    this.#options.peers.addZone(zone.spec);
    if (present === undefined || isMoved) {
      for (const geoTag of this.#options.config.peerGeoTags) {
        const servers = this.#serversOf(zone.spec, geoTag, zone.status?.dnsServers ?? []);
        if (servers.length > 0) this.#options.peers.setServers(loadBalancedZone, geoTag, servers);
      }
      this.#options.onZonesChanged();
    }
    return undefined;
  }

  async #reconcile(
    name: string,
    signal: AbortSignal,
  ): Promise<{ readonly requeueAfterMs?: number } | undefined> {
    const zone = this.#options.copies.zones.lister.get(name);
    if (zone === undefined) {
      this.#withdraw(name);
      return undefined;
    }
    // Nothing was written into a parent zone, so there is nothing to withdraw first; the zone is answered until it is gone.
    if (zone.metadata.deletionTimestamp !== undefined) {
      await this.#setFinalizer(zone, false, signal);
      return undefined;
    }
    const problem = this.observe(zone);
    if (await this.#setFinalizer(zone, true, signal)) return { requeueAfterMs: overtakenMs };
    if (problem !== undefined || zone.spec === undefined) {
      await this.#writeStatus(zone, { dnsServers: zone.status?.dnsServers ?? [] }, [
        refused(problem ?? ""),
        signal,
      ]);
      return undefined;
    }

    const spec = zone.spec;
    const own = this.#options.ownAddresses();
    const { peerGeoTags } = this.#options.config;
    const found = await Promise.all(peerGeoTags.map((geoTag) => this.#peerLookup(spec, geoTag, signal)));
    const lookups = [this.#ownLookup(spec, own), ...found];
    const entries = dnsServerEntries(lookups, zone.status?.dnsServers ?? []);
    for (const geoTag of peerGeoTags)
      this.#options.peers.setServers(spec.loadBalancedZone, geoTag, this.#serversOf(spec, geoTag, entries));

    const unknown = this.#unknownServers(spec, entries);
    const isWritten = await this.#writeStatus(zone, { dnsServers: entries }, [
      accepted(own, unknown),
      signal,
    ]);
    const isIncomplete = lookups.some((lookup) => "failed" in lookup) || unknown.length > 0;
    const { zonePeriodSeconds, periodSeconds } = this.#options.config;
    const retryMs = periodSeconds === 0 ? retryMsMax : Math.min(retryMsMax, periodSeconds * 1000);
    if (!isWritten) return { requeueAfterMs: overtakenMs };
    if (isIncomplete) return { requeueAfterMs: retryMs };
    return zonePeriodSeconds === 0 ? undefined : { requeueAfterMs: zonePeriodSeconds * 1000 };
  }

  #problemOf(zone: ZoneDelegation): string | undefined {
    const { geoTag, peerGeoTags, nameServerPrefix } = this.#options.config;
    if (zone.spec === undefined) return "spec is missing; set loadBalancedZone, parentZone and dnsZoneNegTTL";
    const geoTags = [geoTag, ...peerGeoTags];
    const problem = zonePairProblem(zone.spec, { geoTags, prefix: nameServerPrefix });
    if (problem !== undefined) return problem;
    const ownName = nameServerName(zone.spec, geoTag, nameServerPrefix);
    for (const [name, spec] of this.#served) {
      if (name === zone.metadata.name) continue;
      if (spec.loadBalancedZone.toLowerCase() === zone.spec.loadBalancedZone.toLowerCase())
        return `zone ${spec.loadBalancedZone} is served already, by ZoneDelegation ${name}; delete one of the two`;
      if (nameServerName(spec, geoTag, nameServerPrefix) === ownName)
        return `its name server would be called ${ownName}, as that of zone ${spec.loadBalancedZone} is; rename one of the zones`;
    }
    return undefined;
  }

  #withdraw(name: string): void {
    const spec = this.#served.get(name);
    if (spec === undefined) return;
    this.#served.delete(name);
    this.#options.feeder.removeZone(spec.loadBalancedZone);
    this.#options.peers.removeZone(spec.loadBalancedZone);
    this.#options.onZonesChanged();
    // One that was refused for this zone's sake may be served now.
    for (const { metadata } of this.#options.copies.zones.lister.list())
      if (metadata.name !== undefined && !this.#served.has(metadata.name))
        this.controller.enqueue(metadata.name);
  }

  #ownLookup(spec: ZoneDelegationSpec, own: OwnAddresses): ServerLookup {
    const { geoTag, nameServerPrefix } = this.#options.config;
    const name = nameServerName(spec, geoTag, nameServerPrefix);
    return own.problem === undefined ? { name, addresses: own.addresses } : { name, failed: true };
  }

  async #peerLookup(spec: ZoneDelegationSpec, geoTag: string, signal: AbortSignal): Promise<ServerLookup> {
    const { config, dnsClient, edgeServers } = this.#options;
    const name = nameServerName(spec, geoTag, config.nameServerPrefix);
    const configured = config.peers.get(geoTag);
    if (configured !== undefined)
      return { name, addresses: [...new Set(configured.map(({ address }) => address))] };
    const found = await lookUpAddresses(name, {
      dnsClient,
      servers: edgeServers,
      deadlineMs: config.peerDeadlineMs,
      signal,
    });
    return found.state === "known" ? { name, addresses: found.targets.A } : { name, failed: true };
  }

  #serversOf(
    spec: ZoneDelegationSpec,
    geoTag: string,
    entries: readonly DnsServerEntry[],
  ): readonly Endpoint[] {
    const { config } = this.#options;
    const configured = config.peers.get(geoTag);
    if (configured !== undefined) return configured;
    const name = nameServerName(spec, geoTag, config.nameServerPrefix);
    return peerServers(
      addressesOf(name, entries),
      config.edgeDnsServers.map(({ port }) => port),
    );
  }

  #unknownServers(spec: ZoneDelegationSpec, entries: readonly DnsServerEntry[]): readonly string[] {
    const { peerGeoTags, nameServerPrefix } = this.#options.config;
    const names = peerGeoTags.map((geoTag) => nameServerName(spec, geoTag, nameServerPrefix));
    return names.filter((name) => addressesOf(name, entries).length === 0);
  }

  /** @returns whether something was written */
  async #setFinalizer(zone: ZoneDelegation, isWanted: boolean, signal: AbortSignal): Promise<boolean> {
    const finalizers = zone.metadata.finalizers ?? [];
    if (finalizers.includes(zoneDelegationFinalizer) === isWanted) return false;
    const others = finalizers.filter((finalizer) => finalizer !== zoneDelegationFinalizer);
    const metadata = {
      ...zone.metadata,
      finalizers: isWanted ? [...others, zoneDelegationFinalizer] : others,
    };
    try {
      await this.#options.client.update<ZoneDelegation>(
        zoneDelegationType,
        { ...zone, metadata },
        { signal },
      );
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    }
    return true;
  }

  /** @returns false where somebody else wrote first, so that it must be read again */
  async #writeStatus(
    zone: ZoneDelegation,
    found: { readonly dnsServers: readonly DnsServerEntry[] },
    [outcome, signal]: readonly [ConditionOutcome, AbortSignal],
  ): Promise<boolean> {
    const { generation } = zone.metadata;
    const before = zone.status;
    const conditions: readonly Condition[] = withConditions(before?.conditions, [outcome], {
      generation,
      now: this.#runtime.clock.now(),
    });
    const entries = sameEntries(before?.dnsServers ?? [], found.dnsServers)
      ? (before?.dnsServers ?? [])
      : found.dnsServers;
    const status: ZoneDelegationStatus = {
      dnsServers: entries,
      conditions,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    };
    if (deepEqual(before, status)) return true;
    try {
      await this.#options.client.updateStatus<ZoneDelegation>(
        zoneDelegationType,
        { ...zone, status },
        { signal },
      );
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      return false;
    }
    const isNews = conditions !== before?.conditions && outcome.status === "False";
    if (isNews)
      this.#options.events.record(zone, {
        type: "Warning",
        reason: outcome.reason,
        message: outcome.message,
      });
    return true;
  }
}

function refused(message: string): ConditionOutcome {
  return { type: "Accepted", status: "False", reason: "InvalidZone", message };
}

function accepted(own: OwnAddresses, unknown: readonly string[]): ConditionOutcome {
  const parts = [
    ...(own.problem === undefined ? [] : [own.problem]),
    ...(unknown.length === 0 ? [] : [`no address is known of ${unknown.join(", ")}`]),
  ];
  const reason = parts.length === 0 ? "Accepted" : "ServersUnknown";
  return {
    type: "Accepted",
    status: "True",
    reason,
    message: parts.length === 0 ? "the zone is served and every cluster's server is known" : parts.join("; "),
  };
}

function isOvertaken(error: unknown): boolean {
  return isConflict(error) || isNotFound(error);
}
