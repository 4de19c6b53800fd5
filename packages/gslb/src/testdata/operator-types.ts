import {
  configMapType,
  customResourceDefinitionType,
  endpointSliceType,
  ingressType,
  namespaceType,
  secretType,
  seriesEventType,
  serviceType,
  type KubeObject,
  type ResourceType,
} from "@meridian/kube";
import { dnsEndpointType, gslbType, legacyGslbType, zoneDelegationType } from "../resources/resource-types.ts";

/** What an API server serves to a whole operator. */
export const operatorTypes: readonly ResourceType<KubeObject>[] = [
  ...[gslbType, legacyGslbType, zoneDelegationType, dnsEndpointType, customResourceDefinitionType],
  ...[ingressType, serviceType, endpointSliceType, configMapType, secretType],
  ...[namespaceType, seriesEventType],
];
