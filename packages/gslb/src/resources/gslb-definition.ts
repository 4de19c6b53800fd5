import type { CustomResourceDefinition, PrinterColumn, StructuralSchema } from "@meridian/kube";
import type { GslbConditionType } from "../decide/gslb-conditions.ts";
import { conditionsSchema, generatorAnnotation } from "./schema-parts.ts";
import { gslbType, legacyGslbType } from "./resource-types.ts";

const text: StructuralSchema = { type: "string" };
const integer: StructuralSchema = { type: "integer" };
const texts: StructuralSchema = { type: "array", items: text };
const atomicTexts: StructuralSchema = { ...texts, "x-kubernetes-list-type": "atomic" };
const textMap: StructuralSchema = { type: "object", additionalProperties: text };

const backend: StructuralSchema = {
  type: "object",
  properties: {
    resource: {
      type: "object",
      required: ["kind", "name"],
      properties: { apiGroup: text, kind: text, name: text },
      "x-kubernetes-map-type": "atomic",
    },
    service: {
      type: "object",
      required: ["name"],
      properties: {
        name: text,
        port: {
          type: "object",
          properties: { name: text, number: { type: "integer", format: "int32" } },
          "x-kubernetes-map-type": "atomic",
        },
      },
    },
  },
};

const ingress: StructuralSchema = {
  type: "object",
  properties: {
    ingressClassName: text,
    backend,
    tls: {
      type: "array",
      items: { type: "object", properties: { hosts: atomicTexts, secretName: text } },
    },
    rules: {
      type: "array",
      items: {
        type: "object",
        required: ["http"],
        properties: {
          host: text,
          http: {
            type: "object",
            required: ["paths"],
            properties: {
              paths: {
                type: "array",
                items: {
                  type: "object",
                  required: ["backend", "pathType"],
                  properties: { backend, path: text, pathType: text },
                },
                "x-kubernetes-list-type": "atomic",
              },
            },
          },
        },
      },
    },
  },
};

const resourceRef: StructuralSchema = {
  type: "object",
  description:
    "The object whose hosts are balanced: Ingress, Service, VirtualService or a route, by name or as the one that the labels match.",
  properties: {
    apiVersion: text,
    kind: text,
    name: text,
    namespace: text,
    fieldPath: text,
    resourceVersion: text,
    uid: text,
    matchLabels: textMap,
    matchExpressions: {
      type: "array",
      items: {
        type: "object",
        required: ["key", "operator"],
        properties: { key: text, operator: text, values: atomicTexts },
      },
      "x-kubernetes-list-type": "atomic",
    },
  },
  "x-kubernetes-map-type": "atomic",
};

const strategy: StructuralSchema = {
  type: "object",
  required: ["type"],
  description: "How the clusters that answer are chosen.",
  properties: {
    type: { type: "string", description: "roundRobin, failover or geoip." },
    weight: {
      type: "object",
      additionalProperties: integer,
      description: "Shares of the answers by geo tag, for roundRobin: {eu: 5, us: 3}.",
    },
    primaryGeoTag: {
      type: "string",
      description: "The cluster that answers alone while it is healthy, for failover.",
    },
    dnsTtlSeconds: { type: "integer", description: "How long resolvers may keep an answer; 30 by default." },
    splitBrainThresholdSeconds: {
      type: "integer",
      description: "How long the last targets of an unreachable cluster are believed; not at all by default.",
    },
  },
};

const serviceHealthPolicy: StructuralSchema = {
  type: "string",
  enum: ["Any", "All"],
  default: "Any",
  description: "Whether one healthy Service behind a host is enough, or all must be.",
};

const status: StructuralSchema = {
  type: "object",
  required: ["geoTag", "healthyRecords", "serviceHealth"],
  properties: {
    serviceHealth: textMap,
    healthyRecords: { type: "object", additionalProperties: texts },
    geoTag: text,
    hosts: text,
    loadBalancer: { type: "object", properties: { exposedIps: texts } },
    servers: {
      type: "array",
      items: {
        type: "object",
        properties: {
          host: text,
          services: {
            type: "array",
            items: {
              type: "object",
              required: ["name", "namespace"],
              properties: { name: text, namespace: text },
            },
          },
        },
      },
    },
    conditions: conditionsSchema,
    observedGeneration: { type: "integer", format: "int64" },
  },
};

function definition(
  group: string,
  specProperties: Readonly<Record<string, StructuralSchema>>,
  moreColumns: readonly PrinterColumn[] = [],
): CustomResourceDefinition {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `gslbs.${group}`, annotations: generatorAnnotation },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "gslbs", singular: "gslb", kind: "Gslb", listKind: "GslbList" },
      versions: [
        {
          name: "v1beta1",
          served: true,
          storage: true,
          additionalPrinterColumns: [
            { name: "strategy", type: "string", jsonPath: ".spec.strategy.type" },
            { name: "geoTag", type: "string", jsonPath: ".status.geoTag" },
            { name: "hosts", type: "string", jsonPath: ".status.hosts", priority: 1 },
            ...moreColumns,
          ],
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                apiVersion: text,
                kind: text,
                metadata: { type: "object" },
                spec: {
                  type: "object",
                  required: ["strategy"],
                  description: "Which hosts are balanced, and how the clusters that answer are chosen.",
                  properties: specProperties,
                },
                status,
              },
            },
          },
        },
      ],
    },
  };
}

/** Whether something is to be done, for `kubectl get -o wide`. */
function conditionColumn(type: GslbConditionType): PrinterColumn {
  const jsonPath = `.status.conditions[?(@.type=="${type}")].status`;
  return { name: type, type: "string", jsonPath, priority: 1 };
}

/** k8gb's `gslbs.k8gb.io` with `status.conditions`, `status.observedGeneration` and columns of conditions added. */
export const gslbDefinition: CustomResourceDefinition = definition(
  gslbType.group,
  { strategy, serviceHealthPolicy, resourceRef, ingress },
  [conditionColumn("Accepted"), conditionColumn("ResolvedRefs"), conditionColumn("Healthy")],
);

/** The legacy group's definition: the same without `serviceHealthPolicy`. */
export const legacyGslbDefinition: CustomResourceDefinition = definition(legacyGslbType.group, {
  strategy,
  resourceRef,
  ingress,
});
