import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { Informer, clientFromKubeconfig } from "@meridian/controller";
import type { InformerHandler } from "@meridian/controller";
import { protobuf } from "@meridian/controller/protobuf";
import type { ConfigMap, ResourceType } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { serveCommands } from "./serve-commands.ts";
import type { UpdateLog } from "./update-log.ts";

// Our informer: `meridian-informer.js --kubeconfig FILE [--streaming] [--decode] [--protobuf] [--uncompressed]`. Its handler takes keys, or,
// with `--decode`, objects.

const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string", default: "" },
    streaming: { type: "boolean", default: false },
    decode: { type: "boolean", default: false },
    protobuf: { type: "boolean", default: false },
    uncompressed: { type: "boolean", default: false },
  },
});
const configMaps: ResourceType<ConfigMap> = {
  ...{ group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true },
};
const runtime = nodeRuntime({ dataFolder: ".", log: silentLogger });
const client = clientFromKubeconfig(runtime, await readFile(values.kubeconfig, "utf8"));
const informer = new Informer<ConfigMap>(runtime, {
  ...{ client, type: configMaps, namespace: "bench", watchList: values.streaming },
  compressed: !values.uncompressed,
  ...(values.protobuf ? { wireFormat: protobuf } : {}),
});

await serveCommands({
  objects: () => informer.status.objects,
  async start(updates) {
    const registration = informer.addHandler(values.decode ? objectHandler(updates) : keyHandler(updates));
    void informer.run(new AbortController().signal);
    await registration.synced;
  },
});

function keyHandler(updates: UpdateLog): InformerHandler<ConfigMap> {
  return {
    onKey: ({ key, event }) => {
      if (event === "update") updates.add(key);
    },
  };
}

function objectHandler(updates: UpdateLog): InformerHandler<ConfigMap> {
  return {
    onAdd: () => {},
    onUpdate: (_, { metadata }) => updates.add(metadata.name ?? ""),
    onDelete: () => {},
  };
}
