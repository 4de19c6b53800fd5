import { tableCell } from "@meridian/kube";
import { type ApiObject, asJson, type ServedResource } from "./definition.ts";
import { partialObject } from "./partial-object.ts";
import type { PrinterColumn } from "./printer-column.ts";

/** What a row says of its object besides the cells. */
export type IncludeObject = "None" | "Metadata" | "Object";

export interface TableOptions {
  readonly metaVersion: "v1" | "v1beta1";
  readonly includeObject: IncludeObject;
  /** Milliseconds since the epoch, for ages. */
  readonly now: number;
  /** Metadata of the list that the table stands for. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** False in later events of a watch: the columns were sent with the first. */
  readonly withColumns: boolean;
}

/** The table that kubectl prints for `objects` (meta.k8s.io Table). */
export function tableOf(
  resource: ServedResource,
  objects: readonly ApiObject[],
  options: TableOptions,
): unknown {
  const columns = tableColumns(resource);
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${options.metaVersion}`,
    metadata: options.metadata,
    columnDefinitions: options.withColumns ? columns.map(columnDefinition) : null,
    rows: objects.map((object) => ({
      cells: columns.map((column) => cellOf(column, object, options.now)),
      object: rowObject(object, options),
    })),
  };
}

/** The columns of a resource: built-in kinds name all of theirs, custom ones those after the name, or none: their age. */
function tableColumns(resource: ServedResource): readonly PrinterColumn[] {
  const { columns } = resource.version;
  if (!resource.definition.custom) return columns;
  return [nameColumn, ...(columns.length === 0 ? [ageColumn] : columns)];
}

/** The first column of every table. */
export const nameColumn: PrinterColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description:
    "Name must be unique within a namespace. It is what requests name the object by, and cannot be changed.",
  cell: ".metadata.name",
};

/** The last column of most tables: how old the object is. */
export const ageColumn: PrinterColumn = {
  name: "Age",
  type: "date",
  description: "How long ago the object was created.",
  cell: ".metadata.creationTimestamp",
};

function columnDefinition(column: PrinterColumn): unknown {
  return {
    name: column.name,
    type: column.type === "date" ? "string" : column.type,
    format: column.format ?? "",
    description: column.description ?? "",
    priority: column.priority ?? 0,
  };
}

function cellOf(column: PrinterColumn, object: ApiObject, now: number): unknown {
  if (typeof column.cell === "function") return column.cell(object, now);
  return tableCell({ type: column.type, jsonPath: column.cell }, asJson(object), now);
}

function rowObject(object: ApiObject, options: TableOptions): unknown {
  switch (options.includeObject) {
    case "None":
      return null;
    case "Metadata":
      return partialObject(object, options.metaVersion);
    case "Object":
      return object;
  }
}
