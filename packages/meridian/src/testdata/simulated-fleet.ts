import { openMemoryStorage } from "@meridian/apiserver";
import { DnsClient } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { Registry } from "prom-client";
import { startCluster, type Cluster } from "../cluster/cluster.ts";
import { operatorEnvironment } from "../cluster/operator-environment.ts";
import { startParent } from "../cluster/parent.ts";
import { applyAbsent } from "../examples/apply-absent.ts";
import { examplesFolder, readExampleObjects } from "../examples/example-objects.ts";
import { fleetLayout } from "../fleet/fleet-layout.ts";
import { parentZoneText } from "../fleet/parent-zone.ts";
import { askAddresses } from "../fleet/probe.ts";

const untilMs = 600_000;

/** Clusters on simulated machines, and what is done with them. */
export interface SimulatedFleet {
  readonly simulation: Simulation;
  /** What the first start of each cluster registers its metrics with. */
  readonly registries: ReadonlyMap<string, Registry>;
  readonly clusters: ReadonlyMap<string, Cluster>;
  /** Stops a cluster, and starts it again on the storage that it left. */
  readonly restart: (name: string) => Promise<Cluster>;
  /** Waits until every cluster answers the failover host like this. */
  readonly answers: (addresses: readonly string[]) => Promise<void>;
}

/** The playground without processes: the same assembly on simulated machines. */
export async function simulatedFleet(seed: number): Promise<SimulatedFleet> {
  const simulation = new Simulation({ seed });
  const layout = fleetLayout({ kind: "own-addresses", network: 10 }, { clusterCount: 2, dnsPort: 5300 });
  const examples = await readExampleObjects(examplesFolder, ["eu", "us"]);
  const parent = simulation.node({ name: "parent", addresses: [layout.parent.dns.address] });
  await simulation.complete(
    startParent(parent.runtime, { zoneText: parentZoneText(layout), dns: layout.parent.dns }),
  );

  const clusters = new Map<string, Cluster>();
  const registries = new Map<string, Registry>();
  const starts = new Map<string, (registry?: Registry) => Promise<Cluster>>();
  for (const place of layout.clusters) {
    const { runtime } = simulation.node({ name: place.name, addresses: [place.dns.address] });
    const storage = await simulation.complete(openMemoryStorage(runtime, { persistent: true }));
    const start = (registry = new Registry()): Promise<Cluster> =>
      startCluster(runtime, {
        storage,
        registry,
        token: "token",
        ...place,
        operatorEnvironment: operatorEnvironment({
          kind: "cluster",
          ...place,
          peerGeoTags: ["eu", "us"],
          folder: "",
          storage: "memory",
          parentDns: layout.parent.dns,
          operatorSettings: {},
          datapath: "dgram",
        }),
      });
    starts.set(place.name, start);
    const registry = new Registry();
    registries.set(place.name, registry);
    const cluster = await simulation.complete(start(registry), { untilMs });
    const { signal } = new AbortController();
    await simulation.complete(
      applyAbsent(cluster.client, examples.ofCluster.get(place.name) ?? [], { signal }),
      { untilMs },
    );
    clusters.set(place.name, cluster);
  }

  const client = simulation.node({ name: "client", addresses: ["127.0.10.99"] });
  const dnsClient = new DnsClient(client.runtime, { from: "127.0.10.99" });
  const ask = async (server: Endpoint, addresses: readonly string[]): Promise<void> => {
    const name = "failover.cloud.example.com";
    while (
      (await askAddresses(dnsClient, { server, name, type: "A" })).addresses.join() !== addresses.join()
    ) {
      await client.runtime.clock.sleep(10);
    }
  };
  return {
    simulation,
    clusters,
    registries,
    restart: async (name) => {
      await simulation.complete(Promise.resolve(clusters.get(name)![Symbol.asyncDispose]()), { untilMs });
      return simulation.complete(starts.get(name)!(), { untilMs });
    },
    answers: async (addresses) => {
      const all = Promise.all(layout.clusters.map(({ dns }) => ask(dns, addresses)));
      await simulation.complete(all, { untilMs: simulation.nowMs + 60_000 });
    },
  };
}

