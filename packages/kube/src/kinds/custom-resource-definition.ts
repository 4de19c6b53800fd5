import type { KubeObject } from "../metadata.ts";
import type { StructuralSchema } from "../schema/structural-schema.ts";

/** The names of a custom kind. */
export interface CustomResourceNames {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** A column that `kubectl get` prints. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly description?: string;
  readonly format?: string;
  readonly priority?: number;
}

/** One version of a custom kind. */
export interface CustomResourceVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: StructuralSchema };
  readonly subresources?: {
    readonly status?: Readonly<Record<string, never>>;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** One condition of a definition. */
export interface CustomResourceDefinitionCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** A definition of a custom kind (apiextensions.k8s.io/v1). */
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly names: CustomResourceNames;
    readonly scope: "Namespaced" | "Cluster";
    readonly versions: readonly CustomResourceVersion[];
    readonly conversion?: {
      readonly strategy: "None" | "Webhook";
      readonly webhook?: Readonly<Record<string, unknown>>;
    };
    readonly preserveUnknownFields?: boolean;
  };
  readonly status?: {
    readonly conditions?: readonly CustomResourceDefinitionCondition[];
    readonly acceptedNames?: CustomResourceNames;
    readonly storedVersions?: readonly string[];
  };
}
