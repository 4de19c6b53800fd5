import type { Condition, KubeObject } from "@meridian/kube";
import type { ObjectKind } from "./object-kind.ts";

/** The group of the Gateway API. */
export const gatewayGroup = "gateway.networking.k8s.io";

/** What a route attaches to. Absent `kind`: a Gateway; absent `namespace`: the route's own. */
export interface ParentReference {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

/** What serves requests of a route. Absent `weight` means 1, and 0 that nothing is sent there. */
export interface BackendReference {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly weight?: number;
}

/** What the routes have in common; of TCPRoute and UDPRoute nothing names a host. */
export interface Route extends KubeObject {
  readonly spec?: {
    readonly hostnames?: readonly string[];
    readonly parentRefs?: readonly ParentReference[];
    readonly rules?: readonly { readonly backendRefs?: readonly BackendReference[] }[];
  };
  /** What the controllers of its parents say. */
  readonly status?: {
    readonly parents?: readonly {
      readonly parentRef?: ParentReference;
      readonly conditions?: readonly Condition[];
    }[];
  };
}

/** What a Gateway takes requests by. Absent `hostname`: for every name. */
export interface Listener {
  readonly name: string;
  readonly hostname?: string;
  readonly port?: number;
  readonly protocol?: string;
}

/** A Gateway, as far as hosts and addresses go. */
export interface Gateway extends KubeObject {
  readonly spec?: {
    readonly listeners?: readonly Listener[];
  };
  readonly status?: {
    readonly addresses?: readonly { readonly type?: string; readonly value: string }[];
    readonly conditions?: readonly Condition[];
  };
}

/** Listeners of somebody else for a Gateway; routes may attach to it in place of the Gateway. */
export interface ListenerSet extends KubeObject {
  readonly spec?: {
    readonly parentRef?: {
      readonly group?: string;
      readonly kind?: string;
      readonly namespace?: string;
      readonly name: string;
    };
    readonly listeners?: readonly Listener[];
  };
}

/** What others may refer to in its namespace. Absent `name` in `to`: every object of the kind. */
export interface ReferenceGrant extends KubeObject {
  readonly spec?: {
    readonly from?: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[];
    readonly to?: readonly { readonly group: string; readonly kind: string; readonly name?: string }[];
  };
}

/** Every version that the kind was served in since it was usable; they differ in nothing that is read here. */
function kindOf<T extends KubeObject>(kind: string, ...versions: readonly string[]): ObjectKind<T> {
  return { group: gatewayGroup, plural: `${kind.toLowerCase()}s`, kind, namespaced: true, versions };
}

/** HTTPRoutes. */
export const httpRouteObjects: ObjectKind<Route> = kindOf("HTTPRoute", "v1", "v1beta1", "v1alpha2");
/** GRPCRoutes. */
export const grpcRouteObjects: ObjectKind<Route> = kindOf("GRPCRoute", "v1", "v1beta1", "v1alpha2");
/** TLSRoutes. */
export const tlsRouteObjects: ObjectKind<Route> = kindOf("TLSRoute", "v1", "v1alpha3", "v1alpha2");
/** TCPRoutes. */
export const tcpRouteObjects: ObjectKind<Route> = kindOf("TCPRoute", "v1", "v1alpha2");
/** UDPRoutes. */
export const udpRouteObjects: ObjectKind<Route> = kindOf("UDPRoute", "v1", "v1alpha2");
/** Gateways of the Gateway API. */
export const gatewayObjects: ObjectKind<Gateway> = kindOf("Gateway", "v1", "v1beta1", "v1alpha2");
/** ListenerSets. */
export const listenerSetObjects: ObjectKind<ListenerSet> = kindOf("ListenerSet", "v1");
/** ReferenceGrants. */
export const referenceGrantObjects: ObjectKind<ReferenceGrant> = kindOf(
  "ReferenceGrant",
  "v1",
  "v1beta1",
  "v1alpha2",
);
