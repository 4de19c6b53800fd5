/** A collection that requests go to, and an object of it that is in order. */
export interface ApiSample {
  /** Path of the collection. */
  readonly path: string;
  readonly object: { readonly metadata: { readonly name: string } };
}

const core = "/api/v1/namespaces/default";

function sample(path: string, apiVersion: string, fields: { readonly kind: string }): ApiSample {
  const { kind, ...rest } = fields;
  const metadata = { name: "sample", labels: { app: "a" }, annotations: { note: "b" } };
  return { path, object: { apiVersion, kind, metadata, ...rest } as ApiSample["object"] };
}

/** The definition behind the custom resources of the samples, with every kind of rule. */
export const widgetDefinition: ApiSample["object"] = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: {
      plural: "widgets",
      singular: "widget",
      kind: "Widget",
      listKind: "WidgetList",
      shortNames: ["wd"],
    },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["size"],
                properties: {
                  size: { type: "integer", minimum: 1, maximum: 100 },
                  color: { type: "string", enum: ["red", "green"], default: "red" },
                  big: { type: "integer", format: "int64" },
                  any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                  port: { "x-kubernetes-int-or-string": true },
                  pattern: { type: "string", pattern: "^[a-z]+$" },
                  list: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
                  },
                  replicas: { type: "integer" },
                },
                "x-kubernetes-validations": [
                  { rule: "self.size < 90 || has(self.color)", message: "too big" },
                ],
              },
              status: {
                type: "object",
                properties: { ready: { type: "boolean" }, replicas: { type: "integer" } },
              },
            },
          },
        },
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
      },
    ],
  },
} as ApiSample["object"];

export const apiSamples: readonly ApiSample[] = [
  sample(`${core}/configmaps`, "v1", {
    kind: "ConfigMap",
    ...{ data: { a: "b" }, binaryData: { c: "ZA==" } },
  }),
  sample(`${core}/secrets`, "v1", { kind: "Secret", ...{ type: "Opaque", stringData: { a: "b" } } }),
  sample(`${core}/services`, "v1", {
    kind: "Service",
    ...{
      spec: {
        type: "ClusterIP",
        selector: { a: "b" },
        ports: [{ name: "http", port: 80, targetPort: "web" }],
      },
    },
  }),
  sample(`${core}/pods`, "v1", {
    kind: "Pod",
    ...{
      spec: {
        containers: [
          { name: "c", image: "i", ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }] },
        ],
      },
    },
  }),
  sample(`${core}/events`, "v1", {
    kind: "Event",
    ...{
      involvedObject: { kind: "Pod", name: "p", namespace: "default" },
      reason: "R",
      message: "m",
      type: "Normal",
      count: 1,
    },
  }),
  sample("/api/v1/namespaces", "v1", { kind: "Namespace" }),
  sample("/apis/apps/v1/namespaces/default/deployments", "apps/v1", {
    kind: "Deployment",
    ...{
      spec: {
        replicas: 1,
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    },
  }),
  sample("/apis/coordination.k8s.io/v1/namespaces/default/leases", "coordination.k8s.io/v1", {
    kind: "Lease",
    ...{ spec: { holderIdentity: "h", leaseDurationSeconds: 15, renewTime: "2026-11-30T10:00:00.000000Z" } },
  }),
  sample("/apis/networking.k8s.io/v1/namespaces/default/ingresses", "networking.k8s.io/v1", {
    kind: "Ingress",
    ...{
      spec: {
        rules: [
          {
            host: "a.example.com",
            http: {
              paths: [
                { path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } },
              ],
            },
          },
        ],
      },
    },
  }),
  sample("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", "discovery.k8s.io/v1", {
    kind: "EndpointSlice",
    ...{
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready: true } }],
      ports: [{ name: "http", port: 80, protocol: "TCP" }],
    },
  }),
  sample("/apis/example.com/v1/namespaces/default/widgets", "example.com/v1", {
    kind: "Widget",
    ...{
      spec: {
        size: 3,
        big: 9_007_199_254_740_991,
        any: { x: [1] },
        port: "80",
        pattern: "abc",
        list: [{ name: "a" }],
        replicas: 2,
      },
      status: { ready: true },
    },
  }),
  {
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    object: widgetDefinition,
  },
];

/** Paths that are no collections: documents, reviews, health. */
export const otherPaths: readonly string[] = [
  "/",
  "/api",
  "/apis",
  "/api/v1",
  "/apis/apps",
  "/apis/apps/v1",
  "/openapi/v2",
  "/openapi/v3",
  "/openapi/v3/api/v1",
  "/openapi/v3/apis/example.com/v1",
  "/version",
  "/healthz",
  "/livez",
  "/readyz",
  "/metrics",
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
  "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
  "/apis/authentication.k8s.io/v1/tokenreviews",
  "/apis/authentication.k8s.io/v1/selfsubjectreviews",
];
