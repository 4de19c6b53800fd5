import type { StructuralSchema } from "@meridian/kube";

/** Short forms for schemas that are written by hand. Each node begins with what the field is for. */

type Extra = Omit<StructuralSchema, "type" | "description">;

export function text(description: string, extra: Extra = {}): StructuralSchema {
  return { type: "string", description, ...extra };
}

export function choice(description: string, values: readonly string[], fallback?: string): StructuralSchema {
  return { type: "string", description, enum: values, ...(fallback !== undefined && { default: fallback }) };
}

export function time(description: string): StructuralSchema {
  return { type: "string", format: "date-time", description, nullable: true };
}

export function integer(description: string, extra: Extra = {}): StructuralSchema {
  return { type: "integer", format: "int32", description, ...extra };
}

export function long(description: string, extra: Extra = {}): StructuralSchema {
  return { type: "integer", format: "int64", description, ...extra };
}

export function flag(description: string, extra: Extra = {}): StructuralSchema {
  return { type: "boolean", description, ...extra };
}

export function intOrText(description: string): StructuralSchema {
  return { description, "x-kubernetes-int-or-string": true };
}

export function object(
  description: string,
  properties: Readonly<Record<string, StructuralSchema>>,
  required: readonly string[] = [],
): StructuralSchema {
  return { type: "object", description, properties, ...(required.length > 0 && { required }) };
}

/** An object of texts by any key. */
export function texts(description: string): StructuralSchema {
  return { type: "object", description, additionalProperties: { type: "string" } };
}

/** A value that one manager owns as a whole. */
export function whole(schema: StructuralSchema): StructuralSchema {
  return { ...schema, "x-kubernetes-map-type": "atomic" };
}

/** A list that is replaced as a whole. */
export function list(description: string, items: StructuralSchema): StructuralSchema {
  return { type: "array", description, items, "x-kubernetes-list-type": "atomic" };
}

/** A list whose entries are told apart by `keys`; patches merge by the first of them. */
export function keyedList(
  description: string,
  keys: readonly [string, ...string[]],
  items: StructuralSchema,
): StructuralSchema {
  return {
    type: "array",
    description,
    items,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": keys,
    "x-kubernetes-patch-strategy": "merge",
    "x-kubernetes-patch-merge-key": keys[0],
  };
}

/** An object of any content. */
export function open(
  description: string,
  properties: Readonly<Record<string, StructuralSchema>> = {},
): StructuralSchema {
  return { type: "object", description, properties, "x-kubernetes-preserve-unknown-fields": true };
}

/** The whole of a kind: what every object has, and `properties`. */
export function kind(
  description: string,
  properties: Readonly<Record<string, StructuralSchema>>,
  required: readonly string[] = [],
): StructuralSchema {
  return {
    type: "object",
    description,
    properties: {
      apiVersion: text("Group and version of the API that this object is written in, such as `apps/v1`."),
      kind: text("What the object is."),
      metadata: { type: "object", description: "Name, labels and everything else that all objects have." },
      ...properties,
    },
    ...(required.length > 0 && { required }),
  };
}

/** A kind of which only the outline is known: everything else is kept as it comes. */
export function openKind(
  description: string,
  properties: Readonly<Record<string, StructuralSchema>> = {},
): StructuralSchema {
  return { ...kind(description, properties), "x-kubernetes-preserve-unknown-fields": true };
}

/** The conditions of a status. */
export function conditions(): StructuralSchema {
  return keyedList(
    "What is known of the object now, one entry for each aspect.",
    ["type"],
    object(
      "One aspect of the object's state.",
      {
        type: text("The aspect."),
        status: choice("Whether it holds.", ["True", "False", "Unknown"]),
        observedGeneration: long("The generation of the object that this was found for."),
        lastTransitionTime: time("When the status changed last."),
        lastUpdateTime: time("When this was looked at last."),
        lastHeartbeatTime: time("When its author was heard of last."),
        lastProbeTime: time("When this was probed last."),
        reason: text("A word that says why, for machines."),
        message: text("A sentence that says why, for people."),
      },
      ["type", "status"],
    ),
  );
}

/** A reference to any object. */
export function objectReference(description: string): StructuralSchema {
  return whole(
    object(description, {
      apiVersion: text("Version of the API that the object is written in."),
      kind: text("Kind of the object."),
      namespace: text("Namespace of the object."),
      name: text("Name of the object."),
      uid: text("Identity of the object: another one of the same name has another."),
      resourceVersion: text("Version of the object that is meant."),
      fieldPath: text("The part of the object that is meant."),
    }),
  );
}

/** A label selector in its structured form. */
export function labelSelector(description: string): StructuralSchema {
  return whole(
    object(description, {
      matchLabels: texts("Labels that must have these values."),
      matchExpressions: list(
        "Requirements, all of which must hold.",
        object(
          "One requirement.",
          {
            key: text("The label."),
            operator: text("In, NotIn, Exists or DoesNotExist."),
            values: list("The values of In and NotIn.", { type: "string" }),
          },
          ["key", "operator"],
        ),
      ),
    }),
  );
}
