import { join } from "node:path";
import { formatEndpoint, type Runtime } from "@meridian/runtime";
import { operatorSettings } from "../cluster/operator-environment.ts";
import { messageOf } from "../meridian-error.ts";
import { makePrivateFolder } from "./make-folder.ts";
import type { ChildRole, Datapath, StorageKind } from "./child-protocol.ts";
import { prepareAuthority, prepareClusterFolder } from "./cluster-folder.ts";
import { encodeFleetFile, fleetFileName, type FleetFile } from "./fleet-file.ts";
import { playgroundZone, type ClusterPlace, type FleetLayout } from "./fleet-layout.ts";
import { parentZoneText } from "./parent-zone.ts";
import { preparePeerKey } from "./peer-key.ts";
import { removeFile, replacePrivateFile } from "./private-file.ts";
import { SupervisedChild, type ChildChange } from "./supervised-child.ts";

/** What to run, where, and whom to tell. */
export interface FleetOptions {
  /** Absolute path of the data folder. */
  readonly folder: string;
  readonly layout: FleetLayout;
  readonly storage: StorageKind;
  /** How the clusters answer datagrams, in turn: the last of two is that of the second, the fourth and so on. */
  readonly datapaths: readonly Datapath[];
  /** Whether processes that die are started again. */
  readonly restart: boolean;
  /** The environment of the command: the operators' own settings are taken from it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly progress: (line: string) => void;
  readonly complain: (line: string) => void;
}

/** One cluster of a running fleet, as the command sees it. */
export interface FleetCluster extends ClusterPlace {
  readonly kubeconfigPath: string;
}

/** The processes of a playground: every cluster and the parent DNS server. */
export class Fleet {
  readonly clusters: readonly FleetCluster[];
  readonly #runtime: Runtime;
  readonly #options: FleetOptions;
  readonly #children: ReadonlyMap<string, SupervisedChild>;
  /** The last process of each child; a dead one keeps its number until there is a new one. */
  readonly #pids = new Map<string, number>();
  #published = false;
  #writing: Promise<void> = Promise.resolve();

  private constructor(runtime: Runtime, options: FleetOptions, clusters: readonly FleetCluster[]) {
    this.#runtime = runtime;
    this.#options = options;
    this.clusters = clusters;
    this.#children = new Map(this.#roles().map(([label, role]) => [label, this.#supervise(label, role)]));
  }

  /** Prepares folders, certificates and the key that the clusters share. Nothing runs before `start`. */
  static async prepare(runtime: Runtime, options: FleetOptions): Promise<Fleet> {
    const authority = await prepareAuthority(runtime, options.folder);
    const peerKey = await preparePeerKey(runtime.random, options.folder);
    const clusters: FleetCluster[] = [];
    for (const place of options.layout.clusters) {
      const { kubeconfigPath } = await prepareClusterFolder(runtime, join(options.folder, place.name), {
        name: place.name,
        address: place.apiServer.address,
        server: `https://${formatEndpoint(place.apiServer)}`,
        authority,
        peerKey,
      });
      clusters.push({ ...place, kubeconfigPath });
    }
    await makePrivateFolder(join(options.folder, "parent"));
    return new Fleet(runtime, options, clusters);
  }

