import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { createApiServer } from "./api-server.ts";
import { requestBodyBytesMax } from "./http/body.ts";
import { openMemoryStorage } from "./storage/index.ts";
import { widgetDefinition } from "./test-api.ts";

const isPresent = spawnSync("kubectl", ["version", "--client"]).status === 0;
const skip =
  isPresent || process.env["CI"] === "true" ? false : "kubectl is not installed: nothing here was checked";

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real kubectl against the real handler, over HTTP on a port of its own. */
class Kubectl implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "apiserver-kubectl-"));
  readonly #closing: (() => Promise<void>)[] = [];

  static async start(): Promise<Kubectl> {
    const kubectl = new Kubectl();
    const runtime = nodeRuntime({ dataFolder: kubectl.#folder, log: silentLogger });
    const storage = await openMemoryStorage(runtime, { persistent: false });
    const server = createApiServer(runtime, {
      storage,
      tokens: [{ token: "t", username: "admin", groups: ["system:masters"] }],
    });
    await server.ready;
    const http = await runtime.network.serveHttp({
      address: "127.0.0.1",
      port: 0,
      bodyBytesMax: requestBodyBytesMax,
      // kubectl sends no token over plain HTTP, so it is added here; TLS is checked where the server is wired.
      handler: (request) =>
        server.handler({ ...request, headers: { ...request.headers, authorization: "Bearer t" } }),
    });
    kubectl.#closing.push(
      async () => http[Symbol.asyncDispose](),
      async () => server[Symbol.asyncDispose](),
      async () => storage[Symbol.asyncDispose](),
    );
    const cluster = { server: `http://127.0.0.1:${http.local.port}` };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "test", cluster }],
      contexts: [{ name: "test", context: { cluster: "test", user: "" } }],
      "current-context": "test",
    };
    writeFileSync(join(kubectl.#folder, "kubeconfig"), JSON.stringify(config));
    return kubectl;
  }

  file(name: string, ...objects: readonly unknown[]): string {
    const path = join(this.#folder, name);
    writeFileSync(path, objects.map((object) => JSON.stringify(object)).join("\n---\n"));
    return path;
  }

  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    return spawn("kubectl", ["--cache-dir", join(this.#folder, "cache"), ...args], {
      env: { ...process.env, KUBECONFIG: join(this.#folder, "kubeconfig"), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  async run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
    const child = this.start(args, env);
    let stdout = "";
    let stderr = "";
    child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return { code, stdout, stderr };
  }

  /** Runs a command that must succeed, and returns what it printed. */
  async out(command: string, ...more: readonly string[]): Promise<string> {
    const { code, stderr, stdout } = await this.run([...command.split(" "), ...more]);
    assert.equal(code, 0, `kubectl ${command}: ${stderr}`);
    return stdout;
  }

  /** Runs a command that must fail, and returns its complaint. */
  async complaint(command: string, ...more: readonly string[]): Promise<string> {
    const { code, stderr, stdout } = await this.run([...command.split(" "), ...more]);
    assert.notEqual(code, 0, `kubectl ${command}: ${stdout}`);
    return stderr;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closing) await close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "demo" } };
const inDemo = (name: string): { readonly name: string; readonly namespace: string } => ({
  name,
  namespace: "demo",
});
const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: inDemo("web"),
  spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
};
const slice = {
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { ...inDemo("web-1"), labels: { "kubernetes.io/service-name": "web" } },
  addressType: "IPv4",
  endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready: true } }],
  ports: [{ name: "http", port: 8080, protocol: "TCP" }],
};
const ingress = {
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: inDemo("web"),
  spec: {
    ingressClassName: "nginx",
    rules: [
      {
        host: "web.example",
        http: {
          paths: [
            { path: "/", pathType: "Prefix", backend: { service: { name: "web", port: { name: "http" } } } },
          ],
        },
      },
    ],
  },
};
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: inDemo("web"),
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "nginx" }] } },
  },
};
const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: inDemo("w"), spec: { size: 3 } };

