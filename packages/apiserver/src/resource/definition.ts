import type { CompiledSchema, JsonObject, KubeObject, StatusCause } from "@meridian/kube";
import type { PrinterColumn } from "./printer-column.ts";

/** Any object of the API as the server handles it. Objects are shared between requests: nobody changes one in place. */
export type ApiObject = KubeObject & { readonly [field: string]: unknown };

/** An object as plain JSON, for functions that know nothing of kinds. */
export function asJson(object: ApiObject): JsonObject {
  return object as unknown as JsonObject;
}

/** The reverse of `asJson`, for results that still are objects of the API. */
export function asObject(value: unknown): ApiObject {
  return value as ApiObject;
}

/** A built-in kind or a custom one: everything the one handler of all resources needs to know about it. */
export interface ResourceDefinition {
  /** API group; empty for the core group. */
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** Custom resources differ from built-in ones in wire habits: no strategic merge, kinds in list items. */
  readonly custom: boolean;
  /** In order of preference. */
  readonly versions: readonly ResourceVersion[];
  /** How objects rest in the store. */
  readonly stored: StoredForm;
  /** Set while the definition itself is being deleted: no new objects then. */
  readonly terminating?: boolean;
  readonly rules: ResourceRules;
}

/** One version of a kind. */
export interface ResourceVersion {
  readonly name: string;
  readonly served: boolean;
  readonly schema: CompiledSchema;
  /** Whether `status` is written through its own subresource only. */
  readonly hasStatus: boolean;
  readonly scale?: ScalePaths;
  readonly columns: readonly PrinterColumn[];
  /** Field selectors beyond `metadata.name` and `metadata.namespace`: label → path. */
  readonly selectableFields: ReadonlyMap<string, readonly string[]>;
  /** Sent as a warning with each answer. */
  readonly deprecationWarning?: string;
}

/** Where in the objects `/scale` reads and writes; dotted paths without a leading dot. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  readonly labelSelector?: readonly string[];
}

/** How objects of a kind rest in the store. */
export interface StoredForm {
  /** Folder below the root of all keys, such as `core/pods`. */
  readonly folder: string;
  readonly apiVersion: string;
  /** Top-level fields that have another name in the store: name on the wire → stored name. */
  readonly renamedFields?: ReadonlyMap<string, string>;
}

export type NameRule = "subdomain" | "label" | "label-1035" | "path-segment";

/** Habits in which kinds differ, as data. */
export interface ResourceRules {
  readonly nameRule: NameRule;
  /** Whether `metadata.generation` counts the changes of the specification. */
  readonly tracksGeneration: boolean;
  /** Whether an update may leave out the resourceVersion that it saw. */
  readonly allowsUnconditionalUpdate: boolean;
  /** Whether an update of a missing object creates it. */
  readonly allowsCreateOnUpdate: boolean;
  /** Whether a deletion answers the object that was deleted, not a Status. */
  readonly returnsDeleted: boolean;
  /** Whether status writes also take labels and annotations. */
  readonly statusTakesMetadata: boolean;
  /** Paths of MicroTime fields: stored with six digits after the point. */
  readonly microTimes: readonly (readonly string[])[];
  readonly verbs: readonly Verb[];
  /** Completes an object on its way in: fields that the server owns. `old` is absent on create. */
  readonly complete?: (object: ApiObject, old: ApiObject | undefined) => ApiObject;
  /** Puts back what an update of the object may not change, and does not fail for. */
  readonly keepOnUpdate?: (object: ApiObject, old: ApiObject) => ApiObject;
  /** Fields of keyed lists in which a key may repeat: typed servers check only some of them. */
  readonly mayRepeat?: RegExp;
  /** Rules that no schema can express. */
  readonly validate?: (object: ApiObject, old: ApiObject | undefined) => readonly StatusCause[];
  /** What changes in the object when its deletion begins. */
  readonly beginDeletion?: (object: ApiObject) => ApiObject;
  /** Whether the object must stay although its finalizers are empty. */
  readonly holdsDeletion?: (object: ApiObject) => boolean;
  /** Seconds that a deletion grants the object, given what the client asked for. 0 for kinds without. */
  readonly gracePeriodSeconds?: (object: ApiObject, asked: number | undefined) => number;
  /** Why this object may not be deleted at all. */
  readonly refuseDeletion?: (name: string) => string | undefined;
}

export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

export const allVerbs: readonly Verb[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

/** A resource in the version that a request names. */
export interface ServedResource {
  readonly definition: ResourceDefinition;
  readonly version: ResourceVersion;
}

/** `apiVersion` of objects that are served as `resource`. */
export function servedApiVersion(resource: ServedResource): string {
  const { group } = resource.definition;
  return group === "" ? resource.version.name : `${group}/${resource.version.name}`;
}

/** The group and plural that errors name. */
export function groupResourceOf(definition: ResourceDefinition): {
  readonly group: string;
  readonly plural: string;
} {
  return { group: definition.group, plural: definition.plural };
}
