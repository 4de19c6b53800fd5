import type { KubeObject } from "@meridian/kube";
import type { ObjectKind } from "./object-kind.ts";

/** One place that requests of a VirtualService go to. */
export interface RouteDestination {
  readonly destination?: { readonly host?: string };
  readonly weight?: number;
}

/** A VirtualService, as far as hosts, Services and gateways go. */
export interface VirtualService extends KubeObject {
  readonly spec?: {
    readonly hosts?: readonly string[];
    /** `namespace/name`, a name in the own namespace, or `mesh`. */
    readonly gateways?: readonly string[];
    readonly http?: readonly { readonly route?: readonly RouteDestination[] }[];
    readonly tls?: readonly { readonly route?: readonly RouteDestination[] }[];
    readonly tcp?: readonly { readonly route?: readonly RouteDestination[] }[];
  };
}

/** An Istio Gateway; its selector chooses the Pods that serve it, and by the same labels their Service. */
export interface IstioGateway extends KubeObject {
  readonly spec?: { readonly selector?: Readonly<Record<string, string>> };
}

const versions = ["v1", "v1beta1", "v1alpha3"];

/** VirtualServices. */
export const virtualServiceObjects: ObjectKind<VirtualService> = {
  ...{ group: "networking.istio.io", plural: "virtualservices", kind: "VirtualService" },
  ...{ namespaced: true, versions },
};

/** Gateways of Istio. */
export const istioGatewayObjects: ObjectKind<IstioGateway> = {
  ...{ group: "networking.istio.io", plural: "gateways", kind: "Gateway" },
  ...{ namespaced: true, versions },
};
