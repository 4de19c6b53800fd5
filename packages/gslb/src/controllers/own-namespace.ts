import type { KubeClient } from "@meridian/controller";
import { isAlreadyExists, isNotFound, isStatusError, namespaceType, type Namespace } from "@meridian/kube";

/**
 * Makes sure that the namespace of the operator's own objects exists. In a real cluster it does, since the operator's Pod
 * runs in it, and then it need not be allowed to read or create one.
 */
export async function ensureNamespace(client: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  try {
    await client.get<Namespace>(namespaceType, { name }, { signal });
    return;
  } catch (error) {
    if (isForbidden(error)) return;
    if (!isNotFound(error)) throw error;
  }
  try {
    await client.create<Namespace>(
      namespaceType,
      { apiVersion: "v1", kind: "Namespace", metadata: { name } },
      { signal },
    );
  } catch (error) {
    if (!isForbidden(error) && !isAlreadyExists(error)) throw error;
  }
}

function isForbidden(error: unknown): boolean {
  return isStatusError(error) && error.code === 403;
}
