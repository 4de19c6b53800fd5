import type { KubeClient } from "@meridian/controller";
import type { ConfigMap, ResourceType } from "@meridian/kube";
import { benchNamespace, objectName } from "./bench-object.ts";

const core = { group: "", version: "v1" } as const;
const namespaces: ResourceType = { ...core, plural: "namespaces", kind: "Namespace", namespaced: false };

/** What the objects of the bench are. */
export const configMaps: ResourceType<ConfigMap> = {
  ...core,
  ...{ plural: "configmaps", kind: "ConfigMap", namespaced: true },
};

export async function createBenchNamespace(client: KubeClient): Promise<void> {
  await client.create(namespaces, {
    ...{ apiVersion: "v1", kind: "Namespace", metadata: { name: benchNamespace } },
  });
}

let touches = 0;

/** Changes one object a little, by a merge patch. */
export async function touchObject(client: KubeClient, index: number): Promise<void> {
  const ref = { name: objectName(index), namespace: benchNamespace };
  await client.patch(configMaps, ref, { type: "merge", body: { data: { generation: `live ${touches++}` } } });
}
