import type { Runtime } from "@meridian/runtime";
import { KubeClient } from "./kube-client.ts";
import type { KubeClientOptions, ReadFile } from "./kube-client.ts";

/** Options for reading a kubeconfig. */
export interface KubeconfigOptions {
  /** Default: the file's `current-context`. */
  readonly context?: string;
  /** Reads the files that the kubeconfig names, by their path as written there; needed only where it names some. */
  readonly readFile?: ReadFile;
  readonly userAgent?: string;
}

/** Turns the text of a kubeconfig into a client of its current (or the named) context. */
export async function clientFromKubeconfig(
  runtime: Pick<Runtime, "clock" | "random" | "network">,
  text: string,
  options: KubeconfigOptions = {},
): Promise<KubeClient> {
  return new KubeClient(runtime, await connectionFromKubeconfig(text, options));
}

/** What a context of a kubeconfig says about the server and the user. */
export async function connectionFromKubeconfig(
  _text: string,
  _options: KubeconfigOptions = {},
): Promise<KubeClientOptions & { readonly namespace?: string }> {
  throw new Error("unbuilt");
}
