import type { KubeObject } from "@meridian/kube";
import { resolveReference, type ResolvedReference } from "../references/resolve-reference.ts";
import type { Gslb } from "../resources/gslb.ts";
import { fakeSource } from "./fake-source.ts";

/** The group of the Gateway API. */
export const gatewayApi: string = "gateway.networking.k8s.io";
/** The group of Istio's networking. */
export const istio: string = "networking.istio.io";

/** What an object has beside its kind. */
export interface ObjectFields {
  readonly name: string;
  readonly namespace?: string;
  readonly spec?: object;
  readonly status?: object;
}

/** Any object, in the namespace `demo` unless it says another. */
export function object(apiVersion: string, kind: string, fields: ObjectFields): KubeObject {
  const { name, namespace = "demo", ...rest } = fields;
  return { apiVersion, kind, metadata: { name, namespace }, ...rest };
}

/** A backend of a route. */
export interface Backend {
  readonly name: string;
  readonly namespace?: string;
  readonly weight?: number;
}

/** A route on the Gateway `edge`. */
export const route = (kind: string, spec: object, version = "v1"): KubeObject =>
  object(`${gatewayApi}/${version}`, kind, {
    name: "app",
    spec: { parentRefs: [{ name: "edge" }], ...spec },
  });
/** The only rule of a route. */
export const to = (...backendRefs: readonly Backend[]): object => ({ rules: [{ backendRefs }] });

/** A Gateway with addresses in its status. */
export const gateway = (name: string, addresses: readonly object[], fields: object = {}): KubeObject =>
  object(`${gatewayApi}/v1`, "Gateway", { name, status: { addresses }, ...fields });
/** An address of a Gateway. */
export const ip = (value: string): object => ({ type: "IPAddress", value });

/** A VirtualService. */
export const virtualService = (spec: object, version = "v1"): KubeObject =>
  object(`${istio}/${version}`, "VirtualService", { name: "app", spec });
/** A route of a VirtualService to each destination. */
export const toHosts = (...hosts: readonly string[]): object => ({
  http: hosts.map((host) => ({ route: [{ destination: { host } }] })),
});
/** A Gateway of Istio. */
export const istioGateway = (
  name: string,
  selector: Readonly<Record<string, string>>,
  namespace = "demo",
): KubeObject => object(`${istio}/v1`, "Gateway", { name, namespace, spec: { selector } });

/** A Service, of type LoadBalancer unless it says another. */
export function service(
  name: string,
  fields: {
    readonly namespace?: string;
    readonly type?: string;
    readonly labels?: object;
    readonly ips?: readonly string[];
  } = {},
): KubeObject {
  const {
    namespace = "demo",
    type = "LoadBalancer",
    labels = { app: "ingress" },
    ips = ["192.0.2.1"],
  } = fields;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace, labels: labels as Readonly<Record<string, string>> },
    spec: { type },
    status: { loadBalancer: { ingress: ips.map((each) => ({ ip: each })) } },
  } as KubeObject;
}

/** A Gslb that refers to an object. */
export function referTo(target: KubeObject, annotations: Readonly<Record<string, string>> = {}): Gslb {
  const { apiVersion, kind, metadata } = target;
  return {
    apiVersion: "k8gb.io/v1beta1",
    kind: "Gslb",
    metadata: { name: "g", namespace: "demo", annotations },
    spec: { resourceRef: { apiVersion, kind, name: metadata.name! } },
  };
}

/** Each host with its Services, those marked that nothing may be sent to: `a.x=demo/s+-other/t b.x=`. */
export function serversText(outcome: ResolvedReference["outcome"]): string {
  if (outcome.kind === "pending") return "pending";
  if (outcome.kind === "failed") return `${outcome.reason}${outcome.gone ? " gone" : ""}: ${outcome.message}`;
  return outcome.servers
    .map(({ host, services }) => {
      const names = services.map(({ namespace, name, isRefused = false }) => `${isRefused ? "-" : ""}${namespace}/${name}`);
      return `${host}=${names.join("+")}`;
    })
    .join(" ");
}

/** What counts of a route, each host with its Services, and the reasons of what does not. */
export function counted(
  target: KubeObject,
  objects: readonly KubeObject[],
  states: Parameters<typeof fakeSource>[1] = {},
): string {
  const gslb = referTo(target, { "k8gb.io/hostname": "app.x" });
  const { outcome } = resolveReference(gslb, fakeSource([target, ...objects], states));
  if (outcome.kind === "failed") return `${outcome.reason}${outcome.gone ? " gone" : ""}`;
  const reasons = outcome.kind === "resolved" ? (outcome.problems ?? []).map(({ reason }) => reason) : [];
  return [serversText(outcome), ...reasons].filter((text) => text !== "").join(" ");
}

/** A Service of type NodePort. */
export function nodePort(name: string, spec: object = {}): KubeObject {
  return object("v1", "Service", { name, spec: { type: "NodePort", ...spec } });
}

/** A node by its addresses of each type. */
export function node(
  name: string,
  addresses: Readonly<Record<string, readonly string[]>>,
  fields: { readonly ready?: string; readonly labels?: Readonly<Record<string, string>> } = {},
): KubeObject {
  const { ready = "True", labels = {} } = fields;
  const status = {
    addresses: Object.entries(addresses).flatMap(([type, all]) => all.map((address) => ({ type, address }))),
    conditions: [{ type: "Ready", status: ready }],
  };
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels }, status } as KubeObject;
}

/** A slice of a Service: one endpoint on each node, ready or not. */
export function endpointSlice(
  service: string,
  number: number,
  nodes: Readonly<Record<string, boolean>>,
): KubeObject {
  const endpoints = Object.entries(nodes).map(([nodeName, ready]) => ({
    ...{ addresses: ["10.1.0.1"], conditions: { ready }, nodeName },
  }));
  return {
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", endpoints },
    metadata: {
      ...{ name: `${service}-${number}`, namespace: "demo" },
      labels: { "kubernetes.io/service-name": service },
    },
  };
}
