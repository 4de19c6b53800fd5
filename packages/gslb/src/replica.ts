import type { ControllerMeter, EventRecorder, KubeClient } from "@meridian/controller";
import type { Authority, DnsClient } from "@meridian/dns";
import { objectKey } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import type { OperatorConfig } from "./config/operator-config.ts";
import type { ClusterCopies } from "./controllers/cluster-copies.ts";
import { FleetHosts } from "./controllers/fleet-hosts.ts";
import type { GslbController } from "./controllers/gslb-controller.ts";
import { Leading } from "./controllers/leading.ts";
import { canonicalName } from "./decide/dns-name.ts";
import { isDnsService } from "./delegation/own-dns-addresses.ts";
import { HintRelay } from "./peers/hint-relay.ts";
import type { Peers } from "./peers/peers.ts";
import type { PeerViews } from "./peers/peer-views.ts";
import type { TaskScope } from "./tasks/task-scope.ts";
import { dnsReplicas } from "./zones/dns-replicas.ts";
import { OperatorLease } from "./zones/operator-lease.ts";
import type { ZoneFeeder } from "./zones/zone-feeder.ts";

/** What a replica is made with. */
export interface ReplicaOptions {
  readonly config: OperatorConfig;
  readonly client: KubeClient;
  readonly authority: Pick<Authority, "lease">;
  readonly dnsClient: Pick<DnsClient, "notify">;
  readonly copies: ClusterCopies;
  readonly peers: Peers;
  readonly views: PeerViews;
  readonly feeder: () => ZoneFeeder;
  readonly events: EventRecorder;
  readonly meter?: ControllerMeter;
  readonly tasks: TaskScope;
  /** The load-balanced zones that there are now. */
  readonly zones: () => readonly string[];
  readonly gslbs: () => Pick<GslbController, "progress">;
  /** This replica leads from now on. */
  readonly onLead: () => void;
}

/** The parts of an operator that make it one replica of a cluster's, among clusters that carry what this one does not. */
export interface Replica {
  /** Whether it writes what is decided. */
  readonly leading: Leading;
  /** By which it vouches for what its DNS server says of the cluster. */
  readonly lease: OperatorLease;
  /** What it answers for hosts that peers alone carry. */
  readonly fleetHosts: FleetHosts;
  /** Takes what peers hint at, for all replicas. */
  readonly hints: HintRelay;
  /** Starts to stand for election, and to keep the DNSEndpoints of such hosts. */
  readonly start: () => void;
}

/** Puts them together. */
export function assembleReplica(runtime: Runtime, options: ReplicaOptions): Replica {
  const { config, client, authority, dnsClient, copies, peers, views, feeder, events, tasks, zones } =
    options;
  const { geoTag, podNamespace: namespace } = config;
  const leading = new Leading(runtime, {
    ...(config.leaderElection ? { election: { client, namespace, candidate: geoTag } } : {}),
    onLead() {
      options.onLead();
      fleetHosts.enqueueAll();
    },
  });
  const fleetHosts = new FleetHosts(runtime, {
    ...{ client, namespace, geoTag, peers, views, events, tasks, zones },
    ...(options.meter === undefined ? {} : { meter: options.meter }),
    isWriting: () => leading.isLeading,
    endpoints: copies.endpoints.lister,
    zoneObject: (zone) =>
      copies.zones.lister.list().find(({ spec }) => canonicalName(spec?.loadBalancedZone ?? "") === zone),
    onRecords: (key) => feeder().touch(key),
  });
  const lease = new OperatorLease(runtime, {
    ...{ publication: authority.lease, leaseMs: config.leaseSeconds * 1000 },
    progress: () => options.gslbs().progress,
    withhold: (isWithheld) => feeder().withhold(isWithheld),
  });
  const hints = new HintRelay(runtime, {
    ...{ peers, dnsClient, tasks },
    replicas: () =>
      dnsReplicas(
        copies.services.lister
          .list(namespace)
          .filter(isDnsService)
          .flatMap(({ metadata }) => copies.slicesOf(objectKey(metadata))),
      ),
  });
  const start = (): void => {
    copies.endpoints.addHandler({
      onAdd: (object) => fleetHosts.touchEndpoint(object),
      onUpdate: (_old, object) => fleetHosts.touchEndpoint(object),
      onDelete: (object) => fleetHosts.touchEndpoint(object),
    });
    tasks.start("leading", (ending) => leading.run(ending));
    tasks.start("hosts of the fleet", (ending) => fleetHosts.controller.run(ending));
  };
  return { leading, lease, fleetHosts, hints, start };
}
