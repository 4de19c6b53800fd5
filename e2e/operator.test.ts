import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { customResourceDefinitions } from "@meridian/gslb";
import { output } from "./harness/command.ts";
import { eventually, throughout } from "./harness/eventually.ts";
import { OperatorOnCluster } from "./harness/operator-on-cluster.ts";
import { publishedDefinitions } from "./harness/published-definitions.ts";
import { realControlPlaneAbsence, startRealControlPlane } from "./harness/real-control-plane.ts";
import type { RealControlPlane } from "./harness/real-control-plane.ts";

// The Gslb operator on a real kube-apiserver, as a user with no more rights than it needs; applied and watched by kubectl,
// asked by dig.

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const examples = path.join(root, "examples");
const host = "roundrobin.cloud.example.com";
const addresses = ["192.0.2.1", "192.0.2.2"];

/** Everything that the operator may do, as its README says. */
const rights = `
${/^```yaml\n(apiVersion: rbac[\s\S]*?)^```$/m.exec(readFileSync(path.join(root, "packages/gslb/README.md"), "utf8"))?.[1]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: gslb-operator }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: gslb-operator }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: User, name: restricted }]
`;

/** A route on a Gateway, with a Service of its own example, and an Ingress that nobody refers to yet. */
const routed = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: demo }
spec: { gatewayClassName: any, listeners: [{ name: http, port: 80, protocol: HTTP }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: routed, namespace: demo }
spec:
  hostnames: [routed.cloud.example.com]
  parentRefs: [{ name: edge }]
  rules: [{ backendRefs: [{ name: roundrobin, port: 80 }] }]
---
apiVersion: k8gb.io/v1beta1
kind: Gslb
metadata: { name: routed, namespace: demo }
spec:
  strategy: { type: roundRobin }
  resourceRef: { apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, name: routed }
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: roundrobin-2, namespace: demo }
spec:
  rules:
    - host: roundrobin-2.cloud.example.com
      http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: roundrobin, port: { number: 80 } } } }] }
`;

/** A Service on ports of two nodes, with an endpoint on one of them. */
const onNodes = `
${[1, 2].map(nodeManifest).join("")}
apiVersion: v1
kind: Service
metadata: { name: on-nodes, namespace: demo }
spec: { type: NodePort, ports: [{ port: 80 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: on-nodes, namespace: demo, labels: { kubernetes.io/service-name: on-nodes } }
addressType: IPv4
ports: [{ port: 80 }]
endpoints: [{ addresses: [10.244.2.1], nodeName: node-2, conditions: { ready: true } }]
---
apiVersion: k8gb.io/v1beta1
kind: Gslb
metadata: { name: on-nodes, namespace: demo, annotations: { k8gb.io/hostname: on-nodes.cloud.example.com } }
spec:
  strategy: { type: roundRobin }
  resourceRef: { apiVersion: v1, kind: Service, name: on-nodes }
`;

function nodeManifest(number: number): string {
  return `
apiVersion: v1
kind: Node
metadata: { name: node-${number} }
status:
  addresses: [{ type: InternalIP, address: 10.0.9.${number} }, { type: ExternalIP, address: 192.0.2.20${number} }]
  conditions: [{ type: Ready, status: "True" }]
---`;
}

/** A Gslb of the legacy group with an Ingress of its own. */
const legacy = `
apiVersion: k8gb.absa.oss/v1beta1
kind: Gslb
metadata: { name: legacy, namespace: demo, annotations: { k8gb.io/exposed-ip-addresses: 192.0.2.8 } }
spec:
  strategy: { type: roundRobin, dnsTtlSeconds: 5 }
  ingress:
    rules:
      - host: legacy.cloud.example.com
        http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: roundrobin, port: { number: 80 } } } }] }
