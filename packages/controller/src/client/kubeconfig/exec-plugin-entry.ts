import type { LocalSystem, Runtime } from "@meridian/runtime";
import { ControllerError } from "../../controller-error.ts";
import { ExecCredentials } from "./exec-credentials.ts";
import type { KubeconfigEntry } from "./kubeconfig-entry.ts";
import { resolvePath } from "./kubeconfig-path.ts";

const apiVersions: readonly string[] = [
  "client.authentication.k8s.io/v1",
  "client.authentication.k8s.io/v1beta1",
];

/** The plugin that a user of a kubeconfig names. @throws ControllerError `InvalidKubeconfig`, `UnsupportedCredential` */
export function execCredentialsOf(
  runtime: Pick<Runtime, "clock">,
  system: LocalSystem,
  from: { readonly exec: KubeconfigEntry; readonly cluster: KubeconfigEntry },
): ExecCredentials {
  const { exec, cluster } = from;
  const command = exec.text("command");
  if (command === undefined) throw exec.invalid("it has no command");
  const apiVersion = exec.text("apiVersion") ?? "";
  if (!apiVersions.includes(apiVersion)) {
    throw exec.invalid(
      `apiVersion is ${JSON.stringify(apiVersion)}; it must be one of ${apiVersions.join(", ")}`,
    );
  }
  if (exec.text("interactiveMode") === "Always") {
    throw new ControllerError(
      "UnsupportedCredential",
      `${exec.place.label} of the kubeconfig must talk to a person (interactiveMode: Always), and there is none here`,
    );
  }
  const installHint = exec.text("installHint");
  return new ExecCredentials(runtime.clock, system, {
    label: exec.place.label.replace(/^exec of /, ""),
    // A path is relative to the kubeconfig; a bare name is looked up.
    command: /[/\\]/.test(command) ? resolvePath(exec.place.folder, command) : command,
    args: exec.texts("args"),
    environment: Object.fromEntries(
      exec.items("env").map((item) => [item.text("name") ?? "", item.text("value") ?? ""]),
    ),
    apiVersion,
    ...(installHint === undefined ? {} : { installHint }),
    ...(exec.flag("provideClusterInfo") ? { cluster: () => clusterInfo(system, cluster) } : {}),
  });
}

const configExtension = "client.authentication.k8s.io/exec";

/** The cluster as plugins are told of it: all that is needed to reach it, and what its entry says to plugins. */
async function clusterInfo(system: LocalSystem, cluster: KubeconfigEntry): Promise<object> {
  const caFile = cluster.file("certificate-authority");
  const caData =
    cluster.text("certificate-authority-data") ??
    (caFile === undefined ? undefined : Buffer.from(await system.readFile(caFile)).toString("base64"));
  const serverName = cluster.text("tls-server-name");
  const proxyUrl = cluster.text("proxy-url");
  const extension = cluster.items("extensions").find((item) => item.text("name") === configExtension);
  const config = extension?.value("extension");
  return {
    server: cluster.text("server"),
    ...(serverName === undefined ? {} : { "tls-server-name": serverName }),
    ...(cluster.flag("insecure-skip-tls-verify") ? { "insecure-skip-tls-verify": true } : {}),
    ...(caData === undefined ? {} : { "certificate-authority-data": caData }),
    ...(proxyUrl === undefined ? {} : { "proxy-url": proxyUrl }),
    ...(config === undefined ? {} : { config }),
  };
}
