import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { backendManifest, ingressRules } from "./harness/application.ts";
import { eventually } from "./harness/eventually.ts";
import { Fleet } from "./harness/fleet.ts";
import {
  definitionsAbsence,
  publishedDefinitions,
  type PublishedDefinitions,
} from "./harness/published-definitions.ts";

// References through the published kinds of the Gateway API and of Istio, as users write them: applied by kubectl, asked by
// dig, in two clusters. k8gb's playground scenarios.

const examples = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../examples/other-kinds");
const exposed: Readonly<Record<string, string>> = { eu: "192.0.2.11", us: "198.51.100.11" };
const clusters = Object.keys(exposed);
const gatewayApi = "gateway.networking.k8s.io";
const istio = "networking.istio.io";
const hostOf = (name: string): string => `${name}.cloud.example.com`;

let fleet: Fleet;
let definitions: PublishedDefinitions;

const gslb = (name: string, ref: string, annotations = "{}"): string => `
apiVersion: k8gb.io/v1beta1
kind: Gslb
metadata: { name: ${name}, namespace: e2e, annotations: ${annotations} }
spec:
  strategy: { type: failover, primaryGeoTag: eu, dnsTtlSeconds: 5 }
  ${ref}
---`;

const ingress = (name: string, annotations = "{}"): string => `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: ${name}, namespace: e2e, labels: { app: ${name} }, annotations: ${annotations} }
spec: { ingressClassName: nginx, ${ingressRules(name)} }
---`;

/** A route or VirtualService of a name, which serves the Service of that name. */
function served(kind: string, apiVersion: string, name: string): string {
  const header = `
apiVersion: ${apiVersion}
kind: ${kind}
metadata: { name: ${name}, namespace: e2e, labels: { app: ${name} } }
spec:`;
  if (kind === "VirtualService")
    return `${header}
  hosts: [${hostOf(name)}]
  gateways: [istio-ingress/edge]
  http: [{ route: [{ destination: { host: ${name}, port: { number: 9898 } } }] }]
---`;
  const hostnames = kind === "TCPRoute" || kind === "UDPRoute" ? "" : `\n  hostnames: [${hostOf(name)}]`;
  return `${header}${hostnames}
  parentRefs: [{ name: edge }]
  rules: [{ backendRefs: [{ name: ${name}, port: 9898 }] }]
---`;
}

/** What gives addresses: a Gateway each, and the Service of Istio's. */
const edges = `
apiVersion: v1
kind: Namespace
metadata: { name: e2e }
---
apiVersion: v1
kind: Namespace
metadata: { name: istio-ingress }
---
apiVersion: ${gatewayApi}/v1
kind: Gateway
metadata: { name: edge, namespace: e2e }
spec: { gatewayClassName: any, listeners: [{ name: http, port: 80, protocol: HTTP }] }
---
apiVersion: ${istio}/v1
kind: Gateway
metadata: { name: edge, namespace: istio-ingress }
spec:
  selector: { app: istio-ingressgateway }
  servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }]
---
apiVersion: v1
kind: Service
metadata: { name: istio-ingressgateway, namespace: istio-ingress, labels: { app: istio-ingressgateway } }
spec: { type: LoadBalancer, ports: [{ name: http, port: 80 }] }
---`;

async function apply(cluster: string, manifest: string): Promise<void> {
  await fleet.kubectl(cluster, ["apply", "-f", "-"], { stdin: manifest });
}

async function install(cluster: string, files: readonly string[]): Promise<void> {
  const named = files.flatMap((file) => ["-f", file]);
  await fleet.kubectl(cluster, ["apply", "--server-side", ...named], { timeoutMs: 120_000 });
  await fleet.kubectl(cluster, ["wait", "--for=condition=Established", "--timeout=60s", ...named]);
}

const setStatus = (cluster: string, object: readonly string[], status: object): Promise<string> =>
  fleet.kubectl(cluster, [
    ...["-n", object[0]!, "patch", ...object.slice(1), "--subresource=status", "--type=merge"],
    ...["-p", JSON.stringify({ status })],
  ]);

const setReady = (cluster: string, name: string, ready: boolean): Promise<string> =>
  fleet.kubectl(cluster, [
    ...["-n", "e2e", "patch", "endpointslice", `${name}-1`, "--type=merge", "-p"],
    JSON.stringify({ endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready } }] }),
  ]);

async function jsonPath(cluster: string, object: readonly string[], query: string): Promise<string> {
  return fleet.kubectl(cluster, ["-n", "e2e", "get", ...object, "-o", `jsonpath=${query}`]);
}

