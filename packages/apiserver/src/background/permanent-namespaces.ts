import { isAlreadyExists } from "@meridian/kube";
import { permanentNamespaces } from "../resource/builtin/namespace.ts";
import type { ApiContext } from "../verbs/api-context.ts";
import { createObject } from "../verbs/create.ts";

/** Makes the namespaces that every cluster has, unless they are there. */
export async function createPermanentNamespaces(context: ApiContext): Promise<void> {
  const namespaces = context.registry.served({ group: "", version: "v1", plural: "namespaces" });
  if (namespaces === undefined) return;
  for (const name of permanentNamespaces) {
    if ((await context.objects.read(namespaces, { name })) !== undefined) continue;
    try {
      await createObject(context, namespaces, {
        object: { apiVersion: "v1", kind: "Namespace", metadata: { name } },
      });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}
