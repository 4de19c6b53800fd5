import type { ControllerMeter, EventRecorder, KubeClient } from "@meridian/controller";
import type { Authority, DnsClient, TsigKey, WatchedFile } from "@meridian/dns";
import { deepEqual } from "@meridian/kube";
import type { Endpoint, Runtime } from "@meridian/runtime";
import type { OperatorConfig } from "./config/operator-config.ts";
import type { ClusterCopies } from "./controllers/cluster-copies.ts";
import { ServedZones } from "./controllers/served-zones.ts";
import { ZoneConfigMap } from "./controllers/zone-config-map.ts";
import { ZoneDelegationController } from "./controllers/zone-delegation-controller.ts";
import { localTargetsZone, nameServerName, type ZonePair } from "./decide/zone-names.ts";
import { canonicalName } from "./decide/dns-name.ts";
import { chooseProvider } from "./delegation/choose-provider.ts";
import { delegationLabels } from "./delegation/delegation-endpoint.ts";
import type { EdgeServers } from "./delegation/edge-servers.ts";
import { FleetLookup } from "./delegation/fleet-lookup.ts";
import { MetClusters } from "./delegation/met-clusters.ts";
import { LeftDelegations } from "./delegation/left-delegations.ts";
import { ownDnsAddresses, type OwnAddresses } from "./delegation/own-dns-addresses.ts";
import { UpdateKeys } from "./delegation/update-keys.ts";
import type { ZoneMembers } from "./delegation/zone-members.ts";
import type { Observing } from "./observing.ts";
import type { Peers } from "./peers/peers.ts";
import { lookUpAddresses, type AddressBook } from "./references/address-book.ts";
import { dnsTypeLabel, type DnsEndpoint } from "./resources/dns-endpoint.ts";
import type { TaskScope } from "./tasks/task-scope.ts";
import type { ZoneFeeder } from "./zones/zone-feeder.ts";

/** What zones are delegated and served with. */
export interface DelegatingOptions {
  readonly config: OperatorConfig;
  readonly client: KubeClient;
  readonly dnsClient: DnsClient;
  readonly authority: Pick<Authority, "zone">;
  readonly copies: ClusterCopies;
  readonly peers: Peers;
  readonly feeder: ZoneFeeder;
  readonly members: ZoneMembers;
  readonly edgeServers: EdgeServers;
  readonly addresses: AddressBook;
  readonly events: EventRecorder;
  readonly meter?: ControllerMeter;
  readonly observing: Pick<Observing, "delegations" | "onWapiCall">;
  readonly tasks: TaskScope;
  /** Opens the file of keys that sign updates of parent zones. */
  readonly openFile?: (path: string) => WatchedFile;
  /** The set of zones is another now. */
  readonly onZonesChanged: () => void;
}

/** The parts of an operator that have to do with zones and their parents. */
export interface Delegating {
  readonly zones: ZoneDelegationController;
  /** A server that may be a cluster's told that it is there. In a dynamic fleet it is looked for. */
  readonly meet: (zone: string, nameServer: string) => void;
  /** Starts what goes on beside the reconciles: call it once the zones answer. */
  readonly start: () => void;
  /** Takes the keys of parent zones that stand in Secrets now. */
  readonly setParentKeys: (keys: readonly TsigKey[]) => void;
}

/** The name under which the own DNS server's host names are looked up; no Gslb's key, since it has no slash. */
export const ownAddressKey = "own DNS server";
/** How often it is looked after what other clusters left, where the periodic reconcile is turned off. */
const periodSecondsDefault = 300;
const noUpdates = { keyFile: undefined, keyNames: new Map<string, string>(), unsigned: false };

