import {
  ingressType,
  serviceType,
  type Ingress,
  type KubeObject,
  type ResourceType,
  type Service,
} from "@meridian/kube";
import type { ObjectKind } from "./object-kind.ts";

/** Ingresses. */
export const ingressObjects: ObjectKind<Ingress> = kindOf(ingressType);
/** Services. */
export const serviceObjects: ObjectKind<Service> = kindOf(serviceType);

function kindOf<T extends KubeObject>(type: ResourceType<T>): ObjectKind<T> {
  const { group, plural, kind, namespaced, version } = type;
  return { group, plural, kind, namespaced, versions: [version] };
}