  /** Starts all processes; resolves when each says it is ready. @throws MeridianError of the first that fails */
  async start(): Promise<void> {
    await Promise.all(
      [...this.#children.values()].map(async (child) => {
        const since = this.#runtime.clock.monotonicMs();
        await child.start();
        this.#note(child);
        const seconds = ((this.#runtime.clock.monotonicMs() - since) / 1000).toFixed(1);
        this.#options.progress(`  ${child.label.padEnd(7)} ready after ${seconds} s`);
      }),
    );
  }

  /** Writes `fleet.json` now and whenever a process is replaced. */
  async publish(): Promise<void> {
    this.#published = true;
    await this.#write();
  }

  /** Starts every process that is down; returns their labels. */
  wake(): readonly string[] {
    return [...this.#children.values()].filter((child) => child.wake()).map((child) => child.label);
  }

  /** Removes `fleet.json` and ends all processes; at once when `forced` aborts. */
  async stop(forced: AbortSignal): Promise<void> {
    this.#published = false;
    await this.#writing;
    await removeFile(join(this.#options.folder, fleetFileName));
    await Promise.all([...this.#children.values()].map((child) => child.stop(forced)));
  }

  describe(): FleetFile {
    const { layout } = this.#options;
    const pid = (label: string): number => this.#pids.get(label) ?? 0;
    return {
      pid: process.pid,
      zone: playgroundZone.name,
      addressing: layout.addressing.kind,
      clusters: this.clusters.map((cluster) => ({
        name: cluster.name,
        geoTag: cluster.geoTag,
        pid: pid(cluster.name),
        kubeconfig: cluster.kubeconfigPath,
        apiServer: `https://${formatEndpoint(cluster.apiServer)}`,
        operator: `https://${formatEndpoint(cluster.operator)}`,
        dns: cluster.dns,
        metrics: `http://${formatEndpoint(cluster.metrics)}/metrics`,
      })),
      parent: { pid: pid("parent"), dns: layout.parent.dns },
    };
  }

  #roles(): (readonly [string, ChildRole])[] {
    const { layout, folder, storage, datapaths, environment } = this.#options;
    const logLevel = environment["LOG_LEVEL"] === "debug" ? "debug" : "info";
    const parent: ChildRole = {
      kind: "parent",
      zoneText: parentZoneText(layout),
      dns: layout.parent.dns,
      logLevel,
    };
    const clusters = layout.clusters.map((place, index): [string, ChildRole] => {
      const others = layout.clusters.filter((other) => other.name !== place.name);
      const role: ChildRole = {
        kind: "cluster",
        logLevel,
        ...place,
        peerGeoTags: others.map((other) => other.geoTag),
        folder: join(folder, place.name),
        storage,
        parentDns: layout.parent.dns,
        datapath: datapaths[index % datapaths.length] ?? "dgram",
        operatorSettings: operatorSettings(environment),
      };
      if (layout.addressing.kind === "own-addresses") return [place.name, role];
      return [place.name, { ...role, peers: others.map(({ geoTag, dns }) => ({ geoTag, dns })) }];
    });
    return [["parent", parent], ...clusters];
  }

  #supervise(label: string, role: ChildRole): SupervisedChild {
    return new SupervisedChild(this.#runtime.clock, {
      label,
      role,
      logPath: join(this.#options.folder, label, "log"),
      restart: this.#options.restart,
      onChange: (change) => this.#onChange(label, change),
    });
  }

  #onChange(label: string, change: ChildChange): void {
    const again = (inMs: number | undefined): string =>
      inMs === undefined
        ? `stays down until "npx meridian start --data ${this.#options.folder}"`
        : `starting again in ${inMs / 1000} s`;
    switch (change.kind) {
      case "died":
        this.#options.complain(`${label} died (${change.how}): ${again(change.restartInMs)}`);
        return;
      case "start failed":
        this.#options.complain(`${change.message}: ${again(change.restartInMs)}`);
        return;
      case "started": {
        this.#options.complain(`${label} is up again as process ${change.pid}`);
        this.#pids.set(label, change.pid);
        if (this.#published) void this.#write();
        return;
      }
    }
  }

  #note(child: SupervisedChild): void {
    if (child.pid !== undefined) this.#pids.set(child.label, child.pid);
  }

  #write(): Promise<void> {
    const path = join(this.#options.folder, fleetFileName);
    this.#writing = this.#writing.then(async () => {
      try {
        await replacePrivateFile(path, encodeFleetFile(this.describe()));
      } catch (error) {
        this.#options.complain(messageOf(error));
      }
    });
    return this.#writing;
  }
}
