import type { KubeObject } from "../metadata.ts";

/** A namespace (v1). */
export interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: {
    readonly phase?: "Active" | "Terminating";
    readonly conditions?: readonly NamespaceCondition[];
  };
}

/** One aspect of a namespace's deletion. */
export interface NamespaceCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** A config map (v1). */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  /** Values in base64. */
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

/** A secret (v1); values of `data` are in base64. */
export interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
  /** Write-only: the server moves it into `data`. */
  readonly stringData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

/** A pod (v1), as far as anyone here looks into one. */
export interface Pod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly { readonly name: string; readonly image?: string }[];
    readonly [field: string]: unknown;
  };
  readonly status?: {
    readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
    readonly podIP?: string;
    readonly podIPs?: readonly { readonly ip: string }[];
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly [field: string]: unknown;
  };
}

/** Refers to any object (v1 ObjectReference). */
export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** Something that happened to an object (v1). */
export interface Event extends KubeObject {
  readonly involvedObject: ObjectReference;
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly action?: string;
  readonly related?: ObjectReference;
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
  readonly source?: { readonly component?: string; readonly host?: string };
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
}
