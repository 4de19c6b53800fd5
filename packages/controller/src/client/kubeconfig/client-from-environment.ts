import type { LocalSystem, Runtime } from "@meridian/runtime";
import { KubeClient } from "../kube-client.ts";
import { clientFromKubeconfig } from "./connection-from-kubeconfig.ts";
import type { KubeconfigOptions } from "./connection-from-kubeconfig.ts";
import { inClusterConnection, isInCluster } from "./in-cluster.ts";
import { loadKubeconfig } from "./load-kubeconfig.ts";

/** Where to look, and what to choose there. */
export interface EnvironmentOptions extends KubeconfigOptions {
  readonly system: LocalSystem;
  /** A kubeconfig that was named on the command line, for example: nothing else is looked at. */
  readonly kubeconfig?: string;
}

/**
 * The client that a program run by hand or in a Pod wants: from the kubeconfig named; else from the variable `KUBECONFIG`;
 * else, in a Pod, as its service account; else from `~/.kube/config`.
 *
 *     await using client = await clientFromEnvironment(runtime, { system: nodeLocalSystem() });
 *
 * @throws ControllerError `InvalidKubeconfig`, `UnsupportedCredential`
 */
export async function clientFromEnvironment(
  runtime: Pick<Runtime, "clock" | "network">,
  options: EnvironmentOptions,
): Promise<KubeClient> {
  const { system, kubeconfig: path } = options;
  const named =
    path !== undefined || (system.environment["KUBECONFIG"] ?? "") !== "" || options.context !== undefined;
  if (!named && isInCluster(system)) {
    const { userAgent, deadlineMs, rateLimit, onWarning } = options;
    return new KubeClient(runtime, {
      ...(await inClusterConnection(runtime, system)),
      ...(userAgent === undefined ? {} : { userAgent }),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(rateLimit === undefined ? {} : { rateLimit }),
      ...(onWarning === undefined ? {} : { onWarning }),
    });
  }
  return clientFromKubeconfig(
    runtime,
    await loadKubeconfig(system, path === undefined ? {} : { path }),
    options,
  );
}
