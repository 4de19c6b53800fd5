import {
  EventRecorder,
  type ControllerMeter,
  type KubeClient,
  type SourceInformer,
} from "@meridian/controller";
import type { Authority, DnsClient, GeoStatus, WatchedFile, ZoneTransferClient } from "@meridian/dns";
import { deepEqual, objectKey } from "@meridian/kube";
import { whileWaiting } from "@meridian/runtime";
import type { Runtime, Tracer } from "@meridian/runtime";
import type { OperatorConfig } from "./config/operator-config.ts";
import { AnnotatedIngressController } from "./controllers/annotated-ingress-controller.ts";
import { ClusterCopies } from "./controllers/cluster-copies.ts";
import { watchCluster } from "./controllers/cluster-triggers.ts";
import { GslbController } from "./controllers/gslb-controller.ts";
import { observeAll } from "./controllers/observe-all.ts";
import { ensureNamespace } from "./controllers/own-namespace.ts";
import { applyConfiguredZones } from "./controllers/zone-bootstrap.ts";
import type { Explanation } from "./decide/explanation.ts";
import { assembleDelegating, ownAddressKey, type Delegating } from "./delegating.ts";
import { EdgeServers, type ResolveHost } from "./delegation/edge-servers.ts";
import { ZoneMembers } from "./delegation/zone-members.ts";
import { explain, type ExplainFacts } from "./explain/explain.ts";
import { wildcardOver } from "./explain/wildcard-over.ts";
import { assembleLegacy, type Legacy } from "./legacy.ts";
import { StoredPeerMemory } from "./peers/peer-memory.ts";
import { PeerViews } from "./peers/peer-views.ts";
import { Peers } from "./peers/peers.ts";
import { AddressBook } from "./references/address-book.ts";
import type { BalancerReadings } from "./metrics/balancer-readings.ts";
import { Observing } from "./observing.ts";
import { assembleReplica, type Replica } from "./replica.ts";
import type { Gslb } from "./resources/gslb.ts";
import { TaskScope } from "./tasks/task-scope.ts";
import { readBooked } from "./zones/booked-endpoint.ts";
import type { DnsKeys } from "./zones/dns-secrets.ts";
import { GeoFeeder } from "./zones/geo-feeder.ts";
import { KeyExchanges } from "./zones/key-exchanges.ts";
import { KeyFeeder } from "./zones/key-feeder.ts";
import { KeyMemory } from "./zones/key-memory.ts";
import { SerialStore } from "./zones/serial-store.ts";
import { SignedZones, type SignedZonesOptions } from "./zones/signed-zones.ts";
import { ZoneFeeder } from "./zones/zone-feeder.ts";

export interface OperatorOptions {
  /** The API server of the own cluster. */
  readonly client: KubeClient;
  readonly config: OperatorConfig;
  /** The own DNS server's zones; the operator adds, feeds and removes them, and takes over its `onNotify`. */
  readonly authority: Authority;
  /** Asks peers and edge servers; must leave from the cluster's own address. */
  readonly dnsClient: DnsClient;
  /** Fetches the views of peers that share the fleet's key. Absent: peers are asked host by host. */
  readonly transfers?: Pick<ZoneTransferClient, "fetchZone">;
  /** Signs zones for which there are keys in Secrets. Absent: nothing is signed. */
  readonly signing?: SignedZonesOptions;
  /** Called with the TSIG keys and cookie secrets in Secrets whenever they change: for a keyring and the authority. */
  readonly onKeys?: (keys: Pick<DnsKeys, "tsig" | "cookies">) => void;
  /** Where the controllers report to, for metrics. */
  readonly meter?: ControllerMeter;
  /** Where passes are traced to. Default: nowhere. */
  readonly tracer?: Tracer;
  /** Finds edge servers that are given by name. Absent, as in the simulator: those are left out. */
  readonly resolveHost?: ResolveHost;
  /** Opens the files that the settings name. Absent: there are none, as in the simulator. */
  readonly openFile?: (path: string) => WatchedFile;
}

