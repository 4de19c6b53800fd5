import { customResourceDefinitions, legacyGslbType } from "@meridian/gslb";
import type { CustomResourceDefinition } from "@meridian/kube";

/**
 * The CRDs without that of the legacy group: kubectl takes the short name `gslb` for the first group in the alphabet, so
 * with both installed `kubectl get gslb` would show the legacy one, which has no objects where k8gb never was.
 */
export function servedDefinitions(): readonly CustomResourceDefinition[] {
  const legacy = `${legacyGslbType.plural}.${legacyGslbType.group}`;
  return customResourceDefinitions.filter(({ metadata }) => metadata.name !== legacy);
}
