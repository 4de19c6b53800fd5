import { configMapType as configMaps } from "@meridian/kube";
import type { ConfigMap } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import type { SimLogLine } from "@meridian/runtime/sim";
import { KubeClient } from "../client/kube-client.ts";
import { Informer } from "../informer/informer.ts";
import type { InformerOptions } from "../informer/informer.ts";
import { TruthServer } from "./truth-server.ts";

export { configMaps };

/** A truth, and a copy of it across a simulated network. */
export interface Fleet {
  readonly simulation: Simulation;
  readonly truth: TruthServer;
  readonly runtime: Runtime;
  readonly client: KubeClient;
  readonly informer: Informer<ConfigMap>;
  readonly logged: readonly SimLogLine[];
  /** Starts the informer. */
  readonly start: () => void;
  /** Stops it, and resolves when it has ended. */
  readonly stop: () => Promise<void>;
  /** Lets the time go on. */
  readonly pass: (ms: number) => Promise<void>;
  /** Whether the copy holds exactly the objects of the truth now. */
  readonly isEqual: () => boolean;
  /** Whether the copy at its version is the truth at that version (always true of a correct copy, once synced). */
  readonly isFaithful: () => boolean;
}

export async function fleet(
  options: Partial<InformerOptions<ConfigMap>> & { readonly seed?: number } = {},
): Promise<Fleet> {
  const logged: SimLogLine[] = [];
  const simulation = new Simulation({ seed: options.seed ?? 1, onLog: (line) => logged.push(line) });
  const server = simulation.node({ name: "server", addresses: ["10.0.0.1"] }).runtime;
  const { runtime } = simulation.node({ name: "client", addresses: ["10.0.0.2"] });
  const truth = new TruthServer(server);
  await simulation.complete(
    server.network.serveHttp({ address: "10.0.0.1", port: 6443, handler: truth.handler, bodyBytesMax: 1e6 }),
  );
  const client = new KubeClient(truth.box.inFrontOf(runtime), { origin: "http://10.0.0.1:6443" });
  const informer = new Informer<ConfigMap>(runtime, { client, type: configMaps, ...options });
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  return {
    simulation,
    truth,
    runtime,
    client,
    informer,
    logged,
    start: () => void (running = informer.run(stopping.signal)),
    stop: () => {
      stopping.abort(new Error("stopped"));
      return simulation.complete(running);
    },
    pass: (ms) => simulation.run({ untilMs: simulation.nowMs + ms }),
    isEqual: () => textOf(informer.lister.list()) === textOf(truth.objects.values()),
    isFaithful: () => textOf(informer.lister.list()) === textOf(truth.stateAt(Number(informer.version)).values()),
  };
}

function textOf(objects: Iterable<ConfigMap>): string {
  const lines = Array.from(objects, ({ apiVersion, kind, metadata, data }) =>
    JSON.stringify([metadata.name, metadata.uid, metadata.resourceVersion, apiVersion, kind, data]),
  );
  return lines.sort().join("\n");
}
