import type { KubeObject } from "@meridian/kube";

/** The CRDs that the balancer needs, ready to be created or applied. */
export const customResourceDefinitions: readonly KubeObject[] = [];
