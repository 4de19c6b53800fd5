import { parentZoneText, startParent } from "@meridian/meridian";
import { Simulation, type SimLogLine, type SimNode } from "@meridian/runtime/sim";
import { DnsGuard } from "../observation/dns-guard.ts";
import { FleetCluster } from "./fleet-cluster.ts";
import { clientAddress, clientName, layout, parentAddress, parentName, tags, type Tag } from "./fleet-map.ts";
import { drawSettings, type FleetSettings } from "./fleet-settings.ts";
import { Paths } from "./paths.ts";
import type { Plant } from "./plant.ts";

export interface FleetOptions {
  readonly seed: number;
  readonly plant: Plant;
  readonly onWrong: (invariant: number, seen: string) => void;
  readonly onLog?: (line: SimLogLine) => void;
}

const calm = { delayMs: { min: 1, max: 12 }, loss: 0, duplication: 0 };

/** Three clusters, the parent's DNS server and a client, all in one simulation. */
export class Fleet {
  readonly simulation: Simulation;
  readonly settings: FleetSettings;
  readonly clusters: ReadonlyMap<Tag, FleetCluster>;
  readonly parent: SimNode;
  readonly client: SimNode;
  readonly paths: Paths;

  constructor(options: FleetOptions) {
    const { seed, plant, onWrong, onLog } = options;
    const simulation = new Simulation({ seed, link: calm, ...(onLog === undefined ? {} : { onLog }) });
    this.simulation = simulation;
    const settings = drawSettings(simulation.random("settings"));
    this.settings = settings;
    const guard = new DnsGuard((seen) => onWrong(8, seen));
    this.clusters = new Map(
      tags.map((tag) => [tag, new FleetCluster({ tag, simulation, settings, plant, guard, onWrong })]),
    );
    this.parent = simulation.node({ name: parentName, addresses: [parentAddress] });
    this.client = simulation.node({ name: clientName, addresses: [clientAddress] });
    this.paths = new Paths(simulation, calm);
  }

  /** Starts the parent and all clusters; resolves when all are ready. */
  async start(): Promise<void> {
    await startParent(this.parent.runtime, { zoneText: parentZoneText(layout), dns: layout.parent.dns });
    await Promise.all([...this.clusters.values()].map((cluster) => cluster.start()));
  }

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
    for (const cluster of this.clusters.values()) {
      cluster.dnsIllness = undefined;
      if (cluster.isDiskBroken) cluster.crash("process");
      void cluster.start();
    }
  }
}
