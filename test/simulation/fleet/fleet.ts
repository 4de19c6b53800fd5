import type { Authority } from "@meridian/dns";
import { Simulation, type SimLogLine, type SimNode } from "@meridian/runtime/sim";
import { K8gbCluster } from "../k8gb/k8gb-cluster.ts";
import { DnsGuard } from "../observation/dns-guard.ts";
import { FleetCluster } from "./fleet-cluster.ts";
import {
  clientAddress,
  clientName,
  dnsAddressesOf,
  parentAddress,
  parentName,
  tags,
  type Tag,
} from "./fleet-map.ts";
import { drawSettings, type FleetSettings } from "./fleet-settings.ts";
import type { Member } from "./member.ts";
import { startParentServer } from "./parent-server.ts";
import { Paths } from "./paths.ts";
import type { Plant } from "./plant.ts";

export interface FleetOptions {
  readonly seed: number;
  readonly plant: Plant;
  /** Absent: drawn from the seed. */
  readonly settings?: Partial<FleetSettings>;
  readonly onWrong: (invariant: number, seen: string) => void;
  readonly onLog?: (line: SimLogLine) => void;
}

const calm = { delayMs: { min: 1, max: 12 }, loss: 0, duplication: 0 };

/** Three clusters, ours or k8gb's, the parent's DNS server and a client, all in one simulation. */
export class Fleet {
  readonly simulation: Simulation;
  readonly settings: FleetSettings;
  /** All clusters, whatever they run. */
  readonly members: ReadonlyMap<Tag, Member>;
  /** Those that run Meridian. */
  readonly clusters: ReadonlyMap<Tag, FleetCluster>;
  /** Those that run k8gb. */
  readonly k8gbClusters: ReadonlyMap<Tag, K8gbCluster>;
  readonly parent: SimNode;
  readonly client: SimNode;
  readonly paths: Paths;
  #parentAuthority: Authority | undefined;

  constructor(options: FleetOptions) {
    const { seed, plant, onWrong, onLog } = options;
    const simulation = new Simulation({ seed, link: calm, ...(onLog === undefined ? {} : { onLog }) });
    this.simulation = simulation;
    const settings = { ...drawSettings(simulation.random("settings")), ...options.settings };
    this.settings = settings;
    const guard = new DnsGuard((seen) => onWrong(8, seen));
    const members = new Map<Tag, Member>();
    const clusters = new Map<Tag, FleetCluster>();
    const k8gbClusters = new Map<Tag, K8gbCluster>();
    for (const tag of tags) {
      const addresses = dnsAddressesOf(tag, settings);
      const node = simulation.node({ name: tag, addresses, skewMs: settings.skewMs[tag] });
      const common = { tag, simulation, settings };
      if (settings.kinds[tag] === "k8gb") k8gbClusters.set(tag, new K8gbCluster(common, node));
      else clusters.set(tag, new FleetCluster({ ...common, plant, guard, onWrong }, node));
      members.set(tag, (k8gbClusters.get(tag) ?? clusters.get(tag))!);
    }
    this.members = members;
    this.clusters = clusters;
    this.k8gbClusters = k8gbClusters;
    this.parent = simulation.node({ name: parentName, addresses: [parentAddress] });
    this.client = simulation.node({ name: clientName, addresses: [clientAddress] });
    this.paths = new Paths(simulation, calm);
  }

  /** What the parent's DNS server answers from; there once the fleet has started. */
  get parentAuthority(): Authority {
    return this.#parentAuthority!;
  }

  /** The tags of the clusters that run Meridian. */
  get ours(): readonly Tag[] {
    return [...this.clusters.keys()];
  }

  /** Starts the parent and all clusters; resolves when all are ready. */
  async start(): Promise<void> {
    this.#parentAuthority = await startParentServer(this.parent.runtime, this.settings);
    await Promise.all([...this.members.values()].map((member) => member.start()));
  }

  member(tag: Tag): Member {
    return this.members.get(tag)!;
  }

  /** A cluster that runs Meridian. */
  cluster(tag: Tag): FleetCluster {
    return this.clusters.get(tag)!;
  }

  /** Undoes every fault. */
  repair(): void {
    const names = [...tags, parentName, clientName];
    for (const a of names)
      for (const b of names) {
        if (a >= b) continue;
        this.paths.heal(a, b);
        this.paths.calm(a, b);
      }
    for (const member of this.members.values()) {
      member.dnsIllness = undefined;
      member.deadAddress = undefined;
      const isOperatorDead = this.clusters.get(member.tag)?.operatorDiedAtMs !== undefined;
      if (member.isDiskBroken || isOperatorDead) member.crash("process");
      void member.start();
    }
    for (const cluster of this.k8gbClusters.values()) cluster.hang(false);
  }
}
