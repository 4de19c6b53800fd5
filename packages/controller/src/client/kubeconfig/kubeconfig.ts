import { parse } from "yaml";
import { invalidKubeconfig } from "./invalid-kubeconfig.ts";
import { folderOf } from "./kubeconfig-path.ts";
import { KubeconfigEntry } from "./kubeconfig-entry.ts";

/**
 * A kubeconfig, from one file or merged from several, as far as it could be checked without using it. Names are the keys;
 * what stands behind them is read by `connectionFromKubeconfig`.
 */
export interface Kubeconfig {
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, KubeconfigEntry>;
  readonly clusters: ReadonlyMap<string, KubeconfigEntry>;
  readonly users: ReadonlyMap<string, KubeconfigEntry>;
}

/** The place of a kubeconfig's text. */
export interface KubeconfigSource {
  /** The file that the text is from: paths in it are relative to its folder, and renewed tokens are written to it. */
  readonly path?: string;
}

/**
 * Reads the text of one kubeconfig. An empty text is an empty kubeconfig.
 *
 * @throws ControllerError `InvalidKubeconfig`; the text itself, which may hold secrets, never stands in the message
 */
export function parseKubeconfig(text: string, source: KubeconfigSource = {}): Kubeconfig {
  let config: unknown;
  try {
    // Its warnings would go to the console, with the line that they are about.
    config = parse(text, { logLevel: "error" });
  } catch (cause) {
    // The parser quotes the line at fault, which may hold a token or a key: its words stay out of the message.
    const line = (cause as { readonly linePos?: readonly { readonly line: number }[] }).linePos?.[0]?.line;
    throw invalidKubeconfig(`it is not YAML${line === undefined ? "" : ` (line ${line})`}`, source);
  }
  if (config === null || config === undefined) config = {};
  if (typeof config !== "object" || Array.isArray(config)) {
    throw invalidKubeconfig("it is no YAML mapping", source);
  }
  const fields = config as Readonly<Record<string, unknown>>;
  const current = fields["current-context"] ?? "";
  if (typeof current !== "string") throw invalidKubeconfig("current-context is no text", source);
  return {
    currentContext: current === "" ? undefined : current,
    contexts: entries(fields, "context", source),
    clusters: entries(fields, "cluster", source),
    users: entries(fields, "user", source),
  };
}

/** Several kubeconfigs as one, as kubectl merges them: whoever names something first has named it. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merged = (list: "contexts" | "clusters" | "users"): ReadonlyMap<string, KubeconfigEntry> =>
    new Map(configs.toReversed().flatMap((config) => [...config[list]]));
  return {
    currentContext: configs.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    contexts: merged("contexts"),
    clusters: merged("clusters"),
    users: merged("users"),
  };
}

function entries(
  fields: Readonly<Record<string, unknown>>,
  field: "context" | "cluster" | "user",
  source: KubeconfigSource,
): ReadonlyMap<string, KubeconfigEntry> {
  const list = `${field}s`;
  const items = fields[list] ?? [];
  if (!Array.isArray(items)) throw invalidKubeconfig(`${list} is no list`, source);
  const found = new Map<string, KubeconfigEntry>();
  for (const item of items as readonly unknown[]) {
    const { name, [field]: value } = (item ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof name !== "string" || name === "") {
      throw invalidKubeconfig(`an item of ${list} has no name`, source);
    }
    if (found.has(name)) continue;
    const label = `${field} ${JSON.stringify(name)}`;
    found.set(
      name,
      new KubeconfigEntry(value ?? {}, {
        label,
        name,
        ...(source.path === undefined ? {} : { path: source.path, folder: folderOf(source.path) }),
      }),
    );
  }
  return found;
}
