import type { ApiObject, ServedResource } from "../resource/definition.ts";
import { compareFields } from "./field-ownership.ts";
import { FieldSet } from "./field-set.ts";
import {
  composeManagedFields,
  type ManagerEntry,
  parseManagedFields,
  sameManager,
} from "./managed-fields.ts";
import { withObjectMeta } from "./typed-value.ts";

/** Who changed what, for the managed fields of an object. */
export interface UpdateRecord {
  /** Absent on create. */
  readonly old: ApiObject | undefined;
  readonly manager: string;
  /** RFC 3339, whole seconds. */
  readonly time: string;
  readonly subresource?: string;
}

/**
 * Gives the fields that an update set to its manager, and takes those that it set or removed from all others. Pure.
 *
 * The object's own managed fields are the state before: those that were stored, or those that the client sent.
 */
export function recordUpdate(resource: ServedResource, object: ApiObject, record: UpdateRecord): ApiObject {
  const schema = withObjectMeta(resource.version.schema.schema);
  const before: ApiObject = record.old ?? { apiVersion: object.apiVersion, kind: object.kind, metadata: {} };
  const entries =
    parseManagedFields(object.metadata.managedFields) ??
    parseManagedFields(before.metadata.managedFields) ??
    [];
  const { removed, set } = compareFields(before, object, schema);
  if (removed.isEmpty && set.isEmpty) return withEntries(object, entries);

  const own: Omit<ManagerEntry, "time" | "fields"> = {
    manager: record.manager,
    operation: "Update",
    apiVersion: object.apiVersion,
    subresource: record.subresource ?? "",
  };
  const gone = removed.union(set);
  const others = entries
    .filter((entry) => !sameManager(entry, own))
    .map((entry) => ({ ...entry, fields: entry.fields.difference(gone) }));
  const ownBefore = entries.find((entry) => sameManager(entry, own));
  const fields = (ownBefore?.fields ?? FieldSet.empty).difference(removed).union(set);
  const unchanged = ownBefore !== undefined && fields.equals(ownBefore.fields);
  return withEntries(object, [...others, { ...own, fields, time: unchanged ? ownBefore.time : record.time }]);
}

/** The object with these managers. */
export function withEntries(object: ApiObject, entries: readonly ManagerEntry[]): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  const managedFields = composeManagedFields(entries);
  return { ...object, metadata: { ...metadata, ...(managedFields.length > 0 && { managedFields }) } };
}
