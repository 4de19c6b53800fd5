import type { StructuralSchema } from "./structural-schema.ts";

const text: StructuralSchema = { type: "string" };
const whole: StructuralSchema = { type: "integer" };
const flag: StructuralSchema = { type: "boolean" };
const texts: StructuralSchema = { type: "object", additionalProperties: text };
const time: StructuralSchema = { type: "string", format: "date-time", nullable: true };

/** The schema of `metadata` of every object (meta/v1 ObjectMeta). */
export const objectMetaSchema: StructuralSchema = {
  type: "object",
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: whole,
    creationTimestamp: time,
    deletionTimestamp: time,
    deletionGracePeriodSeconds: whole,
    labels: texts,
    annotations: texts,
    ownerReferences: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "uid",
      items: {
        type: "object",
        required: ["apiVersion", "kind", "name", "uid"],
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: flag,
          blockOwnerDeletion: flag,
        },
      },
    },
    finalizers: {
      type: "array",
      items: text,
      "x-kubernetes-list-type": "set",
      "x-kubernetes-patch-strategy": "merge",
    },
    managedFields: {
      type: "array",
      items: {
        type: "object",
        properties: {
          manager: text,
          operation: text,
          apiVersion: text,
          time,
          fieldsType: text,
          fieldsV1: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          subresource: text,
        },
      },
    },
  },
};
