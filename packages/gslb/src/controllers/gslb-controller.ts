import {
  Controller,
  type ControllerMeter,
  type EventRecorder,
  type KubeClient,
  type Lister,
} from "@meridian/controller";
import { objectKey, type Ingress } from "@meridian/kube";
import { silentTracer, traced, tracedNow, type Runtime, type Span, type Tracer } from "@meridian/runtime";
import { canonicalName, zoneOf } from "../decide/dns-name.ts";
import type { GeoKnowledge } from "../decide/geo-knowledge.ts";
import { parseGslbPolicy } from "../decide/gslb-policy.ts";
import type { ExposedOutcome, GslbSnapshot } from "../decide/gslb-snapshot.ts";
import { storedHosts } from "../decide/host-records.ts";
import { balancedHostProblem } from "../decide/local-targets-name.ts";
import { planGslb, type GslbPlan } from "../decide/plan-gslb.ts";
import type { PeerViews } from "../peers/peer-views.ts";
import type { Peers } from "../peers/peers.ts";
import type { AddressBook } from "../references/address-book.ts";
import { keepAddresses } from "../references/address-grace.ts";
import { exposedAddresses, type LookedUp } from "../references/exposed-addresses.ts";
import type { ReferenceSource } from "../references/reference-source.ts";
import { resolveReference, type ResolvedReference } from "../references/resolve-reference.ts";
import type { DnsEndpoint, DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import type { Gslb, GslbServer } from "../resources/gslb.ts";
import { isEnding } from "../resources/legacy-gslb.ts";
import type { EndpointCopies } from "../zones/booked-endpoint.ts";
import { AskedHosts } from "./asked-hosts.ts";
import type { ClusterCopies } from "./cluster-copies.ts";
import { CopyLag } from "./copy-lag.ts";
import { writeEmbeddedIngress } from "./embedded-ingress-writer.ts";
import { endpointProblem } from "./endpoint-object.ts";
import { pickNotes } from "./gslb-events.ts";
import { GslbObjects } from "./gslb-objects.ts";
import type { GslbObserver } from "./gslb-observer.ts";
import { HostClaims } from "./host-claims.ts";
import { ReferenceIndex } from "./reference-index.ts";
import { isRefusal, refusedMs } from "./refusal.ts";

/** What a Gslb is decided from, and what is written with. */
export interface GslbControllerOptions {
  readonly client: Pick<KubeClient, "get" | "create" | "update" | "updateStatus">;
  readonly copies: GslbCopies;
  readonly peers: Pick<Peers, "addHost" | "removeHost">;
  readonly views: Pick<PeerViews, "of">;
  readonly addresses: Pick<AddressBook, "reading" | "forget">;
  readonly events: Pick<EventRecorder, "record">;
  readonly meter?: ControllerMeter;
  readonly observer?: GslbObserver;
  /** Where passes are traced to. Default: nowhere. */
  readonly tracer?: Tracer;
  readonly geoTag: string;
  readonly geoTags: readonly string[];
  /** Whether clusters that are not among `geoTags` may join. */
  readonly isFleetOpen?: boolean;
  /** `CLUSTER_EXPOSED_IPS` */
  readonly exposedOverride: readonly string[];
  /** `MERIDIAN_ADDRESS_GRACE_SECONDS` */
  readonly addressGraceSeconds: number;
  /** The load-balanced zones that there are now. */
  readonly zones: () => readonly string[];
  /** Whether what is decided is written here: of several replicas only one does. Default: it is. */
  readonly isWriting?: () => boolean;
  /** What the DNS server knows of places. */
  readonly geo?: () => GeoKnowledge | undefined;
}

/** The copies that are read for a Gslb. */
export interface GslbCopies extends EndpointCopies, ReferenceSource, Pick<ClusterCopies, "backend"> {
  readonly ingresses: { readonly lister: Pick<Lister<Ingress>, "get"> };
}

/** What was last decided for a Gslb. */
export interface LatestPlan {
  readonly plan: GslbPlan;
  readonly exposed: ExposedOutcome;
  /** Wall-clock milliseconds. */
  readonly at: number;
}

type Again = { readonly requeueAfterMs?: number } | undefined;

/** Gslbs that are reconciled at once: what takes time is the API server. */
const concurrency = 8;
/**
 * A plan's cost grows with the Gslb's hosts, and so does the number of changes that ask for one: answers of peers come host
 * by host. So one of 2,000 hosts is planned about once a second, and leaves the time between to everybody else. The
 * first hosts count nothing, so that the usual Gslb follows every change at once.
 */
const restMsPerHost = 0.5;
const restFreeHosts = 20;

/**
 * Brings each Gslb's DNSEndpoint and status to what `planGslb` says. It reads copies only and waits for nothing but its
 * own writes: whatever must be asked over the network is asked elsewhere and read here as it stands.
 */
export class GslbController {
  readonly claims: HostClaims = new HostClaims();
  readonly index: ReferenceIndex = new ReferenceIndex();
  readonly controller: Controller;
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: GslbControllerOptions;
  readonly #tracer: Tracer;
  readonly #objects: GslbObjects;
  readonly #asked: AskedHosts;
  readonly #lag = new CopyLag();
  readonly #plans = new Map<string, LatestPlan>();
  /** The plan of each Gslb that was last brought about, here or by the replica that leads. */
  readonly #done = new Map<string, GslbPlan>();
  /** Until when each Gslb rests, by the clock that only rises. */
  readonly #rests = new Map<string, number>();

  constructor(runtime: Pick<Runtime, "clock" | "log">, options: GslbControllerOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#tracer = options.tracer ?? silentTracer;
    this.#objects = new GslbObjects(options);
    this.#asked = new AskedHosts(options.peers, this.claims);
    this.controller = new Controller(runtime, {
      name: "gslb",
      concurrency,
      retryMsMax: 30_000,
      ...(options.meter === undefined ? {} : { meter: options.meter }),
      reconcile: (key, signal) =>
        traced(this.#tracer.start("Reconcile", { "k8gb.gslb": key }), (span) =>
          this.#observed(key, span, signal),
        ),
    });
  }

  /** What was last decided for each Gslb that there is. */
  get plans(): ReadonlyMap<string, LatestPlan> {
    return this.#plans;
  }

  /** Asks for a reconcile of the Gslb that holds a host, and tells which that is. */
  enqueueHost(host: string): string | undefined {
    const key = this.claims.holder(host);
    if (key !== undefined) this.controller.enqueue(key);
    return key;
  }

  /** How much was reconciled, and whether anything waits to be. */
  get progress(): { readonly ended: number; readonly isDue: boolean } {
    const { succeeded, failed, running, queued } = this.controller.counts;
    return { ended: succeeded + failed, isDue: running + queued > 0 };
  }

  latest(key: string): LatestPlan | undefined {
    return this.#plans.get(key);
  }

  /** The records that were last wanted in a Gslb's DNSEndpoint: an event that shows them is our own. */
  wantedRecords(key: string): readonly DnsEndpointRecord[] | undefined {
    return this.#plans.get(key)?.plan.records;
  }

  /**
   * Takes note of what a Gslb claims and depends on, and has its peers asked. Reads only. At a start it runs over all
   * Gslbs before the first is reconciled, so that who holds a host does not depend on the order.
   */
  observe(gslb: Gslb): ResolvedReference {
    const key = objectKey(gslb.metadata);
    const resolved = resolveReference(gslb, this.#options.copies);
    const servers = serversOf(gslb, resolved);
    const hosts = servers.flatMap(({ host }) => (host === undefined || host === "" ? [] : [host]));
    this.#depend(gslb, resolved);
    const held = (gslb.status?.servers ?? []).flatMap(({ host }) => host ?? []);
    const affected = this.claims.set(key, { since: gslb.metadata.creationTimestamp ?? "", hosts, held });
    for (const other of affected) this.controller.enqueue(other);
    this.#askPeers(gslb, hosts);
    return resolved;
  }

  /** Takes note of it, and has everything followed that its reconcile will read. */
  anticipate(gslb: Gslb): void {
    const { reachedAt } = this.observe(gslb);
    const override = this.#options.exposedOverride;
    const lookUp = (): LookedUp => ({ state: "pending" });
    exposedAddresses(gslb, { reachedAt, override, lookUp, isBalanced: () => false });
  }

  async #observed(key: string, span: Span, signal: AbortSignal): Promise<Again> {
    try {
      return await this.#reconcile(key, span, signal);
    } catch (error) {
      if (!signal.aborted) this.#options.observer?.onFailure(key);
      throw error;
    }
  }

  async #reconcile(key: string, span: Span, signal: AbortSignal): Promise<Again> {
    const gslb = this.#objects.get(key);
    if (gslb === undefined) {
      this.#forget(key);
      return undefined;
    }
    const restMs = (this.#rests.get(key) ?? 0) - this.#runtime.clock.monotonicMs();
    if (restMs > 0) return { requeueAfterMs: restMs };
    const resolved = this.observe(gslb);
    this.#rest(gslb, resolved);
    // Whoever waits for a copy is woken when it is complete.
    if (resolved.outcome.kind === "pending") return undefined;
    const isWriting = this.#options.isWriting?.() ?? true;
    const refused = isWriting
      ? await writeEmbeddedIngress(gslb, resolved, { ...this.#options, log: this.#runtime.log, signal })
      : undefined;
    const stored = this.#options.copies.endpoints.lister.get(key);
    const snapshot = this.#snapshot(gslb, resolved, { stored, reference: refused ?? resolved.outcome });
    const plan = tracedNow(span.child("gslbDNSEndpoint"), () => planGslb(snapshot));
    const before = this.#plans.get(key)?.plan;
    this.#plans.set(key, { plan, exposed: snapshot.exposed, at: snapshot.now });
    this.#options.observer?.onPass(key, before, plan);
    // One that is somebody else's is looked at again when that one changes.
    const isRefused = refused?.kind === "failed" && refused.reason !== "NotOwned";
    const again = soonest(plan.afterMs, isRefused ? refusedMs : undefined);
    if (!isWriting) {
      this.#done.set(key, plan);
      return again;
    }

    // What the collector takes from a Gslb that is being deleted must not be made anew, nor what its successor will make.
    const isCollected = stored === undefined && isEnding(gslb);
    if (plan.records !== undefined && !isCollected) {
      try {
        const { records } = plan;
        if (stored === undefined) this.#runtime.log.info("Creating a new DNSEndpoint", { gslb: key });
        await traced(span.child("SaveDNSEndpoint"), () =>
          this.#objects.writeEndpoint(gslb, stored, { records, signal }),
        );
      } catch (error) {
        if (!signal.aborted) this.#runtime.log.warn("Failed to update DNSEndpoint", { gslb: key, error });
        await this.#tellRefusal(snapshot, error, signal);
        throw error;
      }
    }
    const isWritten = await this.#objects.writeStatus(gslb, plan.status, signal);
    for (const note of pickNotes(this.#done.get(key), plan)) this.#options.events.record(gslb, note);
    this.#done.set(key, plan);
    // Somebody else wrote it first.
    if (!isWritten) return this.#lag.behind(key);
    this.#lag.caughtUp(key);
    return again;
  }

  /** Everything that is known of a Gslb now. */
  #snapshot(
    gslb: Gslb,
    resolved: ResolvedReference,
    { stored, reference }: { readonly stored: DnsEndpoint | undefined } & Pick<GslbSnapshot, "reference">,
  ): GslbSnapshot {
    const key = objectKey(gslb.metadata);
    const problem = endpointProblem(stored, gslb);
    const geo = this.#options.geo?.();
    return {
      gslb,
      geoTag: this.#options.geoTag,
      geoTags: this.#options.geoTags,
      isFleetOpen: this.#options.isFleetOpen ?? false,
      reference,
      exposed: this.#exposed(gslb, resolved),
      zones: this.#options.zones(),
      otherHolder: (host) => (this.claims.holder(host) === key ? undefined : this.claims.holder(host)),
      backend: (service) => this.#options.copies.backend(service),
      views: (host) => this.#options.views.of(host),
      stored: stored === undefined ? undefined : (stored.spec?.endpoints ?? []),
      ...(problem === undefined
        ? {}
        : { endpointProblem: { reason: "DNSEndpointNotOwned", message: problem } }),
      ...(geo === undefined ? {} : { geo }),
      now: this.#runtime.clock.now(),
    };
  }

  /** From now on the Gslb is woken by changes of what was read for it. */
  #depend(gslb: Gslb, resolved: ResolvedReference): void {
    const services = serversOf(gslb, resolved).flatMap((server) => server.services ?? []);
    this.index.set(objectKey(gslb.metadata), resolved.reads, services);
  }

  #exposed(gslb: Gslb, resolved: ResolvedReference): ExposedOutcome {
    const key = objectKey(gslb.metadata);
    const { size } = resolved.reads;
    const exposed = this.#options.addresses.reading(key, (lookUp) =>
      exposedAddresses(gslb, {
        reachedAt: resolved.reachedAt,
        override: this.#options.exposedOverride,
        lookUp,
        isBalanced: (hostname) => this.claims.holder(hostname) !== undefined,
      }),
    );
    if (resolved.reads.size > size) this.#depend(gslb, resolved);
    if (resolved.outcome.kind !== "resolved") return exposed;
    return keepAddresses(exposed, {
      before: this.#plans.get(key)?.exposed,
      status: gslb.status,
      graceMs: this.#options.addressGraceSeconds * 1000,
      clock: this.#runtime.clock,
    });
  }

  /** From now on, so that one that fails on the way rests too. */
  #rest(gslb: Gslb, resolved: ResolvedReference): void {
    const restMs = Math.max(0, serversOf(gslb, resolved).length - restFreeHosts) * restMsPerHost;
    this.#rests.set(objectKey(gslb.metadata), this.#runtime.clock.monotonicMs() + restMs);
  }

  /** Where the API server will not take the DNSEndpoint, and trying again will hardly help, the Gslb's user is told. */
  async #tellRefusal(snapshot: GslbSnapshot, error: unknown, signal: AbortSignal): Promise<void> {
    if (!isRefusal(error)) return;
    const message = `the API server refuses the DNSEndpoint: ${error.status.message ?? error.message}`;
    const { status } = planGslb({ ...snapshot, endpointProblem: { reason: "WriteRefused", message } });
    await this.#objects.writeStatus(snapshot.gslb, status, signal);
  }

  /**
   * Has peers asked for the hosts that the Gslb holds in a zone, and no longer for those that it does not. One that it neither
   * can balance nor ever did is answered from what peers say, as if it named it not.
   */
  #askPeers(gslb: Gslb, hosts: readonly string[]): void {
    const key = objectKey(gslb.metadata);
    const { policy } = parseGslbPolicy(gslb);
    const zones = this.#options.zones();
    const stored =
      policy === undefined
        ? storedHosts(this.#options.copies.endpoints.lister.get(key)?.spec?.endpoints ?? [])
        : undefined;
    const held = hosts.filter((host) => {
      const zone = zoneOf(host, zones);
      const isHeld = this.claims.holder(host) === key && zone !== undefined;
      const isBalanced = stored === undefined || stored(host).answers.length > 0;
      return isHeld && isBalanced && balancedHostProblem(host, zone) === undefined;
    });
    this.#asked.set(key, new Set(held.map(canonicalName)), policy?.splitBrainThresholdSeconds ?? 0);
  }

  #forget(key: string): void {
    this.#options.observer?.onGone(key);
    for (const other of this.claims.remove(key)) this.controller.enqueue(other);
    this.#asked.remove(key);
    this.index.remove(key);
    this.#options.addresses.forget(key);
    this.#plans.delete(key);
    this.#done.delete(key);
    this.#rests.delete(key);
    this.#lag.caughtUp(key);
    this.#objects.forget(key);
  }
}

function soonest(...waitsMs: readonly (number | undefined)[]): Again {
  const given = waitsMs.filter((ms) => ms !== undefined);
  return given.length === 0 ? undefined : { requeueAfterMs: Math.min(...given) };
}

/** After a failed lookup those that were last known. */
function serversOf({ status }: Gslb, { outcome }: ResolvedReference): readonly GslbServer[] {
  return outcome.kind === "resolved" ? outcome.servers : (status?.servers ?? []);
}
