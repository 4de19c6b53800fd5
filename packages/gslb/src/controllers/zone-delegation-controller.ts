import {
  Controller,
  type ControllerMeter,
  type EventRecorder,
  type KubeClient,
  type Lister,
} from "@meridian/controller";
import { objectKey } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import type { OperatorConfig } from "../config/operator-config.ts";
import { refusedZone, zoneConditions, type DelegationOutcome } from "../decide/zone-conditions.ts";
import { zonePairProblem, type ZonePair } from "../decide/zone-names.ts";
import {
  delegatedAnnotation,
  delegatedPairs,
  delegatedText,
  samePair,
} from "../delegation/delegated-pairs.ts";
import type { DelegationProvider } from "../delegation/delegation-provider.ts";
import type { FleetLookup } from "../delegation/fleet-lookup.ts";
import {
  zoneDelegationFinalizer,
  type ZoneDelegation,
  type ZoneDelegationSpec,
} from "../resources/zone-delegation.ts";
import { CopyLag } from "./copy-lag.ts";
import type { FoundFleet } from "./delegated-zone.ts";
import { ParentWriter } from "./parent-writer.ts";
import type { ServedZones } from "./served-zones.ts";
import { zoneWarning } from "./zone-bootstrap.ts";
import { ZoneFleet, type ZoneFleetOptions } from "./zone-fleet.ts";
import { ZoneObjects } from "./zone-objects.ts";

/** What zones are served by, and how clusters are found. */
export interface ZoneDelegationControllerOptions extends ZoneFleetOptions {
  readonly client: Pick<KubeClient, "update" | "updateStatus">;
  readonly copies: { readonly zones: { readonly lister: Pick<Lister<ZoneDelegation>, "get" | "list"> } };
  readonly served: ServedZones;
  readonly events: Pick<EventRecorder, "record">;
  readonly meter?: ControllerMeter;
  readonly config: OperatorConfig;
  readonly fleet: ZoneFleetOptions["fleet"] & Pick<FleetLookup, "delegation">;
  /** Absent: the delegation is kept by hand. */
  readonly provider: DelegationProvider | undefined;
  /** Whether the own DNS server answers for its zones already; `enqueueAll` is called when it does. */
  readonly isAnswering: () => boolean;
}

/** When to look again. `lagging`: when the copy shows what was written. */
type Again = { readonly requeueAfterMs: number } | "lagging";

/** How soon to look again for a cluster that was not found; sooner where peers are asked more often than that. */
const retryMsMax = 15_000;
/** The TTL of negative answers, where an object that was delegated does not say it any more. */
const negativeTtlSeconds = 30;
/** How soon to look for a cluster that somebody has just named. */
const newsMs = 50;

/**
 * Brings a ZoneDelegation about: serves its zone, finds every cluster's DNS server for it, and has the provider write the
 * delegation into the parent. The found addresses stand in `status.dnsServers`, which is also where they are read from after a
 * start. When it goes, the delegation goes first.
 */
export class ZoneDelegationController {
  readonly controller: Controller;
  readonly #options: ZoneDelegationControllerOptions;
  readonly #objects: ZoneObjects;
  readonly #parent: ParentWriter;
  readonly #fleet: ZoneFleet;
  readonly #lag = new CopyLag();

  constructor(runtime: Pick<Runtime, "clock" | "log">, options: ZoneDelegationControllerOptions) {
    this.#options = options;
    this.#objects = new ZoneObjects(runtime.clock, options);
    this.#parent = new ParentWriter(runtime.clock, options);
    this.#fleet = new ZoneFleet(options);
    this.controller = new Controller(runtime, {
      name: "zone-delegation",
      concurrency: 4,
      retryMsMax: options.config.zoneRetrySeconds * 1000,
      ...(options.meter === undefined ? {} : { meter: options.meter }),
      reconcile: async (zone, signal) => {
        runtime.log.debug("Reconciling ZoneDelegation", { zone });
        const again = await this.#reconcile(zone, signal);
        runtime.log.debug("Finished Reconciling zone delegation", { zone });
        if (again === "lagging") return this.#lag.behind(zone);
        this.#lag.caughtUp(zone);
        return again;
      },
    });
  }

