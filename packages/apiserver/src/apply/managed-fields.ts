import { isJsonObject, type JsonObject, ownField } from "@meridian/kube";
import { composeFieldsV1, FieldSet, parseFieldsV1 } from "./field-set.ts";

/** What one manager owns, by one way of writing (ObjectMeta `managedFields`). */
export interface ManagerEntry {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339, whole seconds. */
  readonly time: string;
  readonly fields: FieldSet;
}

/** Most entries of updates: older ones become one. */
const updateEntriesMax = 10;
const ancientManager = "ancient-changes";

/** Reads `managedFields`; `undefined` when an entry is malformed, which then count for nothing. */
export function parseManagedFields(
  value: readonly unknown[] | undefined,
): readonly ManagerEntry[] | undefined {
  const entries: ManagerEntry[] = [];
  for (const item of value ?? []) {
    if (!isJsonObject(item)) return undefined;
    if (Object.keys(item).length === 0) continue;
    const operation = ownField(item, "operation");
    const fields = parseFieldsV1(ownField(item, "fieldsV1") ?? {});
    if ((operation !== "Apply" && operation !== "Update") || fields === undefined) return undefined;
    if ((ownField(item, "fieldsType") ?? "FieldsV1") !== "FieldsV1") return undefined;
    entries.push({
      manager: textOf(item, "manager"),
      operation,
      apiVersion: textOf(item, "apiVersion"),
      subresource: textOf(item, "subresource"),
      time: textOf(item, "time"),
      fields,
    });
  }
  return entries;
}

/** Writes `managedFields`: no empty entries, few entries of updates, in the order of the API. */
export function composeManagedFields(entries: readonly ManagerEntry[]): readonly JsonObject[] {
  return bounded(entries.filter(({ fields }) => !fields.isEmpty))
    .sort(
      (a, b) =>
        compareText(a.operation, b.operation) ||
        compareText(a.time, b.time) ||
        compareText(a.manager, b.manager) ||
        compareText(a.apiVersion, b.apiVersion) ||
        compareText(a.subresource, b.subresource),
    )
    .map(({ apiVersion, fields, manager, operation, subresource, time }) => ({
      manager,
      operation,
      apiVersion,
      ...(time !== "" && { time }),
      fieldsType: "FieldsV1",
      fieldsV1: composeFieldsV1(fields),
      ...(subresource !== "" && { subresource }),
    }));
}

/** Whether two entries are of the same manager in the same way. Applies count over all versions of the kind. */
export function sameManager(
  a: Pick<ManagerEntry, "manager" | "operation" | "apiVersion" | "subresource">,
  b: Pick<ManagerEntry, "manager" | "operation" | "apiVersion" | "subresource">,
): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === "Apply" || a.apiVersion === b.apiVersion)
  );
}

function bounded(entries: readonly ManagerEntry[]): ManagerEntry[] {
  const updates = entries
    .filter(({ operation }) => operation === "Update")
    .sort((a, b) => compareText(a.time, b.time));
  if (updates.length <= updateEntriesMax) return [...entries];
  const merged = updates.slice(0, updates.length - updateEntriesMax + 1);
  const last = merged.at(-1);
  if (last === undefined) return [...entries];
  const ancient: ManagerEntry = {
    ...last,
    manager: ancientManager,
    subresource: "",
    fields: merged.reduce((set, { fields }) => set.union(fields), FieldSet.empty),
  };
  return [...entries.filter((entry) => !merged.includes(entry)), ancient];
}

function textOf(item: JsonObject, field: string): string {
  const value = ownField(item, field);
  return typeof value === "string" ? value : "";
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
