import { EventRecorder, type ControllerMeter, type KubeClient } from "@meridian/controller";
import type { Authority, DnsClient, WatchedFile, ZoneTransferClient } from "@meridian/dns";
import { objectKey } from "@meridian/kube";
import type { Runtime, Tracer } from "@meridian/runtime";
import type { OperatorConfig } from "./config/operator-config.ts";
import { ClusterCopies } from "./controllers/cluster-copies.ts";
import { GslbController } from "./controllers/gslb-controller.ts";
import { assembleDelegating, ownAddressKey, type Delegating } from "./delegating.ts";
import { EdgeServers, type ResolveHost } from "./delegation/edge-servers.ts";
import { ZoneMembers } from "./delegation/zone-members.ts";
import { assembleLegacy, type Legacy } from "./legacy.ts";
import { StoredPeerMemory } from "./peers/peer-memory.ts";
import { PeerViews } from "./peers/peer-views.ts";
import { Peers } from "./peers/peers.ts";
import { AddressBook } from "./references/address-book.ts";
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

/** What an operator is made with. */
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

/** The parts of an operator, as they are put together before anything runs. */
export interface OperatorParts {
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

/** How often peers are asked where the periodic reconcile is turned off. */
const periodSecondsDefault = 30;

/** Puts an operator's parts together; the background work of all of them is in `tasks`. */
export function assembleOperator(
  runtime: Runtime,
  options: OperatorOptions,
  tasks: TaskScope,
): OperatorParts {
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
    onProved: (session) => feeder.tellPeer(session),
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

/** Asks for a reconcile of every Gslb, or of those that are meant. */
export function enqueueGslbs(
  copies: ClusterCopies,
  gslbs: GslbController,
  isMeant: (gslb: Gslb) => boolean = () => true,
): void {
  for (const gslb of copies.gslbs.lister.list())
    if (isMeant(gslb)) gslbs.controller.enqueue(objectKey(gslb.metadata));
}
