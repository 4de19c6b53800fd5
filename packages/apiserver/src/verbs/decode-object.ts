import {
  badRequest,
  childPath,
  formatTime,
  isJsonObject,
  type JsonObject,
  type ObjectMeta,
  parseTime,
} from "@meridian/kube";
import type { ApiRequest } from "../http/api-request.ts";
import type { DecodedJson } from "../json/json-text.ts";
import { type ApiObject, asObject, type ServedResource, servedApiVersion } from "../resource/definition.ts";
import type { WriteOptions } from "./write-options.ts";

/**
 * Turns a decoded body into an object of the resource: right kind and version, sound metadata, in the namespace of
 * the path.
 *
 * @throws StatusError 400.
 */
export function objectOfBody(request: ApiRequest, value: unknown): ApiObject {
  const { resource, path } = request;
  const object = objectOfKind(resource, value);
  const metadata = { ...soundMetadata(object["metadata"]) };

  const { namespace = "" } = metadata;
  if (!resource.definition.namespaced) delete metadata.namespace;
  else if (namespace === "") metadata.namespace = path.namespace ?? "";
  else if (namespace !== path.namespace) {
    throw badRequest(
      `the namespace of the provided object does not match the namespace sent on the request (${namespace} is not ${path.namespace ?? ""})`,
    );
  }
  if (path.name !== undefined && path.subresource === undefined && metadata.name === undefined)
    metadata.name = path.name;
  if (path.name !== undefined && metadata.name !== undefined && metadata.name !== path.name) {
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${path.name})`,
    );
  }
  return asObject({ ...object, metadata });
}

/** The value with the kind and version of the resource, which it must have or may leave out. @throws StatusError 400. */
export function objectOfKind(resource: ServedResource, value: unknown): JsonObject {
  const { kind, custom } = resource.definition;
  const apiVersion = servedApiVersion(resource);
  if (!isJsonObject(value)) throw badRequest("the body of the request must be a JSON object");
  const object = value;
  const given = { apiVersion: object["apiVersion"] ?? "", kind: object["kind"] ?? "" };
  if (typeof given.apiVersion !== "string" || typeof given.kind !== "string") {
    throw badRequest("apiVersion and kind must be strings");
  }
  if (custom && given.kind === "") throw badRequest("Object 'Kind' is missing in the body of the request");
  if (custom && given.apiVersion === "")
    throw badRequest("Object 'apiVersion' is missing in the body of the request");
  if (given.apiVersion !== "" && given.apiVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${given.apiVersion}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (given.kind !== "" && given.kind !== kind) {
    throw badRequest(`the kind in the data (${given.kind}) does not match the expected kind (${kind})`);
  }
  const { apiVersion: _, kind: __, metadata = {}, ...fields } = object;
  return { apiVersion, kind, metadata, ...fields };
}

/**
 * Reports fields that are unknown to the schema or given twice, as the request's `fieldValidation` wants it.
 *
 * @throws StatusError 400 with `Strict`.
 */
export function checkFields(request: ApiRequest, decoded: DecodedJson, options: WriteOptions): void {
  if (options.fieldValidation === "Ignore") return;
  const problems = fieldProblems(request.resource, decoded);
  if (problems.length === 0) return;
  if (options.fieldValidation === "Strict")
    throw badRequest(`${decodeErrorPrefix(request.resource)}${strictErrorText(problems)}`);
  for (const problem of problems) request.warnings.add(problem);
}

/** One text for each unknown or duplicate field. */
export function fieldProblems(resource: ServedResource, decoded: DecodedJson): readonly string[] {
  return [
    ...decoded.duplicates.map((path) => `duplicate field "${path}"`),
    ...resource.version.schema
      .unknownFields(decoded.value as JsonObject)
      .map((path) => `unknown field "${path}"`),
  ];
}

export function strictErrorText(problems: readonly string[]): string {
  return `strict decoding error: ${problems.join(", ")}`;
}

/** Built-in kinds are decoded by type on a real server, and clients know its wording. */
export function decodeErrorPrefix(resource: ServedResource): string {
  const { kind, custom } = resource.definition;
  return custom ? "" : `${kind} in version "${resource.version.name}" cannot be handled as a ${kind}: `;
}

type MetadataField =
  "string" | "time" | "number" | "strings" | "string map" | "objects" | "managed fields" | "any";

const metadataFields = new Map<string, MetadataField>([
  ["name", "string"],
  ["generateName", "string"],
  ["namespace", "string"],
  ["selfLink", "string"],
  ["uid", "string"],
  ["resourceVersion", "string"],
  ["generation", "number"],
  ["creationTimestamp", "time"],
  ["deletionTimestamp", "time"],
  ["deletionGracePeriodSeconds", "number"],
  ["labels", "string map"],
  ["annotations", "string map"],
  ["ownerReferences", "objects"],
  ["finalizers", "strings"],
  ["managedFields", "managed fields"],
]);

/**
 * The metadata fields that exist, each of its type; `null` and empty collections count as absent.
 *
 * @throws StatusError 400 for a field of another type.
 */
function soundMetadata(value: unknown): { -readonly [Field in keyof ObjectMeta]: ObjectMeta[Field] } {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw badRequest("metadata must be an object");
  const metadata: Record<string, unknown> = {};
  for (const [field, content] of Object.entries(value)) {
    const type = metadataFields.get(field);
    if (type === undefined || content === null) continue;
    if (!isOfType(content, type)) {
      throw badRequest(`cannot decode ${childPath("metadata", field)}: expected ${expectedTexts[type]}`);
    }
    if (field === "selfLink" || (content === "" && field !== "resourceVersion")) continue;
    if (field !== "managedFields" && typeof content === "object" && Object.keys(content).length === 0)
      continue;
    metadata[field] = withWholeSeconds(content, type);
  }
  return metadata;
}

/** Clients that keep times as such send them back with digits after the point, or in another zone. */
function withWholeSeconds(content: unknown, type: MetadataField): unknown {
  if (type === "time") return wholeSeconds(content);
  if (type !== "managed fields") return content;
  return (content as readonly JsonObject[]).map((entry) =>
    entry["time"] === undefined ? entry : { ...entry, time: wholeSeconds(entry["time"]) },
  );
}

function wholeSeconds(content: unknown): unknown {
  const time = typeof content === "string" ? parseTime(content) : undefined;
  return time === undefined ? content : formatTime(time);
}

const expectedTexts: Readonly<Record<MetadataField, string>> = {
  string: "a string",
  time: "a time (RFC 3339)",
  number: "an integer",
  strings: "an array of strings",
  "string map": "an object of strings",
  objects: "an array of objects",
  "managed fields": "an array of objects",
  any: "any value",
};

function isOfType(value: unknown, type: MetadataField): boolean {
  switch (type) {
    case "string":
      return typeof value === "string";
    case "time":
      return value === "" || (typeof value === "string" && parseTime(value) !== undefined);
    case "number":
      return Number.isInteger(value);
    case "strings":
      return Array.isArray(value) && value.every((item) => typeof item === "string");
    case "string map":
      return isJsonObject(value) && Object.values(value).every((item) => typeof item === "string");
    case "objects":
    case "managed fields":
      return Array.isArray(value) && value.every((item) => isJsonObject(item));
    case "any":
      return true;
  }
}
