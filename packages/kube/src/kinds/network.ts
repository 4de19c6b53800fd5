import type { KubeObject } from "../metadata.ts";

/** A port of a service. */
export interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: "TCP" | "UDP" | "SCTP";
  readonly appProtocol?: string;
  readonly targetPort?: number | string;
  readonly nodePort?: number;
}

/** One address that a load balancer gave: `status.loadBalancer.ingress` of services and ingresses. */
export interface LoadBalancerIngress {
  readonly ip?: string;
  readonly hostname?: string;
  readonly ipMode?: string;
}

/** A service (v1). */
export interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly ServicePort[];
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly externalIPs?: readonly string[];
    readonly externalName?: string;
    readonly loadBalancerIP?: string;
    readonly loadBalancerClass?: string;
    readonly ipFamilies?: readonly string[];
    readonly ipFamilyPolicy?: string;
    readonly externalTrafficPolicy?: string;
    readonly publishNotReadyAddresses?: boolean;
  };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly LoadBalancerIngress[] } };
}

/** One backend of an endpoint slice. Absent conditions: `ready` and `serving` count as true, `terminating` as false. */
export interface SliceEndpoint {
  readonly addresses: readonly string[];
  readonly conditions?: {
    readonly ready?: boolean | null;
    readonly serving?: boolean | null;
    readonly terminating?: boolean | null;
  };
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly targetRef?: {
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
  };
}

/** Some of a service's backends (discovery.k8s.io/v1); label `kubernetes.io/service-name` names the service. */
export interface EndpointSlice extends KubeObject {
  readonly addressType: "IPv4" | "IPv6" | "FQDN";
  readonly endpoints?: readonly SliceEndpoint[] | null;
  readonly ports?:
    | readonly {
        readonly name?: string | null;
        readonly port?: number | null;
        readonly protocol?: string | null;
        readonly appProtocol?: string | null;
      }[]
    | null;
}

/** Where an ingress sends a request. */
export interface IngressBackend {
  readonly service?: {
    readonly name: string;
    readonly port?: { readonly name?: string; readonly number?: number };
  };
  readonly resource?: { readonly apiGroup?: string; readonly kind: string; readonly name: string };
}

/** One rule of an ingress. Without `host` it is for every host. */
export interface IngressRule {
  readonly host?: string;
  readonly http?: {
    readonly paths: readonly {
      readonly path?: string;
      readonly pathType?: string;
      readonly backend: IngressBackend;
    }[];
  };
}

/** An ingress (networking.k8s.io/v1). */
export interface Ingress extends KubeObject {
  readonly spec?: {
    readonly ingressClassName?: string;
    readonly defaultBackend?: IngressBackend;
    readonly rules?: readonly IngressRule[];
    readonly tls?: readonly { readonly hosts?: readonly string[]; readonly secretName?: string }[];
  };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly LoadBalancerIngress[] } };
}