/** k8gb's check of a playground: the primary answers, the other cluster while it is down, and the primary again. */
async function failsOver(name: string): Promise<void> {
  const eu = exposed["eu"]!;
  const us = exposed["us"]!;
  await fleet.answers(hostOf(name), [eu]);
  for (const cluster of clusters) {
    const owners = await jsonPath(cluster, ["dnsendpoint", name], "{.metadata.ownerReferences[*].name}");
    assert.equal(owners, name);
    const query = "{range .spec.endpoints[*]}{.dnsName} {.targets[0]} {end}";
    const records = await jsonPath(cluster, ["dnsendpoint", name], query);
    assert.equal(records.trim(), `localtargets-${hostOf(name)} ${exposed[cluster]} ${hostOf(name)} ${eu}`);
  }
  await setReady("eu", name, false);
  await fleet.answers(hostOf(name), [us]);
  await setReady("eu", name, true);
  await fleet.answers(hostOf(name), [eu]);
}

describe("references to published kinds", { skip: (await definitionsAbsence()) ?? false }, () => {
  before(async () => {
    definitions = await publishedDefinitions();
    fleet = await Fleet.start({ args: ["--ephemeral", "--no-examples", "--no-lab", "--clusters", "2"] });
    for (const cluster of clusters) {
      await install(cluster, [...definitions.gatewayApi, definitions.istio]);
      await apply(cluster, edges);
      const ip = exposed[cluster]!;
      await setStatus(cluster, ["e2e", `gateways.${gatewayApi}`, "edge"], {
        addresses: [{ type: "IPAddress", value: ip }],
      });
      await setStatus(cluster, ["istio-ingress", "service", "istio-ingressgateway"], {
        loadBalancer: { ingress: [{ ip }] },
      });
    }
  });
  after(async () => {
    await fleet?.stop();
  });

  const setIngressAddress = async (name: string): Promise<void> => {
    for (const cluster of clusters)
      await setStatus(cluster, ["e2e", "ingress", name], {
        loadBalancer: { ingress: [{ ip: exposed[cluster] }] },
      });
  };

  const playgrounds: readonly {
    readonly name: string;
    readonly objects: (name: string) => string;
    readonly hasIngress?: true;
  }[] = [
    {
      name: "failover-playground-embedded",
      objects: (name) => gslb(name, `ingress: { ingressClassName: nginx, ${ingressRules(name)} }`),
      hasIngress: true,
    },
    {
      name: "failover-playground-referenced",
      objects: (name) =>
        ingress(name) +
        gslb(
          name,
          `resourceRef: { apiVersion: networking.k8s.io/v1, kind: Ingress, matchLabels: { app: ${name} } }`,
        ),
      hasIngress: true,
    },
    {
      name: "failover-playground-resourceref",
      objects: (name) =>
        ingress(name) +
        gslb(name, `resourceRef: { apiVersion: networking.k8s.io/v1, kind: Ingress, name: ${name} }`),
      hasIngress: true,
    },
    {
      name: "failover-playground-istio",
      objects: (name) =>
        served("VirtualService", `${istio}/v1`, name) +
        gslb(
          name,
          `resourceRef: { apiVersion: ${istio}/v1, kind: VirtualService, matchLabels: { app: ${name} } }`,
        ),
    },
    {
      name: "ingress-playground-resourceref",
      objects: (name) =>
        ingress(
          name,
          '{ k8gb.io/strategy: failover, k8gb.io/primary-geotag: eu, k8gb.io/dns-ttl-seconds: "5" }',
        ),
      hasIngress: true,
    },
  ];

  for (const { name, objects, hasIngress } of playgrounds)
    test(name, async () => {
      for (const cluster of clusters) await apply(cluster, backendManifest(name) + objects(name));
      if (hasIngress === true) {
        await eventually("the Ingress is there", () => jsonPath("us", ["ingress", name], "{.metadata.name}"));
        await eventually("the Ingress is there", () => jsonPath("eu", ["ingress", name], "{.metadata.name}"));
        await setIngressAddress(name);
      }
      await failsOver(name);
    });

  const versions: Readonly<Record<string, readonly string[]>> = {
    HTTPRoute: ["v1", "v1beta1"],
    GRPCRoute: ["v1"],
    TLSRoute: ["v1", "v1alpha2", "v1alpha3"],
    TCPRoute: ["v1", "v1alpha2"],
    UDPRoute: ["v1", "v1alpha2"],
    VirtualService: ["v1", "v1beta1", "v1alpha3"],
  };
  for (const [kind, all] of Object.entries(versions))
    test(`${kind} in ${all.join(", ")}: served, withdrawn with the object, served again`, async () => {
      const group = kind === "VirtualService" ? istio : gatewayApi;
      for (const version of all) {
        const name = `${kind.toLowerCase()}-${version}`;
        const ref = `resourceRef: { apiVersion: ${group}/${version}, kind: ${kind}, name: ${name} }`;
        const object = served(kind, `${group}/${version}`, name);
        const manifest =
          backendManifest(name) + object + gslb(name, ref, `{ k8gb.io/hostname: ${hostOf(name)} }`);
        await apply("eu", manifest);
        await apply("us", manifest);
        await fleet.answers(hostOf(name), [exposed["eu"]!]);
        await fleet.kubectl("eu", ["-n", "e2e", "delete", `${kind.toLowerCase()}s.${group}`, name]);
        await fleet.answers(hostOf(name), [exposed["us"]!]);
        await apply("eu", object);
        await fleet.answers(hostOf(name), [exposed["eu"]!]);
      }
    });

  test("F-05: a backend in another namespace is served once a ReferenceGrant of either version lets it", async () => {
    const name = "granted";
    const ref = `resourceRef: { apiVersion: ${gatewayApi}/v1, kind: HTTPRoute, name: ${name} }`;
    const far = backendManifest(name).replaceAll("namespace: e2e", "namespace: backends");
    const route = served("HTTPRoute", `${gatewayApi}/v1`, name).replace(
      `backendRefs: [{ name: ${name},`,
      `backendRefs: [{ name: ${name}, namespace: backends,`,
    );
    const namespace = "{ apiVersion: v1, kind: Namespace, metadata: { name: backends } }";
    const grant = (version: string): string => `
apiVersion: ${gatewayApi}/${version}
kind: ReferenceGrant
metadata: { name: ${name}, namespace: backends }
spec:
  from: [{ group: ${gatewayApi}, kind: HTTPRoute, namespace: e2e }]
  to: [{ group: "", kind: Service, name: ${name} }]`;
    for (const cluster of clusters) await apply(cluster, `${namespace}\n---${far}${route}${gslb(name, ref)}`);
    await eventually("the Gslb says why", async () => {
      const query = '{.status.conditions[?(@.type=="ResolvedRefs")].reason}';
      assert.equal(await jsonPath("eu", ["gslb", name], query), "RefNotPermitted");
    });
    await fleet.answers(hostOf(name), []);
    await apply("us", grant("v1beta1"));
    await fleet.answers(hostOf(name), [exposed["us"]!]);
    await apply("eu", grant("v1"));
    await fleet.answers(hostOf(name), [exposed["eu"]!]);
  });

  test("the examples of other kinds are answered, with the addresses that an annotation states", async () => {
    const told = {
      "http-route": "gslb/route",
      "virtual-service": "gslb/mesh",
      "annotated-ingress": "ingress/annotated",
    };
    for (const [file, object] of Object.entries(told)) {
      for (const cluster of clusters) {
        await apply(cluster, "{ apiVersion: v1, kind: Namespace, metadata: { name: demo } }");
        await fleet.kubectl(cluster, ["apply", "-f", path.join(examples, `${file}.yaml`)]);
        const annotation = `k8gb.io/exposed-ip-addresses=${exposed[cluster]}`;
        await fleet.kubectl(cluster, ["-n", "demo", "annotate", object, annotation]);
      }
      await fleet.answers(`${object.split("/")[1]}.cloud.example.com`, Object.values(exposed));
    }
  });

  test("the definitions go and come while everything runs", async () => {
    const name = "comes-and-goes";
    const ref = `resourceRef: { apiVersion: ${gatewayApi}/v1, kind: GRPCRoute, name: ${name} }`;
    const route = served("GRPCRoute", `${gatewayApi}/v1`, name);
    for (const cluster of clusters) await apply(cluster, backendManifest(name) + route + gslb(name, ref));
    await fleet.answers(hostOf(name), [exposed["eu"]!]);
    const file = definitions.gatewayApi.filter((each) => each.includes("grpcroutes"));
    await fleet.kubectl("eu", ["delete", "-f", file[0]!]);
    await fleet.answers(hostOf(name), [exposed["us"]!]);
    await eventually("the Gslb says why", async () => {
      const query = '{.status.conditions[?(@.type=="ResolvedRefs")].reason}';
      assert.equal(await jsonPath("eu", ["gslb", name], query), "KindNotServed");
    });
    await install("eu", file);
    await apply("eu", route);
    await fleet.answers(hostOf(name), [exposed["eu"]!]);
  });
});