/** A running operator. */
export interface Operator {
  /**
   * Resolves when every copy is complete, each Gslb was looked at once and the zones answer. Rejects when the operator is
   * stopped before that.
   */
  readonly ready: Promise<void>;
  /** How this cluster answers for a host now, and why. Asks nobody. */
  explain(host: string): Explanation;
  /** The copies of what is in the cluster, for metrics. */
  readonly copies: readonly SourceInformer[];
  /** What can be read of it at any time, for metrics. */
  readonly readings: BalancerReadings;
  /** What answers of `geoip` hosts go by, for metrics: the age of the database above all. */
  geo(): GeoStatus;
  /** Why it does not do its work, and is to be started again; `undefined` while it does. */
  readonly problem: string | undefined;
  /** Stops all loops; resolves when none is left. What was published stays. */
  stop(): Promise<void>;
}

/** How long the zones wait for the first round of reconciles, so that nothing known dead is answered after a start. */
const firstRoundMs = 15_000;
/** How long peers wait for the keys in Secrets, which not every operator may read. */
const firstKeysMs = 1_000;
/** After so long a configured ZoneDelegation that was deleted is made again; its zone is answered meanwhile. */
const restoreAfterMs = 1_000;
/** How often peers are asked where the periodic reconcile is turned off. */
const periodSecondsDefault = 30;

/**
 * Starts the balancer of one cluster: everything between its API server and its DNS server. Returns at once; the work goes
 * on until `stop`.
 *
 *     const operator = startOperator(runtime, { client, config, authority, dnsClient });
 *     await operator.ready;
 *     operator.explain("app.cloud.example.com").decision?.picked; // ["eu"]
 *     await operator.stop();
 */
export function startOperator(runtime: Runtime, options: OperatorOptions): Operator {
  const tasks = new TaskScope(runtime.log);
  const parts = assemble(runtime, options, tasks);
  const ready = start(runtime, parts, options);
  ready.catch((error: unknown) => {
    if (!tasks.signal.aborted) runtime.log.error("the operator cannot start", { error });
  });
  return {
    ready,
    explain: (host) => explainHost(parts, { host, geoTag: options.config.geoTag, now: runtime.clock.now() }),
    copies: parts.copies.all,
    readings: parts.observing.readings({ ...parts, config: options.config, zones: () => parts.zones.zones }),
    geo: () => parts.geo.status,
    get problem() {
      return parts.replica.lease.problem;
    },
    async stop() {
      options.authority.onNotify = undefined;
      await tasks.close(new Error("the operator was stopped"));
      await ready.catch(() => {});
    },
  };
}

interface Parts {
  readonly tasks: TaskScope;
  readonly copies: ClusterCopies;
  readonly memory: StoredPeerMemory;
  readonly views: PeerViews;
  readonly peers: Peers;
  readonly events: EventRecorder;
  readonly feeder: ZoneFeeder;
  readonly geo: GeoFeeder;
  readonly keys: KeyFeeder;
  readonly keyMemory: KeyMemory;
  readonly keyExchanges: KeyExchanges | undefined;
  readonly delegating: Delegating;
  readonly zones: Delegating["zones"];
  readonly edgeServers: EdgeServers;
  readonly gslbs: GslbController;
  readonly replica: Replica;
  readonly observing: Observing;
  readonly legacy: Legacy;
}

