import type { CustomResourceDefinition, StructuralSchema } from "@meridian/kube";
import { conditionsSchema, generatorAnnotation } from "./schema-parts.ts";
import { zoneDelegationType } from "./resource-types.ts";

const text: StructuralSchema = { type: "string" };

/** k8gb's `zonedelegations.k8gb.io` with `status.conditions` and `status.observedGeneration` added. */
export const zoneDelegationDefinition: CustomResourceDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `zonedelegations.${zoneDelegationType.group}`, annotations: generatorAnnotation },
  spec: {
    group: zoneDelegationType.group,
    scope: "Cluster",
    names: {
      plural: "zonedelegations",
      singular: "zonedelegation",
      kind: "ZoneDelegation",
      listKind: "ZoneDelegationList",
      shortNames: ["zd"],
    },
    versions: [
      {
        name: "v1beta1",
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: "LoadBalancedZone", type: "string", jsonPath: ".spec.loadBalancedZone" },
          { name: "ParentZone", type: "string", jsonPath: ".spec.parentZone" },
          { name: "NegTTL", type: "integer", jsonPath: ".spec.dnsZoneNegTTL" },
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
                required: ["dnsZoneNegTTL", "loadBalancedZone", "parentZone"],
                properties: {
                  loadBalancedZone: text,
                  parentZone: text,
                  dnsZoneNegTTL: { type: "integer" },
                  doFinalize: { type: "boolean", default: false },
                },
                "x-kubernetes-validations": [
                  {
                    rule: "self.loadBalancedZone != self.parentZone",
                    message: "loadBalancedZone must not equal parentZone",
                  },
                  {
                    rule: "self.loadBalancedZone.endsWith('.' + self.parentZone)",
                    message: "loadBalancedZone must be subdomain",
                  },
                ],
              },
              status: {
                type: "object",
                properties: {
                  dnsServers: {
                    type: "array",
                    items: {
                      type: "object",
                      required: ["address", "name"],
                      properties: { address: text, name: text },
                    },
                  },
                  conditions: conditionsSchema,
                  observedGeneration: { type: "integer", format: "int64" },
                },
              },
            },
          },
        },
      },
    ],
  },
};
