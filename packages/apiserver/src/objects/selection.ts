import {
  badRequest,
  type FieldSelector,
  type LabelSelector,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
} from "@meridian/kube";
import type { ApiObject, ServedResource } from "../resource/definition.ts";

/** Which objects of a collection a request is about. */
export interface Selection {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  /** Nothing is filtered out. */
  readonly everything: boolean;
  /** The one name that can match, if the selector fixes it. */
  readonly name?: string;
}

/** Reads `labelSelector` and `fieldSelector`. @throws StatusError 400. */
export function parseSelection(resource: ServedResource, query: URLSearchParams): Selection {
  const labels = parseLabelSelector(query.get("labelSelector") ?? "");
  const fields = parseFieldSelector(query.get("fieldSelector") ?? "");
  for (const { field } of fields.requirements) checkFieldLabel(resource, field);
  const name = fields.requirements.find(
    ({ field, operator }) => field === "metadata.name" && operator === "=",
  )?.value;
  return {
    labels,
    fields,
    everything:
      labels.requirements.length === 0 && labels.nothing !== true && fields.requirements.length === 0,
    ...(name !== undefined && name !== "" && { name }),
  };
}

/** Whether a request for a part of the collection means this object. */
export function matchesSelection(resource: ServedResource, object: ApiObject, selection: Selection): boolean {
  if (selection.everything) return true;
  return (
    matchesLabels(selection.labels, object.metadata.labels) &&
    matchesFields(selection.fields, (field) => fieldText(resource, object, field))
  );
}

function checkFieldLabel(resource: ServedResource, field: string): void {
  const { definition, version } = resource;
  if (field === "metadata.name" || version.selectableFields.has(field)) return;
  if (field === "metadata.namespace" && definition.namespaced) return;
  throw badRequest(`field label not supported: ${field}`);
}

function fieldText(resource: ServedResource, object: ApiObject, field: string): string {
  if (field === "metadata.name") return object.metadata.name ?? "";
  if (field === "metadata.namespace") return object.metadata.namespace ?? "";
  let value: unknown = object;
  for (const name of resource.version.selectableFields.get(field) ?? []) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return "";
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : "";
}
