import { parse, stringify } from "yaml";

/** What a kubeconfig says of one cluster. */
export interface KubeconfigContent {
  readonly cluster: string;
  /** `https://address:port` */
  readonly server: string;
  readonly caPem: string;
  readonly token: string;
}

/** A kubeconfig with one context. It holds the token, so the file must be readable by its owner only. */
export function kubeconfigText(content: KubeconfigContent): string {
  const { cluster } = content;
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": cluster,
    clusters: [
      {
        name: cluster,
        cluster: {
          server: content.server,
          "certificate-authority-data": Buffer.from(content.caPem).toString("base64"),
        },
      },
    ],
    users: [{ name: `${cluster}-admin`, user: { token: content.token } }],
    contexts: [{ name: cluster, context: { cluster, user: `${cluster}-admin` } }],
  });
}

/** The port that a kubeconfig of ours names; `undefined` where somebody made something else of it. */
export function portOfKubeconfig(text: string): number | undefined {
  try {
    const { clusters } = parse(text) as {
      readonly clusters: readonly { readonly cluster: { server: string } }[];
    };
    const port = Number(new URL(clusters[0]!.cluster.server).port);
    return port > 0 ? port : undefined;
  } catch {
    return undefined;
  }
}