function assemble(runtime: Runtime, options: OperatorOptions, tasks: TaskScope): Parts {
  const { client, config, authority, dnsClient } = options;
  const metered = options.meter === undefined ? {} : { meter: options.meter };
  const periodMs = (config.periodSeconds === 0 ? periodSecondsDefault : config.periodSeconds) * 1000;
  const deadlineMs = config.peerDeadlineMs;
  const { resolveHost } = options;
  const edgeServers = new EdgeServers(runtime, { servers: config.edgeDnsServers, resolveHost, periodMs });
  const copies = new ClusterCopies(runtime, { client, tasks });
  const events = new EventRecorder(runtime, { client, component: "gslb-controller" });
  const observing = new Observing(runtime, config);
  const memory = new StoredPeerMemory(runtime, { client, namespace: config.podNamespace });
  const views = new PeerViews(runtime.clock, memory, (host) => {
    const key = gslbs.enqueueHost(host);
    if (key !== undefined) observing.convergence.begin(key, "peer");
    fleetHosts.touchHost(host);
  });
  const { geoTag, peerGeoTags, nameServerPrefix, nameServerTtlSeconds, notify } = config;
  const members = new ZoneMembers({
    ...{ geoTag, peerGeoTags, nameServerPrefix, areDynamic: config.areGeoTagsDynamic },
    onChange: () => enqueueGslbs(copies, gslbs),
  });
  const { geoTags } = members;
  const peers = new Peers(runtime, {
    dnsClient,
    views,
    tasks,
    geoTag,
    peerGeoTags,
    nameServerPrefix,
    deadlineMs,
    periodMs,
    onStranger: (zone, nameServer) => delegating.meet(zone, nameServer),
    onCarriage: (zone) => fleetHosts.touchZone(zone),
    requiresProof: config.peerProof === "required",
    ...(options.transfers === undefined ? {} : { transfers: options.transfers }),
  });
  const addresses = new AddressBook(runtime, {
    dnsClient,
    servers: () => edgeServers.endpoints,
    deadlineMs,
    periodMs,
    tasks,
    onChange: (key) => (key === ownAddressKey ? zones.enqueueAll() : gslbs.controller.enqueue(key)),
  });
  const store = new SerialStore(client, config.podNamespace);
  const read = (key: string): ReturnType<typeof readBooked> => {
    const ofFleet = fleetHosts.read(key);
    return ofFleet === "none" ? undefined : (ofFleet ?? readBooked(key, copies));
  };
  const keyMemory = new KeyMemory(runtime.log, { client, namespace: config.podNamespace });
  const signed = options.signing && new SignedZones(runtime, { ...options.signing, memory: keyMemory });
  const feeder = new ZoneFeeder(runtime, {
    ...(signed === undefined ? {} : { signed }),
    ...{ authority, dnsClient, store, peers, events, tasks, geoTag, geoTags },
    ...{ nameServerPrefix, nameServerTtlSeconds, notify, read, answerModes: config.answerModes },
    onServed: (key) => observing.convergence.served(key),
  });
  const geo = new GeoFeeder(runtime, {
    ...{ config: config.geo, client, namespace: config.podNamespace, authority },
    ...(options.openFile === undefined ? {} : { openFile: options.openFile }),
    onChange: () => enqueueGslbs(copies, gslbs, (gslb) => gslb.spec?.strategy?.type === "geoip"),
  });
  const keys = new KeyFeeder(runtime, {
    ...{ client, namespace: config.podNamespace, events },
    onKeys: (found) => {
      options.onKeys?.(found);
      signed?.setKeys(found.signing);
      peers.setKeys(found.tsig);
      keyExchanges?.setKeys(found.tsig);
      delegating.setParentKeys(found.parent);
    },
  });
  const keyExchanges =
    signed &&
    new KeyExchanges(runtime, {
      ...{ dnsClient, signed, memory: keyMemory, deadlineMs, periodMs },
      edgeServers: () => edgeServers.endpoints,
      peers: (zone) => {
        const servers = new Map(peers.sessions(zone).map((session) => [session.geoTag, session.servers]));
        return new Map(members.of(zone).map((tag) => [tag, servers.get(tag) ?? []]));
      },
    });
  const delegating = assembleDelegating(runtime, {
    ...{ config, client, dnsClient, authority, copies, peers, feeder, members, edgeServers },
    ...{ addresses, events, tasks, observing, ...metered },
    ...(options.openFile === undefined ? {} : { openFile: options.openFile }),
    onZonesChanged: () => {
      enqueueGslbs(copies, gslbs);
      fleetHosts.touchAll();
    },
  });
  const { zones } = delegating;
  const replica = assembleReplica(runtime, {
    ...{ config, client, authority, dnsClient, copies, peers, views, events, tasks, ...metered },
    feeder: () => feeder,
    zones: () => zones.zones,
    gslbs: () => gslbs,
    onLead: () => {
      enqueueGslbs(copies, gslbs);
      legacy.migration.enqueueAll();
    },
  });
  const isWriting = (): boolean => replica.leading.isLeading;
  const legacy = assembleLegacy(runtime, { client, copies, tasks, events, isWriting, ...metered });
  const { fleetHosts } = replica;
  const gslbs = new GslbController(runtime, {
    ...{
      client,
      copies,
      peers: fleetHosts,
      views,
      addresses,
      events: legacy.events,
      geoTag,
      isWriting,
      observer: observing,
      ...(options.tracer === undefined ? {} : { tracer: options.tracer }),
      ...metered,
    },
    get geoTags() {
      return members.geoTags;
    },
    isFleetOpen: members.areDynamic,
    exposedOverride: config.exposedAddresses,
    addressGraceSeconds: config.addressGraceSeconds,
    zones: () => zones.zones,
    geo: () => geo.knowledge,
  });
  return {
    tasks,
    copies,
    memory,
    views,
    peers,
    events,
    feeder,
    geo,
    keys,
    keyMemory,
    keyExchanges,
    ...{ delegating, zones, edgeServers, gslbs, replica, observing, legacy },
  };
}

