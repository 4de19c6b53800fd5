import { readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { installed, output } from "./command.ts";

const module = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../e2e/peers/definitions");

/** Files with the CustomResourceDefinitions of others, as their projects publish them. */
export interface PublishedDefinitions {
  /** Of the Gateway API, its experimental channel: the one that serves every version of every route. */
  readonly gatewayApi: readonly string[];
  readonly istio: string;
}

/** Why they cannot be had here, or `undefined` where they can. In CI that Go is missing is no excuse. */
export async function definitionsAbsence(): Promise<string | undefined> {
  if (process.env["CI"] === "true" || (await installed("go"))) return undefined;
  return "no Go to fetch the definitions of the Gateway API and of Istio";
}

/** Fetches the Go modules that hold them, in the versions of `e2e/peers/definitions`; a second time they are there. */
export async function publishedDefinitions(): Promise<PublishedDefinitions> {
  const [gatewayApi, istio] = await Promise.all(["sigs.k8s.io/gateway-api", "istio.io/api"].map(folderOf));
  const channel = path.join(gatewayApi!, "config/crd/experimental");
  const names = (await readdir(channel)).filter((name) =>
    /^gateway\.networking\.k8s\.io_[a-z]+\.yaml$/.test(name),
  );
  return {
    gatewayApi: names.toSorted().map((name) => path.join(channel, name)),
    istio: path.join(istio!, "kubernetes/customresourcedefinitions.gen.yaml"),
  };
}

async function folderOf(name: string): Promise<string> {
  const text = await output("go", ["mod", "download", "-json", name], { cwd: module, timeoutMs: 300_000 });
  return (JSON.parse(text) as { readonly Dir: string }).Dir;
}
