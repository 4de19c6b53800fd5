import type { KubeClient } from "@meridian/controller";
import { dnsKeysLabel, peerKeyName } from "@meridian/gslb";
import { isAlreadyExists, namespaceType, secretType, type Namespace, type Secret } from "@meridian/kube";

/**
 * Makes the Secret that has the key of the fleet, with its namespace. One that is there stays as it is: a person may have
 * given the clusters another key.
 */
export async function installPeerKey(
  client: Pick<KubeClient, "create">,
  { namespace, keyFile }: { readonly namespace: string; readonly keyFile: string },
): Promise<void> {
  await unlessThere(
    client.create<Namespace>(namespaceType, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: namespace },
    }),
  );
  await unlessThere(
    client.create<Secret>(secretType, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: peerKeyName, namespace, labels: { [dnsKeysLabel]: "tsig" } },
      stringData: { "peers.key": keyFile },
    }),
  );
}

async function unlessThere(created: Promise<unknown>): Promise<void> {
  try {
    await created;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
