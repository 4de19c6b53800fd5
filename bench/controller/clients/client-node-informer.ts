import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { serveCommands } from "./serve-commands.ts";

// The informer of `@kubernetes/client-node`: `client-node-informer.js --kubeconfig FILE --module FILE`, the latter its
// entry, of whatever version.

/** The part of `@kubernetes/client-node` that is measured, which its versions have in common. */
interface ClientNode {
  readonly KubeConfig: new () => NodeKubeConfig;
  readonly CoreV1Api: unknown;
  readonly makeInformer: (config: NodeKubeConfig, path: string, list: () => Promise<unknown>) => NodeInformer;
}

interface NodeKubeConfig {
  loadFromFile(file: string): void;
  makeApiClient(api: unknown): {
    listNamespacedConfigMap(request: { readonly namespace: string }): Promise<unknown>;
  };
}

interface NodeObject {
  readonly metadata: { readonly name: string };
}

interface NodeInformer {
  on(event: "add" | "update" | "delete", handler: (object: NodeObject) => void): void;
  on(event: "error", handler: (error: unknown) => void): void;
  start(): Promise<void>;
  list(): readonly NodeObject[];
}

const { values } = parseArgs({
  options: { kubeconfig: { type: "string", default: "" }, module: { type: "string", default: "" } },
});
const { KubeConfig, CoreV1Api, makeInformer } = (await import(
  pathToFileURL(values.module).href
)) as ClientNode;
const config = new KubeConfig();
config.loadFromFile(values.kubeconfig);
const api = config.makeApiClient(CoreV1Api);
const informer = makeInformer(config, "/api/v1/namespaces/bench/configmaps", () =>
  api.listNamespacedConfigMap({ namespace: "bench" }),
);

await serveCommands({
  objects: () => informer.list().length,
  async start(updates) {
    informer.on("add", () => {});
    informer.on("update", ({ metadata }) => updates.add(metadata.name));
    informer.on("delete", () => {});
    // It ends at each error unless it is started again, as its documentation shows; there after 5 s.
    informer.on("error", () => void setTimeout(() => void informer.start(), 1_000));
    await informer.start();
  },
});