  /** The load-balanced zones, as the objects spell them. */
  get zones(): readonly string[] {
    return this.#options.served.zones;
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
      this.#serveDelegated(zone);
      return problem;
    }
    const entries = zone.status?.dnsServers ?? [];
    const leaving = this.#parent.isWithdrawing(zone) ? this.#parent.left(zone) : [];
    const isNew = this.#options.served.set(name, zone.spec, { leaving, entries });
    if (!isNew) return undefined;
    this.#fleet.resume(zone.spec, entries);
    this.#enqueueUnserved();
    return undefined;
  }

  /** What an object named before it was made invalid is answered as before, over restarts too: it is still delegated. */
  #serveDelegated(zone: ZoneDelegation): void {
    const { served } = this.#options;
    const { name = "" } = zone.metadata;
    const isFree = (pair: ZonePair): boolean =>
      this.#namesProblem(pair) === undefined && served.holder(pair.loadBalancedZone) === undefined;
    const pairs = served.has(name) ? [] : this.#parent.left(zone).filter(isFree);
    const last = pairs.at(-1);
    if (last === undefined) return;
    const entries = zone.status?.dnsServers ?? [];
    const dnsZoneNegTTL = zone.spec?.dnsZoneNegTTL ?? negativeTtlSeconds;
    served.set(name, { ...last, dnsZoneNegTTL }, { leaving: pairs, entries });
    served.setMembers(last.loadBalancedZone, { withOwn: true });
    this.#fleet.resume(last, entries);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<Again | undefined> {
    const zone = this.#options.copies.zones.lister.get(name);
    if (zone === undefined) {
      // One that the settings name is made again, and its delegation stands unless it was withdrawn.
      if (!this.#isConfigured(name)) this.#stopServing(name);
      this.#objects.forget(name);
      return undefined;
    }
    if (zone.metadata.deletionTimestamp !== undefined) return this.#finalize(zone, signal);
    const problem = this.observe(zone);
    if (problem !== undefined || zone.spec === undefined) {
      const hasFinalizer = this.#options.served.has(name) || delegatedPairs(zone).length > 0;
      if (await this.#objects.writeMetadata(zone, { hasFinalizer }, signal)) return "lagging";
      const dnsServers = zone.status?.dnsServers ?? [];
      const status = { dnsServers, conditions: refusedZone(problem ?? "") };
      return (await this.#objects.writeStatus(zone, status, signal)) ? undefined : "lagging";
    }
    return this.#bringAbout(zone, zone.spec, signal);
  }

  async #bringAbout(
    zone: ZoneDelegation,
    spec: ZoneDelegationSpec,
    signal: AbortSignal,
  ): Promise<Again | undefined> {
    const before = delegatedPairs(zone);
    // What is delegated is noted before it is, so that it is known also to a process that finds the object changed.
    const isNoted = this.#options.provider !== undefined;
    const pairs = isNoted ? [...before.filter((pair) => !samePair(pair, spec)), spec] : before;
    if (await this.#objects.writeMetadata(zone, notedAs(pairs), signal)) return "lagging";

    const found = await this.#fleet.find(spec, zone.status?.dnsServers ?? [], signal);
    this.#options.served.setMembers(spec.loadBalancedZone, { withOwn: true });
    const [heard, delegation] = await Promise.all([
      this.#fleet.hear(spec, found.entries, signal),
      // Nobody is to be sent here before there is an answer.
      this.#options.isAnswering() ? this.#parent.ensure(spec, found, signal) : undefined,
    ]);
    if (delegation === undefined) return heard.hasNews ? { requeueAfterMs: newsMs } : undefined;
    const left = await this.#leave(zone, found, signal);
    const { unknown, silent, hasNews, knowsUs } = heard;
    const peerCount = this.#options.members.of(spec.loadBalancedZone).length;
    const status = {
      dnsServers: found.entries,
      conditions: zoneConditions({
        ...{ delegation, unknown, silent, peerCount },
        warning: zoneWarning(zone, this.#options.config.zones),
      }),
    };
    if (!(await this.#objects.writeStatus(zone, status, signal)) || left === "changed") return "lagging";
    const isIncomplete =
      [...found.lookups.values()].some((lookup) => "failed" in lookup) ||
      unknown.length + silent.length > 0 ||
      found.lookups.size > peerCount ||
      delegation.kind === "failed" ||
      delegation.kind === "ownAddressUnknown" ||
      !knowsUs;
    return this.#again({ isIncomplete, hasNews, leftMs: left });
  }

  /** Takes the own server out of the parent, then lets the zone and its object go. */
  async #finalize(zone: ZoneDelegation, signal: AbortSignal): Promise<Again | undefined> {
    const { spec } = zone;
    const isHeldByOthers = !(zone.metadata.finalizers ?? []).includes(zoneDelegationFinalizer);
    if (isHeldByOthers) {
      if (this.#parent.isWithdrawing(zone)) this.#stopServing(zone.metadata.name ?? "");
      return undefined;
    }
    if (!this.#parent.isWithdrawing(zone) || spec === undefined) {
      // The parent is left as it is, so the zone is answered until its object is gone.
      return (await this.#objects.writeMetadata(zone, { hasFinalizer: false }, signal))
        ? "lagging"
        : undefined;
    }
    const problem = this.observe(zone);
    // What an invalid object names now was never delegated.
    const pairs = problem === undefined ? this.#parent.all(zone) : this.#parent.left(zone);
    const pair = pairs.at(-1);
    if (pair === undefined) return this.#letGo(zone, signal);
    const found = await this.#fleet.find(pair, zone.status?.dnsServers ?? [], signal);
    this.#options.served.setMembers(pair.loadBalancedZone, { withOwn: false });
    const waiting = await this.#parent.withdraw(zone, pairs, { found, signal });
    if (waiting.length === 0) return this.#letGo(zone, signal);
    const message = waiting.map((each) => each.message).join("; ");
    const peerCount = this.#options.members.of(pair.loadBalancedZone).length;
    const delegation: DelegationOutcome = { kind: "withdrawing", message };
    const status = {
      dnsServers: found.entries,
      conditions: zoneConditions({ delegation, unknown: [], silent: [], peerCount }),
    };
    if (!(await this.#objects.writeStatus(zone, status, signal))) return "lagging";
    return { requeueAfterMs: Math.min(...waiting.map(({ afterMs }) => afterMs)) };
  }

  /** Nothing of it is delegated any more. */
  async #letGo(zone: ZoneDelegation, signal: AbortSignal): Promise<Again | undefined> {
    this.#stopServing(zone.metadata.name ?? "");
    const metadata = { ...notedAs([]), hasFinalizer: false };
    return (await this.#objects.writeMetadata(zone, metadata, signal)) ? "lagging" : undefined;
  }

  /** Withdraws what was delegated under names that the object had before. @returns how long until the next look */
  async #leave(
    zone: ZoneDelegation,
    found: FoundFleet,
    signal: AbortSignal,
  ): Promise<number | "changed" | undefined> {
    const left = this.#parent.left(zone);
    if (left.length === 0) return undefined;
    const waiting = await this.#parent.withdraw(zone, left, { found, signal });
    if (waiting.length === left.length) return Math.min(...waiting.map(({ afterMs }) => afterMs));
    const pairs = waiting.map(({ pair }) => pair);
    const noted = notedAs(zone.spec === undefined ? pairs : [...pairs, zone.spec]);
    await this.#objects.writeMetadata(zone, noted, signal);
    return "changed";
  }

  #again(of: {
    readonly isIncomplete: boolean;
    readonly hasNews: boolean;
    readonly leftMs: number | undefined;
  }): Again | undefined {
    const { zonePeriodSeconds, periodSeconds, zoneRetrySeconds } = this.#options.config;
    const bounds = [zoneRetrySeconds, ...(periodSeconds === 0 ? [] : [periodSeconds])];
    const retryMs = Math.min(retryMsMax, ...bounds.map((seconds) => seconds * 1000));
    const waits = [
      ...(of.hasNews ? [newsMs] : []),
      ...(of.isIncomplete ? [retryMs] : []),
      ...(of.leftMs === undefined ? [] : [of.leftMs]),
      ...(zonePeriodSeconds === 0 ? [] : [zonePeriodSeconds * 1000]),
    ];
    return waits.length === 0 ? undefined : { requeueAfterMs: Math.min(...waits) };
  }

  #problemOf(zone: ZoneDelegation): string | undefined {
    const { served } = this.#options;
    if (zone.spec === undefined) return "spec is missing; set loadBalancedZone, parentZone and dnsZoneNegTTL";
    const problem = this.#namesProblem(zone.spec);
    if (problem !== undefined) return problem;
    const holder = served.holder(zone.spec.loadBalancedZone);
    const isHolderGone = holder !== undefined && this.#options.copies.zones.lister.get(holder) === undefined;
    if (isHolderGone) this.#stopServing(holder);
    const other = isHolderGone ? undefined : holder;
    if (other !== undefined && other !== zone.metadata.name)
      return `zone ${zone.spec.loadBalancedZone} is served already, by ZoneDelegation ${other}; delete one of the two`;
    return undefined;
  }

  #namesProblem(pair: ZonePair): string | undefined {
    const { geoTag, peerGeoTags, nameServerPrefix: prefix } = this.#options.config;
    return zonePairProblem(pair, { geoTags: [geoTag, ...peerGeoTags], prefix });
  }

  #isConfigured(name: string): boolean {
    const zones = this.#options.config.zones.map(({ loadBalancedZone }) => loadBalancedZone);
    return zones.some((zone) => this.#options.served.holder(zone) === name);
  }

  #stopServing(name: string): void {
    if (this.#options.served.remove(name)) this.#enqueueUnserved();
  }

  /** One that was refused for another's sake may be served now. */
  #enqueueUnserved(): void {
    for (const { metadata } of this.#options.copies.zones.lister.list())
      if (metadata.name !== undefined && !this.#options.served.has(metadata.name))
        this.controller.enqueue(metadata.name);
  }
}

function notedAs(pairs: readonly ZonePair[]): {
  readonly hasFinalizer: true;
  readonly annotation: readonly [string, string | undefined];
} {
  return { hasFinalizer: true, annotation: [delegatedAnnotation, delegatedText(pairs)] };
}
