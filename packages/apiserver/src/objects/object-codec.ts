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

/** Octets of stored objects whose decoded form is kept. The form in memory takes several times as much. */
const decodedBytesMax = 32 * 1024 * 1024;

/**
 * Decodes stored objects into the version that a request names. Watchers and lists that see the same record get the
 * same object: it is decoded once per version, and kept until others were used more recently.
 */
export class ObjectCodec {
  /** By the octets' identity, the least recently used first. */
  readonly #decoded = new Map<Uint8Array, Map<ServedResource["version"], ApiObject>>();
  #bytes = 0;

  decode(resource: ServedResource, record: StoredRecord): ApiObject {
    const { value } = record;
    const versions = this.#decoded.get(value);
    const object = versions?.get(resource.version) ?? decodeStored(resource, record);
    if (versions !== undefined) this.#decoded.delete(value);
    else this.#bytes += value.length;
    this.#decoded.set(
      value,
      (versions ?? new Map<ServedResource["version"], ApiObject>()).set(resource.version, object),
    );
    this.#evict();
    return object;
  }

  #evict(): void {
    for (const value of this.#decoded.keys()) {
      if (this.#bytes <= decodedBytesMax) return;
      this.#decoded.delete(value);
      this.#bytes -= value.length;
    }
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
