import type { LocalSystem, Runtime } from "@meridian/runtime";
import type { KubeClientOptions } from "../client-options.ts";
import { ControllerError } from "../../controller-error.ts";
import { TlsFiles } from "../tls-source.ts";
import { TokenFile } from "../token-file.ts";

/** Where kubelet puts what a Pod's service account needs. */
const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** True in a Pod that has a service account. */
export function isInCluster(system: Pick<LocalSystem, "environment">): boolean {
  return serverOf(system) !== undefined;
}

/**
 * The connection of a Pod to its own cluster, as its service account: address from the environment, token and CA from
 * files, both followed when kubelet replaces them. No proxy is used.
 *
 * @throws ControllerError `InvalidKubeconfig` outside of a Pod
 */
export async function inClusterConnection(
  runtime: Pick<Runtime, "clock">,
  system: Pick<LocalSystem, "environment" | "readFile">,
): Promise<KubeClientOptions> {
  const origin = serverOf(system);
  if (origin === undefined) {
    throw new ControllerError(
      "InvalidKubeconfig",
      "this is no Pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; use a kubeconfig",
    );
  }
  const namespace = await system
    .readFile(`${accountFolder}/namespace`)
    .then((content) => new TextDecoder().decode(content).trim())
    .catch(() => "");
  return {
    origin,
    namespace: namespace === "" ? "default" : namespace,
    credentials: new TokenFile(runtime.clock, system, `${accountFolder}/token`),
    tls: new TlsFiles(runtime.clock, system, { settings: {}, files: { caPem: `${accountFolder}/ca.crt` } }),
  };
}

function serverOf({ environment }: Pick<LocalSystem, "environment">): string | undefined {
  const host = environment["KUBERNETES_SERVICE_HOST"] ?? "";
  const port = environment["KUBERNETES_SERVICE_PORT"] ?? "";
  if (host === "" || port === "") return undefined;
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
