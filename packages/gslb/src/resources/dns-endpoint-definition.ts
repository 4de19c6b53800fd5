import type { CustomResourceDefinition, StructuralSchema } from "@meridian/kube";
import { dnsEndpointType } from "./resource-types.ts";

const text: StructuralSchema = { type: "string" };
const int64: StructuralSchema = { type: "integer", format: "int64" };

/** external-dns' `dnsendpoints.externaldns.k8s.io`, for clusters that do not have it. */
export const dnsEndpointDefinition: CustomResourceDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: `dnsendpoints.${dnsEndpointType.group}`,
    annotations: {
      "api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/external-dns/pull/2007",
      "controller-gen.kubebuilder.io/version": "v0.5.0",
    },
  },
  spec: {
    group: dnsEndpointType.group,
    scope: "Namespaced",
    names: {
      plural: "dnsendpoints",
      singular: "dnsendpoint",
      kind: "DNSEndpoint",
      listKind: "DNSEndpointList",
    },
    versions: [
      {
        name: "v1alpha1",
        served: true,
        storage: true,
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
                properties: {
                  endpoints: {
                    type: "array",
                    items: {
                      type: "object",
                      properties: {
                        dnsName: text,
                        recordType: text,
                        recordTTL: int64,
                        targets: { type: "array", items: text },
                        labels: { type: "object", additionalProperties: text },
                        setIdentifier: text,
                        providerSpecific: {
                          type: "array",
                          items: { type: "object", properties: { name: text, value: text } },
                        },
                      },
                    },
                  },
                },
              },
              status: { type: "object", properties: { observedGeneration: int64 } },
            },
          },
        },
      },
    ],
  },
};