async function start(
  runtime: Runtime,
  parts: Parts,
  { client, config, authority, meter }: OperatorOptions,
): Promise<void> {
  const { tasks, copies, memory, events, feeder, geo, keys, keyMemory, keyExchanges, zones, gslbs } = parts;
  const { lease, fleetHosts, hints } = parts.replica;
  const sleep = (ms: number): Promise<void> => runtime.clock.sleep(ms, signal).catch(() => {});
  const { signal } = tasks;
  for (const message of config.deprecations)
    runtime.log.warn("a deprecated setting is in use", { setting: message });
  tasks.start("events", (ending) => events.run(ending));
  tasks.start("geo sources", (ending) => geo.run(ending));
  await whileWaiting(copies.start(tasks), signal);
  await retrying(runtime, signal, () => ensureNamespace(client, config.podNamespace, signal));
  await retrying(runtime, signal, () => memory.load(signal));
  tasks.start("peer memory", (ending) => memory.run(ending));
  // Before the first key is there: a zone is never signed without the keys of peers that were known.
  await retrying(runtime, signal, () => keyMemory.load(signal));
  tasks.start("keys in Secrets", (ending) => keys.run(ending));
  const present = () => copies.zones.lister.list();
  const createZones = (): Promise<void> =>
    retrying(runtime, signal, () => applyConfiguredZones({ client, zones: config.zones, present, signal }));
  await parts.edgeServers.open(signal);
  await createZones();
  await untilZonesAreThere(runtime, parts, config);

  // A peer that can be copied is not asked for each host first.
  await whileWaiting(Promise.race([keys.synced, sleep(firstKeysMs)]), signal);
  // Zones before Gslbs, and every claim before the first reconcile: what is decided must not depend on the order.
  for (const zone of copies.zones.lister.list()) zones.observe(zone);
  const observed = observeAll(copies, gslbs);
  await whileWaiting(
    Promise.race([observed, runtime.clock.sleep(firstRoundMs, signal).catch(() => {})]),
    signal,
  );
  fleetHosts.load();
  memory.retain((host) => gslbs.claims.holder(host) !== undefined || fleetHosts.has(host));
  if (config.notify) authority.onNotify = (hint) => hints.take(hint);
  // Not at once: kubectl waits for ever for an object to be gone that is there again before it looks.
  parts.observing.watch(copies, gslbs);
  watchCluster(parts, async () => {
    await runtime.clock.sleep(restoreAfterMs, signal);
    await createZones();
  });
  zones.enqueueAll();
  enqueueGslbs(copies, gslbs);
  tasks.start("zone delegations", (ending) => zones.controller.run(ending));
  parts.replica.start();
  parts.legacy.start();
  tasks.start(
    "gslbs",
    lease.vital("the reconciling of Gslbs", (ending) => gslbs.controller.run(ending)),
  );
  const annotated = new AnnotatedIngressController(runtime, {
    ...{ client, copies, events },
    ...(meter === undefined ? {} : { meter }),
  });
  tasks.start("annotated ingresses", (ending) => annotated.controller.run(ending));

  await whileWaiting(
    Promise.race([
      Promise.all([
        firstRound(runtime, parts),
        geo.opened,
        firstKeys(parts, { deadlineMs: config.peerDeadlineMs, sleep }),
      ]),
      runtime.clock.sleep(firstRoundMs, signal).catch(() => {}),
    ]),
    signal,
  );
  for (const endpoint of copies.endpoints.lister.list()) feeder.touch(objectKey(endpoint.metadata));
  feeder.flush();
  feeder.open();
  tasks.start("lease", (ending) => lease.run(ending));
  parts.delegating.start();
  if (keyExchanges !== undefined) tasks.start("keys of peers", (ending) => keyExchanges.run(ending));
  runtime.log.info("the operator is ready", {
    geoTag: config.geoTag,
    gslbs: copies.gslbs.lister.size,
    zones: zones.zones,
  });
}