`;

let plane: RealControlPlane;
let kubeconfig: string;
let running: OperatorOnCluster;

const kubectl = (args: readonly string[], stdin?: string): Promise<string> =>
  output("kubectl", ["--kubeconfig", kubeconfig, "--request-timeout=15s", ...args], {
    ...(stdin === undefined ? {} : { stdin }),
    env: { ...process.env, HOME: plane.folder },
  });

async function answers(expected: readonly string[]): Promise<void> {
  const { addresses: found, flags } = await running.dig(host);
  assert.deepEqual(found, expected);
  assert.ok(flags.includes("aa"));
}

function setReady(ready: boolean): Promise<string> {
  const endpoints = [11, 12].map((last) => ({ addresses: [`10.244.1.${last}`], conditions: { ready } }));
  const patch = JSON.stringify({ endpoints });
  return kubectl(["-n", "demo", "patch", "endpointslice", "roundrobin", "--type=merge", "-p", patch]);
}

describe("the Gslb operator on kube-apiserver", { skip: (await realControlPlaneAbsence()) ?? false }, () => {
  before(async () => {
    plane = await startRealControlPlane();
    kubeconfig = await plane.kubeconfigFile("admin");
  });
  after(async () => {
    await running?.[Symbol.asyncDispose]();
    await plane[Symbol.asyncDispose]();
  });

  test("the definitions are accepted whole and served", async () => {
    await kubectl(
      ["apply", "-f", "-"],
      JSON.stringify({ apiVersion: "v1", kind: "List", items: customResourceDefinitions }),
    );
    await kubectl(["wait", "--for=condition=Established", "--timeout=30s", "crd", "--all"]);
    const names = customResourceDefinitions.map(({ metadata }) => metadata.name!);
    for (const name of names) {
      const stored = JSON.parse(await kubectl(["get", "crd", name, "-o", "json"])) as {
        readonly status: {
          readonly conditions: readonly { readonly type: string; readonly status: string }[];
        };
      };
      const { conditions } = stored.status;
      // One that is not true, such as `NonStructuralSchema` where it is there at all, names what is wrong.
      const wrong = conditions.filter(({ status }) => status !== "True");
      assert.deepEqual(wrong, [], name);
      const types = conditions.map(({ type }) => type);
      assert.ok(types.includes("Established") && !types.includes("NonStructuralSchema"), types.join(", "));
    }
  });

  test("dig is answered with what the examples say", async () => {
    await kubectl(["apply", "-f", path.join(examples, "every-cluster")]);
    await kubectl([
      "apply",
      "--server-side",
      "--subresource=status",
      "-f",
      path.join(examples, "per-cluster/eu.yaml"),
    ]);
    await kubectl(["apply", "-f", "-"], rights);
    running = await OperatorOnCluster.start({
      kubeconfig: plane.kubeconfig("restricted", { by: "token" }),
      dataFolder: plane.folder,
    });
    await running.operator.ready;
    await eventually("the example is answered", () => answers(addresses));
  });

  test("the Gslb has a status and a DNSEndpoint of its own", async () => {
    await eventually("the status is written", async () => {
      const gslb = JSON.parse(
        await kubectl(["-n", "demo", "get", "gslbs.k8gb.io", "roundrobin", "-o", "json"]),
      ) as {
        readonly status?: {
          readonly geoTag?: string;
          readonly healthyRecords?: Readonly<Record<string, readonly string[]>>;
        };
      };
      assert.equal(gslb.status?.geoTag, "eu");
      assert.deepEqual(gslb.status.healthyRecords?.[host]?.toSorted(), addresses);
    });
    const endpoint = await kubectl(["-n", "demo", "get", "dnsendpoint", "roundrobin", "-o", "json"]);
    const { metadata } = JSON.parse(endpoint) as {
      readonly metadata: {
        readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[];
      };
    };
    const owners = (metadata.ownerReferences ?? []).map(({ kind, name }) => `${kind} ${name}`);
    assert.deepEqual(owners, ["Gslb roundrobin"]);
  });

  test("an application that goes down leaves the answer, and comes back", async () => {
    await setReady(false);
    await eventually("nothing is answered", () => answers([]));
    await setReady(true);
    await eventually("it is answered again", () => answers(addresses));
  });

  test("a kind of the Gateway API that is installed now is followed, and an annotated Ingress makes a Gslb", async () => {
    const { gatewayApi } = await publishedDefinitions();
    const files = gatewayApi.filter((file) => /_(gateways|httproutes)\.yaml$/.test(file));
    await kubectl(["apply", "--server-side", ...files.flatMap((file) => ["-f", file])]);
    await kubectl(["wait", "--for=condition=Established", "--timeout=30s", "crd", "--all"]);
    await eventually("the kind is served", () => kubectl(["apply", "-f", "-"], routed));
    const status = JSON.stringify({ status: { addresses: [{ type: "IPAddress", value: "192.0.2.9" }] } });
    const gateway = [
      "-n",
      "demo",
      "patch",
      "gateway",
      "edge",
      "--subresource=status",
      "--type=merge",
      "-p",
      status,
    ];
    await kubectl(gateway);
    await eventually("the route is answered", async () => {
      assert.deepEqual((await running.dig("routed.cloud.example.com")).addresses, ["192.0.2.9"]);
    });
    const annotate = ["-n", "demo", "annotate", "ingress", "roundrobin-2", "k8gb.io/strategy=roundRobin"];
    await kubectl(annotate);
    await eventually("the Gslb is made", async () => {
      const query = "jsonpath={.metadata.ownerReferences[0].kind} {.spec.strategy.type}";
      const made = await kubectl(["-n", "demo", "get", "gslbs.k8gb.io", "roundrobin-2", "-o", query]);
      assert.equal(made, "Ingress roundRobin");
    });
    await kubectl(["-n", "demo", "annotate", "ingress", "roundrobin-2", "k8gb.io/strategy-"]);
    await eventually("it goes with the annotation", async () => {
      const found = await kubectl(["-n", "demo", "get", "gslbs.k8gb.io", "-o", "name"]);
      assert.doesNotMatch(found, /roundrobin-2/);
    });
  });

  test("F-04: a Service of type NodePort is answered with the nodes that serve it", async () => {
    await kubectl(["create", "-f", "-"], onNodes);
    const served = (...expected: readonly string[]): Promise<void> =>
      eventually(`it is answered at ${expected.join(" and ")}`, async () => {
        assert.deepEqual((await running.dig("on-nodes.cloud.example.com")).addresses, expected);
      });
    await served("192.0.2.201", "192.0.2.202");
    const patch = '{"spec":{"externalTrafficPolicy":"Local"}}';
    await kubectl(["-n", "demo", "patch", "service", "on-nodes", "--type=merge", "-p", patch]);
    await served("192.0.2.202");
    const down = '{"status":{"conditions":[{"type":"Ready","status":"False"}]}}';
    const other = '{"spec":{"externalTrafficPolicy":"Cluster"}}';
    await kubectl(["patch", "node", "node-2", "--subresource=status", "--type=strategic", "-p", down]);
    await kubectl(["-n", "demo", "patch", "service", "on-nodes", "--type=merge", "-p", other]);
    await served("192.0.2.201");
  });

  test("M-01: a legacy Gslb is migrated and deleted: its DNSEndpoint changes hands, its Ingress and its answer stay", async () => {
    const name = "legacy.cloud.example.com";
    const served = async (): Promise<void> =>
      assert.deepEqual((await running.dig(name)).addresses, ["192.0.2.8"]);
    const ownersOf = async (kind: string): Promise<string> => {
      const query = "jsonpath={.metadata.uid}{range .metadata.ownerReferences[*]} {.apiVersion}{end}";
      return kubectl(["-n", "demo", "get", kind, "legacy", "-o", query]);
    };
    const legacyGslb = "gslbs.k8gb.absa.oss";
    await kubectl(["apply", "-f", "-"], legacy);
    await eventually("it is answered", served);
    const [endpoint, ingress] = [await ownersOf("dnsendpoint"), await ownersOf("ingress")];
    assert.match(endpoint, / k8gb\.absa\.oss\/v1beta1$/);
    await kubectl(["-n", "demo", "label", legacyGslb, "legacy", "k8gb.io/migration-requested=true"]);
    await eventually("the DNSEndpoint is the successor's, the Ingress nobody's", async () => {
      const labels = ["-n", "demo", "get", legacyGslb, "legacy", "-o", "jsonpath={.metadata.labels}"];
      assert.match(await kubectl(labels), /"k8gb\.io\/migrated-to-k8gb-io":"true"/);
      const [uid] = endpoint.split(" ");
      assert.equal(await ownersOf("dnsendpoint"), `${uid} k8gb.io/v1beta1`);
      assert.equal(await ownersOf("ingress"), ingress.split(" ")[0]);
    });
    await kubectl(["-n", "demo", "delete", legacyGslb, "legacy", "--timeout=30s"]);
    await throughout("it is answered", served, { forMs: 1_000 });
  });

  test("it was never refused anything, and is at rest", async () => {
    const refused = running.complaints.filter(({ fields }) =>
      /orbidden|cannot (list|watch|get|create|update|patch) resource/.test(String(fields["error"])),
    );
    assert.deepEqual(refused, []);
    const versions = async (): Promise<string> =>
      kubectl([
        "get",
        "gslbs.k8gb.io,dnsendpoints,zonedelegations",
        "-A",
        "-o",
        "jsonpath={.items[*].metadata.resourceVersion}",
      ]);
    let before = await versions();
    // What was still to be written may be written; then nothing more is.
    await eventually("two readings a second apart are the same", async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const now = await versions();
      const last = before;
      before = now;
      assert.equal(now, last);
    });
  });

  test("while kube-apiserver is down the answer stays, and what is changed after that counts", async () => {
    await plane.stop("killed");
    await throughout("the answer stays", () => answers(addresses), { forMs: 3_000 });
    await plane.compact();
    await plane.start();
    await setReady(false);
    await eventually("nothing is answered", () => answers([]), { withinMs: 60_000 });
    await setReady(true);
    await eventually("it is answered again", () => answers(addresses));
  });
});
