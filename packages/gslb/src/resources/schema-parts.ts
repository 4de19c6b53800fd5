import type { StructuralSchema } from "@meridian/kube";

/** k8gb's CRDs carry it; tools compare it. */
export const generatorAnnotation: Readonly<Record<string, string>> = {
  "controller-gen.kubebuilder.io/version": "v0.21.0",
};

/** `status.conditions` as the API conventions describe them. */
export const conditionsSchema: StructuralSchema = {
  type: "array",
  items: {
    type: "object",
    required: ["lastTransitionTime", "message", "reason", "status", "type"],
    properties: {
      lastTransitionTime: { type: "string", format: "date-time" },
      message: { type: "string", maxLength: 32768 },
      observedGeneration: { type: "integer", format: "int64", minimum: 0 },
      reason: {
        type: "string",
        minLength: 1,
        maxLength: 1024,
        pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
      },
      status: { type: "string", enum: ["True", "False", "Unknown"] },
      type: { type: "string", maxLength: 316 },
    },
  },
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
};
