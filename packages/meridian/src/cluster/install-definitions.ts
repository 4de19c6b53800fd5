import { createOrUpdate, type KubeClient } from "@meridian/controller";
import {
  customResourceDefinitionType,
  findCondition,
  type CustomResourceDefinition,
  type KubeObject,
} from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { MeridianError } from "../meridian-error.ts";

const establishedWithinMs = 10_000;
const pollMs = 20;

/** Creates or updates CRDs and waits until the server serves their kinds. @throws MeridianError `StartFailed` */
export async function installDefinitions(
  runtime: Pick<Runtime, "clock">,
  client: KubeClient,
  definitions: readonly KubeObject[],
): Promise<void> {
  for (const desired of definitions)
    await createOrUpdate<KubeObject>(client, customResourceDefinitionType, { desired });
  const deadline = runtime.clock.monotonicMs() + establishedWithinMs;
  for (const { metadata } of definitions) {
    const name = metadata.name ?? "";
    while (!(await isServed(client, name))) {
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

async function isServed(client: KubeClient, name: string): Promise<boolean> {
  const { status } = await client.get<CustomResourceDefinition>(customResourceDefinitionType, { name });
  return findCondition(status?.conditions, "Established")?.status === "True";
}
