import type { LocalSystem } from "@meridian/runtime";
import { invalidKubeconfig } from "./invalid-kubeconfig.ts";
import { mergeKubeconfigs, parseKubeconfig } from "./kubeconfig.ts";
import type { Kubeconfig } from "./kubeconfig.ts";
import { resolvePath } from "./kubeconfig-path.ts";

/**
 * Reads the kubeconfig that kubectl would use: the file named; else those of the variable `KUBECONFIG`, merged, of which
 * some, but not all, may be missing; else `~/.kube/config`, which may be missing, too (an empty kubeconfig then).
 *
 * @throws ControllerError `InvalidKubeconfig`
 */
export async function loadKubeconfig(
  system: Pick<LocalSystem, "environment" | "homeFolder" | "pathListSeparator" | "readFile">,
  options: { readonly path?: string } = {},
): Promise<Kubeconfig> {
  if (options.path !== undefined) {
    const config = await readOne(system, options.path);
    if (config === undefined) throw invalidKubeconfig("there is no such file", { path: options.path });
    return config;
  }
  const named = (system.environment["KUBECONFIG"] ?? "")
    .split(system.pathListSeparator)
    .filter((path) => path !== "");
  const paths = named.length > 0 ? [...new Set(named)] : [resolvePath(system.homeFolder, ".kube/config")];
  const configs = (await Promise.all(paths.map((path) => readOne(system, path)))).filter(
    (config) => config !== undefined,
  );
  if (named.length > 0 && configs.length === 0) {
    throw invalidKubeconfig("KUBECONFIG names no file that exists", { path: paths.join(", ") });
  }
  return mergeKubeconfigs(configs);
}

async function readOne(system: Pick<LocalSystem, "readFile">, path: string): Promise<Kubeconfig | undefined> {
  let content: Uint8Array;
  try {
    content = await system.readFile(path);
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code === "ENOENT") return undefined;
    throw invalidKubeconfig("it cannot be read", { path, cause });
  }
  return parseKubeconfig(new TextDecoder().decode(content), { path });
}
