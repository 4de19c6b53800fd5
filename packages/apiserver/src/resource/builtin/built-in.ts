import { compileSchema, type StructuralSchema } from "@meridian/kube";
import {
  allVerbs,
  type ResourceDefinition,
  type ResourceRules,
  type ResourceVersion,
  type StoredForm,
} from "../definition.ts";
import { ageColumn, nameColumn } from "../table.ts";
import type { PrinterColumn } from "../printer-column.ts";

/** What the table of a built-in kind says; everything else follows the habits of most kinds. */
export interface BuiltIn {
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly plural?: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** True by default. */
  readonly namespaced?: boolean;
  readonly schema: StructuralSchema;
  /** Between name and age. */
  readonly columns?: readonly PrinterColumn[];
  /** Instead of name and age. */
  readonly allColumns?: readonly PrinterColumn[];
  /** Columns that only `-o wide` shows, after the age. */
  readonly wideColumns?: readonly PrinterColumn[];
  readonly status?: boolean;
  readonly scale?: ResourceVersion["scale"];
  /** Fields that selectors may use, as dotted paths, or as label and path where they differ. */
  readonly selectable?: readonly (string | readonly [label: string, path: string])[];
  readonly stored?: StoredForm;
  readonly rules?: Partial<ResourceRules>;
}

/** Completes a table row to a definition. */
export function builtIn(row: BuiltIn): ResourceDefinition {
  const { group = "", kind, version = "v1" } = row;
  const singular = row.singular ?? kind.toLowerCase();
  const plural = row.plural ?? `${singular}s`;
  return {
    group,
    plural,
    singular,
    kind,
    listKind: `${kind}List`,
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    namespaced: row.namespaced ?? true,
    custom: false,
    versions: [versionOf(row, version)],
    stored: row.stored ?? {
      folder: `${group === "" ? "core" : group}/${plural}`,
      apiVersion: group === "" ? version : `${group}/${version}`,
    },
    rules: {
      nameRule: "subdomain",
      tracksGeneration: false,
      allowsUnconditionalUpdate: true,
      allowsCreateOnUpdate: false,
      returnsDeleted: false,
      statusTakesMetadata: true,
      microTimes: [],
      verbs: allVerbs,
      ...row.rules,
    },
  };
}

function versionOf(row: BuiltIn, name: string): ResourceVersion {
  const selectable = (row.selectable ?? []).map((entry): readonly [string, readonly string[]] =>
    typeof entry === "string" ? [entry, entry.split(".")] : [entry[0], entry[1].split(".")],
  );
  return {
    name,
    served: true,
    schema: compileSchema(row.schema),
    hasStatus: row.status ?? false,
    columns: row.allColumns ?? [nameColumn, ...(row.columns ?? []), ageColumn, ...(row.wideColumns ?? [])],
    selectableFields: new Map(selectable),
    ...(row.scale !== undefined && { scale: row.scale }),
  };
}

/** `spec.replicas` and `status.replicas`, with the selector where the kind has one. */
export const replicaScale: NonNullable<ResourceVersion["scale"]> = {
  specReplicas: ["spec", "replicas"],
  statusReplicas: ["status", "replicas"],
  labelSelector: ["spec", "selector"],
};
