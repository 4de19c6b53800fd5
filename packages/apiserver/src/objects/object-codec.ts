import {
  type ApiObject,
  type ResourceDefinition,
  type ServedResource,
  asJson,
  asObject,
  servedApiVersion,
} from "../resource/definition.ts";
import { decodeTrustedJson, encodeJson } from "../json/json-text.ts";
import type { StoredRecord } from "../storage/storage.ts";
import { resourceVersionOf } from "./resource-version.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Encodes an object as it rests in the store: in the stored version, without its resourceVersion. */
export function encodeStored(definition: ResourceDefinition, object: ApiObject): Uint8Array {
  const { resourceVersion: _, ...metadata } = object.metadata;
  const stored: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(object)) {
    stored[definition.stored.renamedFields?.get(field) ?? field] = value;
  }
  return encoder.encode(encodeJson({ ...stored, apiVersion: definition.stored.apiVersion, metadata }));
}

/**
 * Decodes stored objects into the version that a request names. Watchers and lists that see the same record get the
 * same object: it is decoded once per version, for as long as the record is held by anyone.
 */
export class ObjectCodec {
  readonly #decoded = new WeakMap<Uint8Array, Map<ServedResource["version"], ApiObject>>();

  decode(resource: ServedResource, record: StoredRecord): ApiObject {
    let versions = this.#decoded.get(record.value);
    if (versions === undefined) {
      versions = new Map();
      this.#decoded.set(record.value, versions);
    }
    const known = versions.get(resource.version);
    if (known !== undefined) return known;
    const object = decodeStored(resource, record);
    versions.set(resource.version, object);
    return object;
  }
}

function decodeStored(resource: ServedResource, record: StoredRecord): ApiObject {
  const stored = decodeTrustedJson(decoder.decode(record.value)) as ApiObject;
  const { definition } = resource;
  const { apiVersion: _, kind, metadata, ...fields } = stored;
  const object: ApiObject = {
    apiVersion: servedApiVersion(resource),
    kind,
    metadata: { ...metadata, resourceVersion: resourceVersionOf(record.modRevision) },
    ...restoreNames(definition, fields),
  };
  if (!definition.custom) return object;
  const { schema } = resource.version;
  return asObject(schema.applyDefaults(schema.prune(asJson(object))));
}

function restoreNames(
  definition: ResourceDefinition,
  fields: Record<string, unknown>,
): Record<string, unknown> {
  const { renamedFields } = definition.stored;
  if (renamedFields === undefined) return fields;
  const wireNames = new Map([...renamedFields].map(([wire, stored]) => [stored, wire]));
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [wireNames.get(field) ?? field, value]),
  );
}
