import type { ApiObject, ResourceDefinition, ServedResource } from "../resource/definition.ts";
import type {
  ListResult,
  Revision,
  Storage,
  StorageEvent,
  StoredRecord,
  WatchBatch,
} from "../storage/storage.ts";
import { encodeStored, ObjectCodec } from "./object-codec.ts";
import { resourceVersionOf } from "./resource-version.ts";

/** Where an object lives within its resource. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** An object with the record it was read from: a write names the record's revision. */
export interface StoredObject {
  readonly object: ApiObject;
  readonly record: StoredRecord;
}

/** One change of an object, as seen in one version of its kind. */
export interface ObjectChange {
  /** Absent when the change is the object's deletion. */
  readonly current: ApiObject | undefined;
  /** The object before, carrying its old resourceVersion. */
  readonly previous: ApiObject | undefined;
  readonly revision: Revision;
}

/** Hears of a write that was made. */
export type NoteWrite = (revision: Revision) => void;

const ignoreWrite: NoteWrite = () => {};

/** The root of all keys of the API. */
export const rootKey = "/registry/";

/** Objects over the store of bytes: keys, coding, and writes by expected revision. */
export class ObjectStore {
  readonly storage: Storage;
  readonly #codec: ObjectCodec;
  readonly #noteWrite: NoteWrite;

  constructor(storage: Storage, parts?: { readonly codec: ObjectCodec; readonly note: NoteWrite }) {
    this.storage = storage;
    this.#codec = parts?.codec ?? new ObjectCodec();
    this.#noteWrite = parts?.note ?? ignoreWrite;
  }

  /** The same objects; `note` hears the revision of each write that is made through the store returned. */
  noting(note: NoteWrite): ObjectStore {
    return new ObjectStore(this.storage, { codec: this.#codec, note });
  }

  decode(resource: ServedResource, record: StoredRecord): ApiObject {
    return this.#codec.decode(resource, record);
  }

  async read(resource: ServedResource, ref: ObjectRef): Promise<StoredObject | undefined> {
    const record = await this.storage.get(objectKeyOf(resource.definition, ref));
    return record === undefined ? undefined : { object: this.decode(resource, record), record };
  }

  /** Returns the object as stored, or `undefined` when one of that name exists. */
  async create(resource: ServedResource, object: ApiObject): Promise<ApiObject | undefined> {
    const key = objectKeyOf(resource.definition, refOf(object));
    const written = await this.storage.create(key, encodeStored(resource.definition, object));
    if (written.outcome !== "written") return undefined;
    this.#noteWrite(written.revision);
    return withRevision(object, written.revision);
  }

  /** Returns the object as stored, or `undefined` when the object is no longer at `expected`. */
  async update(
    resource: ServedResource,
    object: ApiObject,
    expected: Revision,
  ): Promise<ApiObject | undefined> {
    const key = objectKeyOf(resource.definition, refOf(object));
    const written = await this.storage.update(key, encodeStored(resource.definition, object), expected);
    if (written.outcome !== "written") return undefined;
    this.#noteWrite(written.revision);
    return withRevision(object, written.revision);
  }

  /** Removes the object; false when it is no longer at the stored object's revision. */
  async remove(resource: ServedResource, stored: StoredObject): Promise<boolean> {
    const key = objectKeyOf(resource.definition, refOf(stored.object));
    const written = await this.storage.delete(key, stored.record.modRevision);
    if (written.outcome !== "written") return false;
    this.#noteWrite(written.revision);
    return true;
  }

  async list(
    resource: ServedResource,
    options: {
      readonly prefix: string;
      readonly limit?: number;
      readonly after?: string;
      readonly revision?: Revision;
    },
  ): Promise<ListResult & { readonly objects: readonly StoredObject[] }> {
    const result = await this.storage.list(options);
    const objects = result.records.map((record) => ({ record, object: this.decode(resource, record) }));
    return { ...result, objects };
  }

  watch(options: {
    readonly prefix: string;
    readonly after: Revision;
    readonly signal: AbortSignal;
  }): AsyncIterable<WatchBatch> {
    return this.storage.watch(options);
  }

  change(resource: ServedResource, event: StorageEvent): ObjectChange {
    return {
      current: event.type === "put" ? this.decode(resource, event.record) : undefined,
      previous: event.previous === undefined ? undefined : this.decode(resource, event.previous),
      revision: event.revision,
    };
  }
}

/** The key prefix of a collection: a whole resource, or its part in one namespace. */
export function collectionPrefix(definition: ResourceDefinition, namespace?: string): string {
  const base = `${rootKey}${definition.stored.folder}/`;
  return namespace === undefined ? base : `${base}${namespace}/`;
}

/** The key under which an object is stored. */
export function objectKeyOf(definition: ResourceDefinition, ref: ObjectRef): string {
  return `${collectionPrefix(definition, definition.namespaced ? (ref.namespace ?? "") : undefined)}${ref.name}`;
}

/** Where an object lives, as its metadata says. */
export function refOf(object: ApiObject): ObjectRef {
  const { name = "", namespace } = object.metadata;
  return namespace === undefined ? { name } : { name, namespace };
}

/** The object with the revision that a write gave it. */
function withRevision(object: ApiObject, revision: Revision): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: resourceVersionOf(revision) } };
}