/** Until the zones are signed with the keys in Secrets, and peers told their own keys and which hosts they carry. */
async function firstKeys(
  { tasks, keys, keyExchanges, peers }: Parts,
  { deadlineMs, sleep }: { readonly deadlineMs: number; readonly sleep: (ms: number) => Promise<void> },
): Promise<void> {
  await keys.synced;
  await Promise.all([
    keyExchanges?.round(tasks.signal),
    // A name that peers carry must not be denied before they could tell of it.
    Promise.race([peers.heard(), sleep(2 * deadlineMs)]),
  ]);
}

/** Until each Gslb was reconciled once and the copy shows what was written for it. */
async function firstRound(runtime: Runtime, { copies, gslbs, tasks }: Parts): Promise<void> {
  await gslbs.controller.idle();
  const isBehind = (): boolean =>
    copies.gslbs.lister.list().some((gslb) => {
      const wanted = gslbs.wantedRecords(objectKey(gslb.metadata));
      const stored = copies.endpoints.lister.get(objectKey(gslb.metadata))?.spec?.endpoints ?? [];
      return wanted !== undefined && !deepEqual(wanted, stored);
    });
  while (!tasks.signal.aborted && isBehind()) await runtime.clock.sleep(20, tasks.signal).catch(() => {});
}

/** Waits until the copy shows the ZoneDelegations that were just created, so that no host looks homeless meanwhile. */
async function untilZonesAreThere(
  runtime: Runtime,
  { copies, tasks }: Parts,
  config: OperatorConfig,
): Promise<void> {
  const served = (): ReadonlySet<string | undefined> =>
    new Set(copies.zones.lister.list().map((zone) => zone.spec?.loadBalancedZone));
  for (let waitedMs = 0; waitedMs < firstRoundMs; waitedMs += 20) {
    const there = served();
    if (config.zones.every(({ loadBalancedZone }) => there.has(loadBalancedZone))) return;
    await runtime.clock.sleep(20, tasks.signal);
  }
}

function enqueueGslbs(
  copies: ClusterCopies,
  gslbs: GslbController,
  isMeant: (gslb: Gslb) => boolean = () => true,
): void {
  for (const gslb of copies.gslbs.lister.list())
    if (isMeant(gslb)) gslbs.controller.enqueue(objectKey(gslb.metadata));
}

function explainHost(
  { gslbs, views, peers, feeder, replica }: Parts,
  asked: Pick<ExplainFacts, "host" | "geoTag" | "now">,
): Explanation {
  const { host } = asked;
  const holder = gslbs.claims.holder(host);
  const zone = feeder.zoneOf(host);
  return explain({
    ...asked,
    holder,
    isOfFleet: replica.fleetHosts.has(host),
    wildcard: zone === undefined ? undefined : wildcardOver(host, zone.origin, gslbs.claims),
    hosts: gslbs.claims.hosts,
    latest: holder === undefined ? undefined : gslbs.latest(holder),
    views: views.of(host),
    sessions: zone === undefined ? [] : peers.sessions(zone.origin),
    zone,
  });
}

/** Runs what an API server that is not up yet makes fail, until it succeeds or the signal aborts. */
async function retrying(runtime: Runtime, signal: AbortSignal, attempt: () => Promise<void>): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      runtime.log.warn("a step of the start failed; trying again", { error });
      await runtime.clock.sleep(Math.min(5000, 100 * 2 ** failures), signal);
    }
  }
}
