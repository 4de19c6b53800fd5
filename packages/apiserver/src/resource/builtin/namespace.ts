import type { ResourceDefinition } from "../definition.ts";
import { builtIn } from "./built-in.ts";
import { pathColumn, sizeAt } from "./cells.ts";
import { choice, conditions, kind, list, object, text } from "./schema-nodes.ts";

/** Namespaces that the server makes at its start, and that nobody may delete. */
export const permanentNamespaces: readonly string[] = ["default", "kube-system", "kube-public"];

/** Namespaces (v1): deleting one deletes what is in it. */
export const namespaces: ResourceDefinition = builtIn({
  kind: "Namespace",
  shortNames: ["ns"],
  namespaced: false,
  status: true,
  schema: kind("Namespace divides the names of objects; deleting one deletes everything in it.", {
    spec: object("How the namespace shall be.", {
      finalizers: list("What must be gone before the namespace is.", text("Who removes it.")),
    }),
    status: object("How the namespace is.", {
      phase: choice("Whether it is in use or being deleted.", ["Active", "Terminating"]),
      conditions: conditions(),
    }),
  }),
  columns: [pathColumn("Status", ".status.phase", "Whether the namespace is in use or being deleted.")],
  selectable: ["status.phase"],
  rules: {
    nameRule: "label",
    complete: (namespace, old) => ({
      ...namespace,
      metadata: {
        ...namespace.metadata,
        labels: {
          ...namespace.metadata.labels,
          "kubernetes.io/metadata.name": namespace.metadata.name ?? "",
        },
      },
      ...(old === undefined
        ? {
            spec: { ...asFields(namespace["spec"]), finalizers: ["kubernetes"] },
            status: { phase: "Active" },
          }
        : { spec: namespace["spec"] ?? {}, status: namespace["status"] ?? { phase: "Active" } }),
    }),
    keepOnUpdate: (namespace, old) => ({
      ...namespace,
      spec: { ...asFields(namespace["spec"]), finalizers: asFields(old["spec"])["finalizers"] ?? [] },
    }),
    beginDeletion: (namespace) => ({
      ...namespace,
      status: { ...asFields(namespace["status"]), phase: "Terminating" },
    }),
    holdsDeletion: (namespace) => sizeAt(namespace, "spec", "finalizers") > 0,
    refuseDeletion: (name) =>
      permanentNamespaces.includes(name) ? "this namespace may not be deleted" : undefined,
  },
});

function asFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