/** Assembles what serves zones and delegates them. */
export function assembleDelegating(runtime: Runtime, options: DelegatingOptions): Delegating {
  const { config, client, dnsClient, copies, peers, feeder, members, edgeServers, events, tasks } = options;
  const configMap = new ZoneConfigMap(runtime, {
    ...{ client, namespace: config.podNamespace },
    zones: () => zones.zones,
  });
  const served = new ServedZones({
    ...{ feeder, peers, members, config },
    onChange: () => {
      configMap.touch();
      options.onZonesChanged();
    },
  });
  const updateKeys = new UpdateKeys(runtime, {
    config: config.provider.kind === "rfc2136" ? config.provider.rfc2136 : noUpdates,
    ...(options.openFile === undefined ? {} : { openFile: options.openFile }),
  });
  const chosen = chooseProvider({
    onWapiCall: options.observing.onWapiCall,
    ...{ runtime, config, client, dnsClient, updateKeys, endpoints: copies.endpoints.lister },
    ...(options.openFile === undefined ? {} : { openFile: options.openFile }),
    edgeServers: () => edgeServers.endpoints,
  });
  const provider = chosen && options.observing.delegations.over(chosen);
  const fleet = new FleetLookup({
    ...{ dnsClient, config, members, provider },
    edgeServers: () => edgeServers.endpoints,
  });
  const zones = new ZoneDelegationController(runtime, {
    ...{ client, dnsClient, copies, peers, served, events, config, members, fleet, provider },
    ...(options.meter === undefined ? {} : { meter: options.meter }),
    ownAddresses: told(runtime.log, () =>
      options.addresses.reading(ownAddressKey, (lookUp) =>
        ownDnsAddresses(config, {
          services: (namespace) => copies.services.lister.list(namespace),
          ingresses: () => copies.ingresses.lister.list(),
          lookUp,
        }),
      ),
    ),
    isAnswering: () => isAnswering,
    greet: (zone, servers) => greet(options, zone, servers),
  });
  let isAnswering = false;
  const met = new MetClusters(runtime.clock, {
    members,
    pair: (zone) => served.pair(zone),
    look(zone) {
      const name = served.holder(zone);
      if (name !== undefined) zones.controller.enqueue(name);
    },
  });
  tasks.signal.addEventListener("abort", () => met.close(), { once: true });
  const left = new LeftDelegations(runtime, {
    ...{ client, endpoints: () => copies.endpoints.lister.list(config.podNamespace) },
    isServed: (zone) => zones.zones.some((each) => canonicalName(each) === zone),
    lookUp: (name, signal) =>
      lookUpAddresses(name, {
        ...{ dnsClient, servers: edgeServers.endpoints, deadlineMs: config.peerDeadlineMs, signal },
      }),
    periodMs: (config.zonePeriodSeconds === 0 ? periodSecondsDefault : config.zonePeriodSeconds) * 1000,
  });
  return {
    zones,
    meet: (zone, nameServer) => met.meet(zone, nameServer),
    setParentKeys(keys) {
      updateKeys.setSecretKeys(keys);
      // What lacked a key need not wait for the period.
      if (config.provider.kind === "rfc2136") zones.enqueueAll();
    },
    start() {
      isAnswering = true;
      zones.enqueueAll();
      watchDelegations(copies, zones, config.podNamespace);
      tasks.start("edge servers", (signal) => edgeServers.run(signal));
      tasks.start("ConfigMap of zones", (signal) => configMap.run(signal, tasks));
      if (config.provider.kind === "externalDns")
        tasks.start("left delegations", (signal) => left.run(signal));
    },
  };
}

/** Logs in k8gb's words where the own DNS server is, whenever that is another. */
function told(log: Runtime["log"], look: () => OwnAddresses): () => OwnAddresses {
  let last: OwnAddresses | undefined;
  return () => {
    const found = look();
    const { addresses, problem } = found;
    if (!deepEqual(found, last)) {
      if (addresses === undefined) log.info("Waiting for IPs to be assigned", { problem });
      else log.info("available IPs", { addresses });
    }
    return (last = found);
  };
}

/** A delegation that somebody changed or deleted is put right at once. */
function watchDelegations(copies: ClusterCopies, zones: ZoneDelegationController, namespace: string): void {
  const wake = ({ metadata }: DnsEndpoint): void => {
    const isOurs =
      metadata.namespace === namespace && metadata.labels?.[dnsTypeLabel] === delegationLabels[dnsTypeLabel];
    if (isOurs) zones.enqueueAll();
  };
  copies.endpoints.addHandler({
    onUpdate: (old, now) => {
      if (old.metadata.generation !== now.metadata.generation) wake(now);
    },
    onDelete: wake,
  });
}

/** Tells a peer that does not know this cluster that there is one: by a NOTIFY about its own view, which names its server. */
function greet(
  { authority, dnsClient, config, tasks }: DelegatingOptions,
  zone: ZonePair,
  servers: readonly Endpoint[],
): void {
  const view = localTargetsZone(zone.loadBalancedZone);
  const soa = authority.zone(view)?.soa;
  if (soa === undefined || !config.notify) return;
  const mname = nameServerName(zone, config.geoTag, config.nameServerPrefix);
  tasks.start("greeting", async (signal) => {
    await dnsClient.notify({ zone: view, soa: { ...soa, mname }, servers, signal });
  });
}
