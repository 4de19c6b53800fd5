import type { Fleet } from "./fleet.ts";

/** Documentation addresses (RFC 5737) at which each cluster of the playground exposes its applications. */
export const exposedAddress: Readonly<Record<string, string>> = {
  eu: "192.0.2.11",
  us: "198.51.100.11",
  za: "203.0.113.11",
};

export interface ApplicationOptions {
  readonly name: string;
  readonly namespace?: string;
  readonly host?: string;
  /** `spec.strategy` of the Gslb, as YAML's flow form. */
  readonly strategy: string;
}

const namespaceOf = (options: { readonly namespace?: string }): string => options.namespace ?? "e2e";

const endpointSlice = (options: ApplicationOptions, ready: boolean): string => `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${options.name}-1, namespace: ${namespaceOf(options)}, labels: { kubernetes.io/service-name: ${options.name} } }
addressType: IPv4
ports: [{ name: http, port: 8080, protocol: TCP }]
endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready: ${ready} } }]
`;

/** All objects of an application at one cluster, as YAML. */
export const applicationManifest = (options: ApplicationOptions): string => `
apiVersion: v1
kind: Namespace
metadata: { name: ${namespaceOf(options)} }
---
apiVersion: v1
kind: Service
metadata: { name: ${options.name}, namespace: ${namespaceOf(options)} }
spec: { selector: { app: ${options.name} }, ports: [{ name: http, port: 80, targetPort: 8080 }] }
---${endpointSlice(options, true)}---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: ${options.name}, namespace: ${namespaceOf(options)} }
spec:
  ingressClassName: nginx
  rules:
    - host: ${hostOf(options)}
      http:
        paths: [{ path: /, pathType: Prefix, backend: { service: { name: ${options.name}, port: { name: http } } } }]
---
apiVersion: k8gb.io/v1beta1
kind: Gslb
metadata: { name: ${options.name}, namespace: ${namespaceOf(options)} }
spec:
  resourceRef: { apiVersion: networking.k8s.io/v1, kind: Ingress, name: ${options.name} }
  strategy: ${options.strategy}
`;

/** The Service of a name and its one ready endpoint, for applications that are reached in other ways, as YAML. */
export const backendManifest = (name: string, type = "ClusterIP"): string => `
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: e2e }
spec: { type: ${type}, ports: [{ name: http, port: 9898 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-1, namespace: e2e, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
ports: [{ name: http, port: 9898 }]
endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready: true } }]
---`;

/** The rules of an Ingress that leads the host of a Service's name to it, in YAML's flow form. */
export const ingressRules = (name: string): string =>
  `rules: [{ host: ${hostOf({ name })}, http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: ${name}, port: { name: http } } } }] } }]`;

/** The host of an application, unless it names another. */
export const hostOf = (options: Pick<ApplicationOptions, "name" | "host">): string =>
  options.host ?? `${options.name}.cloud.example.com`;

/** Deploys the same application at the clusters named (all by default), each with its own exposed address. */
export async function deploy(
  fleet: Fleet,
  options: ApplicationOptions,
  clusters?: readonly string[],
): Promise<void> {
  const names = clusters ?? (await fleet.file()).clusters.map((cluster) => cluster.name);
  await fleet.apply(applicationManifest(options), names);
  await Promise.all(
    names.map((name) => expose(fleet, name, { ...options, addresses: [exposedAddress[name]!] })),
  );
}

/** Does what an ingress controller does: writes the addresses into the Ingress's status. */
export async function expose(
  fleet: Fleet,
  cluster: string,
  options: { readonly name: string; readonly namespace?: string; readonly addresses: readonly string[] },
): Promise<void> {
  const ingress = options.addresses.map((ip) => ({ ip }));
  await fleet.kubectl(cluster, [
    ...["-n", namespaceOf(options), "patch", "ingress", options.name, "--subresource=status", "--type=merge"],
    ...["-p", JSON.stringify({ status: { loadBalancer: { ingress } } })],
  ]);
}

/** Marks the application's only endpoint ready or not ready at one cluster. */
export async function setReady(
  fleet: Fleet,
  cluster: string,
  options: { readonly name: string; readonly namespace?: string; readonly ready: boolean },
): Promise<void> {
  await fleet.kubectl(cluster, [
    ...["-n", namespaceOf(options), "patch", "endpointslice", `${options.name}-1`, "--type=json"],
    ...[
      "-p",
      JSON.stringify([{ op: "replace", path: "/endpoints/0/conditions/ready", value: options.ready }]),
    ],
  ]);
}
