import type { StructuralSchema } from "@meridian/kube";
import type { ServedResource } from "../resource/definition.ts";

/** A part of an OpenAPI document. */
export type OpenApiNode = { readonly [field: string]: unknown };

/** Name of a kind's schema: the group reversed, version, kind: `io.k8gb.v1beta1.Gslb`. */
export function schemaName({ definition, version }: ServedResource): string {
  const { custom, group, kind } = definition;
  if (custom) return `${group.split(".").reverse().join(".")}.${version.name}.${kind}`;
  return `io.k8s.api.${group === "" ? "core" : (group.split(".")[0] ?? "")}.${version.name}.${kind}`;
}

/** The name of the schema of a resource's lists. */
export function listSchemaName(resource: ServedResource): string {
  return schemaName(resource).replace(/[^.]+$/, resource.definition.listKind);
}

/** What the names of the schemas of `meta/v1` begin with, as in kube-apiserver's documents. */
export const metaPrefix = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** A reference to another schema of the same document. */
export function schemaRef(name: string): OpenApiNode {
  return { $ref: `#/components/schemas/${name}` };
}

/** The published schema of a kind: what it was defined with, its metadata spelled out, and which kind it is. */
export function kindSchema(resource: ServedResource): OpenApiNode {
  const { definition, version } = resource;
  const { properties = {}, ...root } = version.schema.schema;
  return {
    ...root,
    properties: {
      ...properties,
      apiVersion: properties["apiVersion"] ?? apiVersionSchema,
      kind: properties["kind"] ?? kindFieldSchema,
      metadata: {
        description: "Name, labels and everything else that all objects have.",
        default: {},
        allOf: [schemaRef(`${metaPrefix}.ObjectMeta`)],
      },
    },
    "x-kubernetes-group-version-kind": [
      { group: definition.group, version: version.name, kind: definition.kind },
    ],
  };
}

/** The schema of a list of a resource's objects. */
export function listSchema(resource: ServedResource): OpenApiNode {
  const { definition, version } = resource;
  return {
    type: "object",
    description: `${definition.listKind} is a list of ${definition.kind}.`,
    required: ["items"],
    properties: {
      apiVersion: apiVersionSchema,
      kind: kindFieldSchema,
      metadata: { default: {}, allOf: [schemaRef(`${metaPrefix}.ListMeta`)] },
      items: { type: "array", description: "The objects.", items: schemaRef(schemaName(resource)) },
    },
    "x-kubernetes-group-version-kind": [
      { group: definition.group, version: version.name, kind: definition.listKind },
    ],
  };
}

const apiVersionSchema: StructuralSchema = {
  type: "string",
  description: "Group and version of the API that this object is written in, such as `apps/v1`.",
};
const kindFieldSchema: StructuralSchema = { type: "string", description: "What the object is." };

const textNode = (description: string) => ({ type: "string", description });
const timeNode = (description: string) => ({ type: "string", format: "date-time", description });

/** Schemas that all kinds refer to. */
export const sharedSchemas: Readonly<Record<string, OpenApiNode>> = {
  [`${metaPrefix}.ObjectMeta`]: {
    type: "object",
    description: "ObjectMeta is what all objects have.",
    properties: {
      name: textNode("Name, unique among the objects of its kind in its namespace."),
      generateName: textNode("Beginning of a name that the server completes."),
      namespace: textNode("Namespace that the object lives in."),
      uid: textNode("Identity: another object of the same name has another."),
      resourceVersion: textNode(
        "Version of the object. Opaque; a write that names it fails if the object has changed.",
      ),
      generation: { type: "integer", format: "int64", description: "Counts the changes of what is wanted." },
      creationTimestamp: timeNode("When the object was made."),
      deletionTimestamp: timeNode("When its deletion was asked for."),
      deletionGracePeriodSeconds: {
        type: "integer",
        format: "int64",
        description: "How long it may take to end.",
      },
      labels: {
        type: "object",
        description: "What selectors select by.",
        additionalProperties: { type: "string" },
      },
      annotations: {
        type: "object",
        description: "Notes of tools.",
        additionalProperties: { type: "string" },
      },
      finalizers: {
        type: "array",
        description: "Who must agree before the object goes.",
        items: { type: "string" },
        "x-kubernetes-list-type": "set",
        "x-kubernetes-patch-strategy": "merge",
      },
      ownerReferences: {
        type: "array",
        description: "Objects that this one depends on: it goes when all of them are gone.",
        items: schemaRef(`${metaPrefix}.OwnerReference`),
        "x-kubernetes-list-map-keys": ["uid"],
        "x-kubernetes-list-type": "map",
        "x-kubernetes-patch-merge-key": "uid",
        "x-kubernetes-patch-strategy": "merge",
      },
      managedFields: {
        type: "array",
        description: "Who set which fields last.",
        items: { type: "object" },
        "x-kubernetes-list-type": "atomic",
      },
    },
  },
  [`${metaPrefix}.OwnerReference`]: {
    type: "object",
    description: "OwnerReference names an object that another depends on.",
    required: ["apiVersion", "kind", "name", "uid"],
    properties: {
      apiVersion: textNode("Version of its API."),
      kind: textNode("Its kind."),
      name: textNode("Its name."),
      uid: textNode("Its identity."),
      controller: { type: "boolean", description: "Whether it is the one that cares for the object." },
      blockOwnerDeletion: {
        type: "boolean",
        description: "Whether its deletion in the foreground waits for the object.",
      },
    },
    "x-kubernetes-map-type": "atomic",
  },
  [`${metaPrefix}.ListMeta`]: {
    type: "object",
    description: "ListMeta is what all lists have.",
    properties: {
      resourceVersion: textNode("Version that the list shows."),
      continue: textNode("Token for the next page."),
      remainingItemCount: {
        type: "integer",
        format: "int64",
        description: "How many objects come after this page.",
      },
    },
  },
  [`${metaPrefix}.DeleteOptions`]: {
    type: "object",
    description: "DeleteOptions says how to delete.",
    properties: {
      apiVersion: apiVersionSchema,
      kind: kindFieldSchema,
      dryRun: { type: "array", description: "`All` changes nothing.", items: { type: "string" } },
      gracePeriodSeconds: {
        type: "integer",
        format: "int64",
        description: "How long the object may take to end.",
      },
      propagationPolicy: textNode("What becomes of dependents: Background, Foreground or Orphan."),
      preconditions: {
        type: "object",
        description: "What must hold.",
        properties: { uid: textNode("Identity."), resourceVersion: textNode("Version.") },
      },
    },
  },
  [`${metaPrefix}.Status`]: {
    type: "object",
    description: "Status is the answer where there is no object to return.",
    properties: {
      apiVersion: apiVersionSchema,
      kind: kindFieldSchema,
      metadata: { default: {}, allOf: [schemaRef(`${metaPrefix}.ListMeta`)] },
      status: textNode("Success or Failure."),
      message: textNode("What happened, for people."),
      reason: textNode("What happened, for machines."),
      details: { type: "object", description: "More on what happened." },
      code: { type: "integer", format: "int32", description: "HTTP status code." },
    },
    "x-kubernetes-group-version-kind": [{ group: "", version: "v1", kind: "Status" }],
  },
  [`${metaPrefix}.Patch`]: {
    type: "object",
    description: "Patch is a change of an object, in the form of its media type.",
  },
};
