import type { CustomResourceDefinition } from "@meridian/kube";
import { dnsEndpointDefinition } from "./dns-endpoint-definition.ts";
import { gslbDefinition, legacyGslbDefinition } from "./gslb-definition.ts";
import { zoneDelegationDefinition } from "./zone-delegation-definition.ts";

/** The CRDs that the balancer needs, ready to be created or applied. */
export const customResourceDefinitions: readonly CustomResourceDefinition[] = [
  gslbDefinition,
  legacyGslbDefinition,
  zoneDelegationDefinition,
  dnsEndpointDefinition,
];
