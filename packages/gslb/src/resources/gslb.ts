import type { Condition, KubeObject } from "@meridian/kube";
import type { ServiceHealthPolicy } from "../decide/health.ts";

/** A name to be balanced over clusters (`gslbs.k8gb.io`). As stored: nothing in it has been checked by us. */
export interface Gslb extends KubeObject {
  readonly spec?: GslbSpec;
  readonly status?: GslbStatus;
}

/** What a Gslb asks for. */
export interface GslbSpec {
  readonly strategy?: GslbStrategy;
  readonly serviceHealthPolicy?: ServiceHealthPolicy;
  /** What serves the hosts. Where it is absent or empty, `ingress` is. */
  readonly resourceRef?: ResourceReference;
  readonly ingress?: EmbeddedIngress;
}

/** How clusters are chosen; times in seconds. */
export interface GslbStrategy {
  readonly type?: string;
  readonly weight?: Readonly<Record<string, number>>;
  readonly primaryGeoTag?: string;
  readonly dnsTtlSeconds?: number;
  readonly splitBrainThresholdSeconds?: number;
}

/** An object reference and a label selector in one. A name wins over a selector. */
export interface ResourceReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly fieldPath?: string;
  readonly resourceVersion?: string;
  readonly uid?: string;
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** An Ingress spec, but that the default backend is called `backend` and each rule needs `http`. */
export interface EmbeddedIngress {
  readonly ingressClassName?: string;
  readonly backend?: EmbeddedBackend;
  readonly tls?: readonly { readonly hosts?: readonly string[]; readonly secretName?: string }[];
  readonly rules?: readonly EmbeddedRule[];
}

/** A host of an embedded Ingress and its paths. */
export interface EmbeddedRule {
  readonly host?: string;
  readonly http: {
    readonly paths: readonly {
      readonly path?: string;
      readonly pathType: string;
      readonly backend: EmbeddedBackend;
    }[];
  };
}

/** What serves a path of an embedded Ingress. */
export interface EmbeddedBackend {
  readonly service?: {
    readonly name: string;
    readonly port?: { readonly name?: string; readonly number?: number };
  };
  readonly resource?: { readonly apiGroup?: string; readonly kind: string; readonly name: string };
}

/** `geoTag`, `healthyRecords` and `serviceHealth` are required by the schema whenever there is a status. */
export interface GslbStatus {
  readonly geoTag: string;
  readonly healthyRecords: Readonly<Record<string, readonly string[]>>;
  readonly serviceHealth: Readonly<Record<string, string>>;
  /** Hosts in server order, joined with a comma and a space. */
  readonly hosts?: string;
  readonly loadBalancer?: { readonly exposedIps?: readonly string[] };
  readonly servers?: readonly GslbServer[];
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
}

/** A host and the Services behind it. */
export interface GslbServer {
  readonly host?: string;
  readonly services?: readonly { readonly name: string; readonly namespace: string }[];
}