describe("kubectl", { skip }, () => {
  let kubectl: Kubectl;
  let manifest: string;

  before(async () => {
    kubectl = await Kubectl.start();
    manifest = kubectl.file("demo.json", namespace, service, slice, ingress, deployment);
  });
  after(() => kubectl[Symbol.asyncDispose]());

  test("lists, explains and finds every kind that is served", async () => {
    const lines = (await kubectl.out("api-resources --verbs=list --no-headers")).trim().split("\n");
    assert.ok(lines.length > 25, lines.join("\n"));
    for (const line of lines) {
      const [name = "", ...columns] = line.split(/ +/);
      const [apiVersion = "", , kind = ""] = columns.slice(-3);
      const [version = "", group = ""] = apiVersion.split("/").reverse();
      await kubectl.out("get -A", group === "" ? name : `${name}.${version}.${group}`);
      const explained = await kubectl.out(`explain --api-version=${apiVersion}`, name);
      assert.match(explained, new RegExp(`^KIND: +${kind}$`, "m"));
    }
    assert.match(await kubectl.out("api-versions"), /^discovery\.k8s\.io\/v1$/m);
    assert.match(await kubectl.out("explain service.spec.ports.targetPort"), /FIELD: targetPort/);
  });

  test("applies manifests, and sees that nothing changed", async () => {
    assert.match(await kubectl.out("apply -f", manifest), /service\/web created\n/);
    const again = await kubectl.out("apply -f", manifest);
    assert.equal(
      again
        .trim()
        .split("\n")
        .every((line) => line.endsWith("unchanged")),
      true,
      again,
    );
    assert.match(
      await kubectl.out("get svc,endpointslices,ing,deploy -n demo"),
      /ingress.networking.k8s.io\/web +nginx +web.example/,
    );
  });

  test("a second apply merges by the keys of lists", async () => {
    const changed = { ...service, spec: { ...service.spec, ports: [{ name: "https", port: 443 }] } };
    assert.match(await kubectl.out("apply -f", kubectl.file("changed.json", changed)), /configured/);
    assert.equal(await kubectl.out("get svc web -n demo -o jsonpath={.spec.ports[*].port}"), "443");
    await kubectl.out("apply -f", manifest);
  });

  test("tells differences before it applies them", async () => {
    const changed = { ...ingress, spec: { ...ingress.spec, ingressClassName: "other" } };
    const { code, stdout } = await kubectl.run(["diff", "-f", kubectl.file("diff.json", changed)]);
    assert.equal(code, 1);
    assert.match(stdout, /^\+ {2}ingressClassName: other$/m);
  });

  test("describes kinds with what belongs to them", async () => {
    assert.match(await kubectl.out("describe svc web -n demo"), /Endpoints: +10\.0\.0\.1:8080/);
    assert.match(await kubectl.out("describe ing web -n demo"), /web:http \(10\.0\.0\.1:8080\)/);
    assert.match(await kubectl.out("describe endpointslice web-1 -n demo"), /http {2}8080 {2}TCP/);
    assert.match(await kubectl.out("describe deploy web -n demo"), /Replicas: +1 desired/);
    assert.match(await kubectl.out("describe ns demo"), /Status: +Active/);
  });

  test("creates by its generators, which speak protobuf", async () => {
    await kubectl.out("create configmap cm -n demo --from-literal=a=b");
    await kubectl.out("create secret generic s -n demo --from-literal=a=b");
    await kubectl.out("create deployment d -n demo --image=nginx --replicas=0");
    await kubectl.out("create ingress i -n demo --rule=a.example/=web:80");
    await kubectl.out("create cronjob c -n demo --image=x --schedule", "* * * * *");
    await kubectl.out("create role r -n demo --verb=get --resource=pods");
    await kubectl.out("run p -n demo --image=x");
    assert.equal(await kubectl.out("get cm cm -n demo -o jsonpath={.data.a}"), "b");
    assert.equal(await kubectl.out("get deploy d -n demo -o jsonpath={.spec.replicas}"), "0");
    assert.match(await kubectl.complaint("create configmap cm -n demo"), /AlreadyExists|already exists/);
  });

  test("patches, edits, labels, annotates, scales and restarts", async () => {
    await kubectl.out("patch svc web -n demo -p", '{"spec":{"ports":[{"port":81,"name":"b"}]}}');
    assert.equal(await kubectl.out("get svc web -n demo -o jsonpath={.spec.ports[*].port}"), "80 81");
    await kubectl.out("patch svc web -n demo --type=json -p", '[{"op":"remove","path":"/spec/ports/1"}]');
    await kubectl.out("patch deploy web -n demo --type=merge -p", '{"spec":{"paused":true}}');
    await kubectl.out("label svc web -n demo tier=front");
    await kubectl.out("annotate svc web -n demo note=x");
    assert.match(await kubectl.out("get svc -n demo -l tier=front"), /^web /m);
    await kubectl.out("scale deploy web -n demo --replicas=4");
    await kubectl.out("rollout restart deploy d -n demo");
    await kubectl.out("set image deploy/web c=other -n demo");
    assert.equal(await kubectl.out("get deploy web -n demo -o jsonpath={.spec.replicas}"), "4");
    const edited = await kubectl.run(["edit", "ing", "web", "-n", "demo"], {
      KUBE_EDITOR: "sed -i s/nginx/other/",
    });
    assert.equal(edited.code, 0, edited.stderr);
    assert.equal(await kubectl.out("get ing web -n demo -o jsonpath={.spec.ingressClassName}"), "other");
    const replaced = kubectl.file("replace.json", {
      ...ingress,
      spec: { ...ingress.spec, ingressClassName: "third" },
    });
    assert.match(await kubectl.out("replace -f", replaced), /replaced/);
  });

  test("custom kinds work like all others, as soon as they are established", async () => {
    const definition = widgetDefinition({
      additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
    });
    await kubectl.out("apply -f", kubectl.file("crd.json", definition));
    await kubectl.out("wait --for=condition=Established --timeout=20s crd/widgets.example.com");
    const file = kubectl.file("widget.json", widget);
    assert.match(await kubectl.out("apply -f", file), /created/);
    assert.match(await kubectl.out("apply -f", file), /unchanged/);
    assert.match(await kubectl.out("get wd -A"), /NAMESPACE +NAME +SIZE\ndemo +w +3/);
    assert.match(await kubectl.out("get all -n demo"), /widget.example.com\/w/);
    await kubectl.out("patch widget w -n demo --type=merge -p", '{"spec":{"size":4}}');
    await kubectl.out(
      "patch widget w -n demo --subresource=status --type=merge -p",
      '{"status":{"ready":true}}',
    );
    await kubectl.out("wait --for=jsonpath={.status.ready}=true --timeout=20s widget/w -n demo");
    assert.match(await kubectl.out("describe widget w -n demo"), /Ready: +true/);
    assert.match(await kubectl.out("explain widget.spec.color"), /red[\s,]+green/);
    const bad = { ...widget, spec: { size: 0, other: 1 } };
    assert.match(
      await kubectl.complaint("apply -f", kubectl.file("bad.json", bad)),
      /unknown field "spec.other"/,
    );
    assert.match(
      await kubectl.complaint("apply --validate=false -f", kubectl.file("bad.json", bad)),
      /spec.size in body should be greater than or equal to 1/,
    );
  });

  test("applies on the server, and meets conflicts there", async () => {
    const file = kubectl.file("ssa.json", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: inDemo("ssa"),
      data: { a: "1" },
    });
    await kubectl.out("apply --server-side -f", file);
    await kubectl.out("patch cm ssa -n demo -p", '{"data":{"a":"2"}}');
    assert.match(
      await kubectl.complaint("apply --server-side -f", file),
      /conflict with "kubectl-patch" using v1/,
    );
    await kubectl.out("apply --server-side --force-conflicts -f", file);
    assert.equal(await kubectl.out("get cm ssa -n demo -o jsonpath={.data.a}"), "1");
    await kubectl.out("apply -f", file);
    await kubectl.out("apply --server-side -f", file);
  });

  test("follows changes with get -w", async () => {
    const child = kubectl.start(["get", "cm", "-n", "demo", "-w", "--output-watch-events"]);
    let seen = "";
    const saw = (text: string): Promise<void> =>
      new Promise((resolve) => {
        const check = (): void => {
          if (seen.includes(text)) resolve();
        };
        child.stdout?.on("data", check);
        check();
      });
    child.stdout?.on("data", (chunk: Buffer) => (seen += chunk.toString()));
    await saw("ADDED");
    await kubectl.out("create configmap watched -n demo");
    await saw("ADDED      watched");
    await kubectl.out("delete configmap watched -n demo");
    await saw("DELETED    watched");
    child.kill();
  });

  test("asks who it is and what it may", async () => {
    assert.match(await kubectl.out("auth whoami"), /Username +admin/);
    assert.equal((await kubectl.out("auth can-i create pods")).trim(), "yes");
    assert.match(await kubectl.out("auth can-i --list"), /\*\.\*/);
    assert.match(await kubectl.out("version"), /Server Version: v1\./);
    assert.equal(await kubectl.out("get --raw /readyz"), "ok");
  });

  test("deletes and waits until it is done: objects, kinds, namespaces", async () => {
    assert.match(await kubectl.out("delete cm cm -n demo"), /deleted/);
    assert.match(await kubectl.out("delete deploy,ing --all -n demo"), /deleted/);
    await kubectl.out("delete crd widgets.example.com");
    assert.match(await kubectl.complaint("get widgets -A"), /doesn't have a resource type|could not find/);
    await kubectl.out("delete ns demo");
    assert.match(await kubectl.complaint("get ns demo"), /NotFound/);
    assert.match(await kubectl.complaint("delete ns default"), /Forbidden/);
  });
});
