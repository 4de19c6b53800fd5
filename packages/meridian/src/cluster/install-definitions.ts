import { createOrUpdate, type KubeClient } from "@meridian/controller";
import type { KubeObject, ResourceType } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { MeridianError } from "../meridian-error.ts";

const definitionType: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

const establishedWithinMs = 10_000;
const pollMs = 20;

interface Definition extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Creates or updates CRDs and waits until the server serves their kinds. @throws MeridianError `StartFailed` */
export async function installDefinitions(
  runtime: Pick<Runtime, "clock">,
  client: KubeClient,
  definitions: readonly KubeObject[],
): Promise<void> {
  for (const desired of definitions) await createOrUpdate(client, definitionType, { desired });
  const deadline = runtime.clock.monotonicMs() + establishedWithinMs;
  for (const { metadata } of definitions) {
    const name = metadata.name ?? "";
    while (!established(await client.get<Definition>(definitionType, { name }))) {
      if (runtime.clock.monotonicMs() > deadline) {
        throw new MeridianError(
          "StartFailed",
          `the API server does not serve ${name}; read the CRD's conditions`,
        );
      }
      await runtime.clock.sleep(pollMs);
    }
  }
}

function established(definition: Definition): boolean {
  const conditions = definition.status?.conditions ?? [];
  return conditions.some((condition) => condition.type === "Established" && condition.status === "True");
}
