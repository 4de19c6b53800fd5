import type { Condition, KubeObject } from "@meridian/kube";
import type { ObjectKind } from "./object-kind.ts";

/** A node of the cluster, as far as its addresses go. */
export interface Node extends KubeObject {
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly conditions?: readonly Pick<Condition, "type" | "status">[];
  };
}

/** Nodes with this label get no traffic from outside, says Kubernetes. */
export const excludedLabel = "node.kubernetes.io/exclude-from-external-load-balancers";

/** Nodes, by name. Of one with thousands of images and a heartbeat only what is read here is kept. */
export const nodeObjects: ObjectKind<Node> = {
  ...{ group: "", plural: "nodes", kind: "Node", namespaced: false, versions: ["v1"] },
  trim: ({ apiVersion, kind, metadata, status }) => ({
    ...{ apiVersion, kind, metadata },
    status: {
      addresses: status?.addresses ?? [],
      conditions: (status?.conditions ?? [])
        .filter(({ type }) => type === "Ready")
        .map(({ type, status: is }) => ({ type, status: is })),
    },
  }),
};
