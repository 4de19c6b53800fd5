import type { KubeClient } from "@meridian/controller";
import { configMapType } from "@meridian/kube";
import { configMap } from "./objects.ts";

/** Some creations, changes and deletions of a few objects; each is acknowledged. */
export async function writeSome(client: KubeClient, namespace: string, round: number): Promise<void> {
  for (let index = 0; index < 12; index++) {
    const ref = { namespace, name: `item-${index % 5}` };
    if (index % 4 === 3) {
      await client.delete(configMapType, { namespace, name: `item-${(index - 1) % 5}` });
      continue;
    }
    const patch = { type: "apply", force: true, fieldManager: "writer" } as const;
    const body = configMap(ref, { value: `${round}.${index}` });
    await client.patch(configMapType, ref, { ...patch, body });
  }
}
