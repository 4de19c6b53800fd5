import assert from "node:assert/strict";
import { once } from "node:events";
import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer as createTlsServer } from "node:https";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import {
  Informer,
  KubeClient,
  clientFromEnvironment,
  clientFromKubeconfig,
  loadKubeconfig,
  parseKubeconfig,
} from "@meridian/controller";
import { configMapType, type ConfigMap } from "@meridian/kube";
import { silentLogger, type HttpHandler, type HttpRequest, type HttpServer } from "@meridian/runtime";
import { nodeLocalSystem, nodeRuntime } from "@meridian/runtime/node";
import { kubeconfigText } from "../../e2e/harness/kubeconfig-text.ts";
import { TestAuthority, type IssuedIdentity } from "../../e2e/harness/test-authority.ts";
import { TcpProxy } from "./tcp-proxy.ts";

// The client over real sockets and TLS: what it leaves open, and how it goes on when certificates, plugins and servers change.

const address = "127.0.0.1";
const runtime = nodeRuntime({ dataFolder: tmpdir(), log: silentLogger });
const ref = { namespace: "n", name: "a" };
const object: ConfigMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { ...ref, uid: "u", resourceVersion: "1" },
};

let folder: string;
let authority: TestAuthority;
let identity: IssuedIdentity;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "meridian-connections-"));
  authority = await TestAuthority.create(folder);
  identity = await authority.issueServer("server", [address]);
});
after(() => rm(folder, { recursive: true, force: true }));

const encoder = new TextEncoder();
const line = (value: unknown): Uint8Array => encoder.encode(`${JSON.stringify(value)}\n`);
const json = { "content-type": "application/json" };

/** Answers lists, reads and watches about one object; a watch tells of it and stays open. */
const handler: HttpHandler = async ({ target, signal }) => {
  if (!target.includes("watch=")) {
    const list = {
      kind: "ConfigMapList",
      apiVersion: "v1",
      metadata: { resourceVersion: "1" },
      items: [object],
    };
    return { status: 200, headers: json, body: line(target.includes("/configmaps/") ? object : list) };
  }
  async function* body(): AsyncGenerator<Uint8Array, void> {
    yield line({ type: "ADDED", object });
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  }
  return { status: 200, headers: json, body: body() };
};

function serve(answer: HttpHandler = handler): Promise<HttpServer> {
  return runtime.network.serveHttp({
    address,
    port: 0,
    bodyBytesMax: 1_000_000,
    handler: answer,
    tls: { ...identity, clientCaPem: authority.certificatePem },
  });
}

/** The same over HTTP/1.1 alone. */
async function serveHttp1(): Promise<{ readonly port: number } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createTlsServer(
    { cert: identity.certificatePem, key: identity.privateKeyPem },
    (request, response) => {
      if (!String(request.url).includes("watch=")) return void response.end(line(object));
      response.write(line({ type: "ADDED", object }));
    },
  );
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(0, address);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const descriptors = async (): Promise<number> => (await readdir("/proc/self/fd")).length;

for (const protocol of ["HTTP/2", "HTTP/1.1"]) {
  test(`a thousand reconnections of a watch leave no connection behind, over ${protocol} (kubernetes-client/javascript#2893)`, async () => {
    await using server = protocol === "HTTP/2" ? await serve() : await serveHttp1();
    await using proxy = await TcpProxy.start("port" in server ? server.port : server.local.port);
    const client = new KubeClient(runtime, {
      origin: `https://${address}:${proxy.port}`,
      tls: { caPem: authority.certificatePem },
    });
    let descriptorsBefore = 0;
    for (let count = 0; count < 1000; count++) {
      const stream = await client.watch(configMapType, { resourceVersion: "1" });
      for await (const { type } of stream) {
        assert.equal(type, "ADDED");
        break;
      }
      if (count === 20) descriptorsBefore = await descriptors();
    }
    await client.get(configMapType, ref);
    const grown = (await descriptors()) - descriptorsBefore;
    assert.ok(grown < 10, `${grown} descriptors more than after 20 reconnections`);
    // HTTP/2 ends a stream and keeps its connection; HTTP/1.1 can only close the connection.
    if (protocol === "HTTP/2") assert.equal(proxy.accepted, 1);
    await client[Symbol.asyncDispose]();
  });
}

test("requests and a watch of one client share one connection, and that ends with the client", async () => {
  await using server = await serve();
  await using proxy = await TcpProxy.start(server.local.port);
  {
    await using client = new KubeClient(runtime, {
      origin: `https://${address}:${proxy.port}`,
      tls: { caPem: authority.certificatePem },
    });
    const stream = await client.watch(configMapType);
    await Promise.all(Array.from({ length: 50 }, () => client.get(configMapType, ref)));
    assert.equal(proxy.accepted, 1);
    stream.close();
  }
  assert.equal(proxy.accepted, 1);
});

test("an API that is gone rejects nothing that nobody handles, and the copy goes on when it is back (kubernetes-client/javascript#680)", async () => {
  const closed = createServer().listen(0, address);
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", note);
  try {
    await using client = new KubeClient(runtime, {
      origin: `https://${address}:${port}`,
      tls: { caPem: authority.certificatePem },
    });
    const refused = await Promise.allSettled(
      Array.from({ length: 20 }, () => client.get(configMapType, ref)),
    );
    for (const outcome of refused) {
      assert.equal(outcome.status, "rejected");
      const { reason } = outcome;
      assert.deepEqual(
        [reason.name, reason.reason, reason.cause?.code],
        ["ApiError", "Unreachable", "Refused"],
      );
    }
    let onFailure = (): void => {};
    const failed = new Promise<void>((resolve) => (onFailure = resolve));
    const informer = new Informer<ConfigMap>(runtime, {
      client,
      type: configMapType,
      onFailure: () => onFailure(),
    });
    const stopping = new AbortController();
    const running = informer.run(stopping.signal);
    await failed;
    await using _server = await runtime.network.serveHttp({
      ...{ address, port, bodyBytesMax: 1000, handler },
      tls: identity,
    });
    await informer.synced;
    assert.equal(informer.lister.list().length, 1);
    stopping.abort(new Error("the test is over"));
    await running;
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(unhandled, []);
  } finally {
    process.off("unhandledRejection", note);
  }
});

test("a client certificate that is replaced is used from the next look on, and watches go on with the old one", async () => {
  const seen: (string | undefined)[] = [];
  const whoAsks = ({ clientCertificate }: HttpRequest): void => void seen.push(clientCertificate?.commonName);
  await using server = await serve((request) => {
    whoAsks(request);
    return handler(request);
  });
  const [first, second] = [
    await authority.issueClient("first", []),
    await authority.issueClient("second", []),
  ];
  const [certificate, key] = [path.join(folder, "client.crt"), path.join(folder, "client.key")];
  const install = async (client: IssuedIdentity): Promise<void> => {
    await cp(client.certificateFile, certificate);
    await cp(client.privateKeyFile, key);
  };
  await install(first);
  const config = path.join(folder, "config");
  await writeFile(
    config,
    `
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://${address}:${server.local.port}", certificate-authority: ca.crt}}]
users: [{name: u, user: {client-certificate: client.crt, client-key: client.key}}]`,
  );
  let skewMs = 0;
  const { clock } = runtime;
  const later = {
    ...runtime,
    clock: {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs() + skewMs,
      sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms, signal),
      after: (ms: number, callback: () => void) => clock.after(ms, callback),
    },
  };
  const system = nodeLocalSystem();
  await using client = clientFromKubeconfig(later, await loadKubeconfig(system, { path: config }), {
    system,
  });
  const stream = await client.watch(configMapType);
  const events = stream[Symbol.asyncIterator]();
  await events.next();
  await install(second);
  await client.get(configMapType, ref);
  skewMs = 61_000;
  await client.get(configMapType, ref);
  assert.deepEqual(seen, ["first", "first", "second"]);
  let ended = false;
  const next = events.next().then(() => (ended = true));
  await client.get(configMapType, ref);
  assert.equal(ended, false);
  stream.close();
  await next;

  // A certificate whose key is still to come, of a writer who takes his time, is not taken: the old pair is good.
  await cp(first.certificateFile, certificate);
  skewMs = 122_000;
  await client.get(configMapType, ref);
  assert.equal(seen.at(-1), "second");
  await cp(first.privateKeyFile, key);
  skewMs = 125_000;
  await client.get(configMapType, ref);
  assert.equal(seen.at(-1), "first");
});

test("an exec plugin is a program that runs, and what it prints logs in", async () => {
  await using server = await serve(async (request) =>
    request.headers["authorization"] === "Bearer from-plugin"
      ? handler(request)
      : { status: 401, headers: json, body: line({ kind: "Status", code: 401, reason: "Unauthorized" }) },
  );
  const plugin = path.join(folder, "plugin.cjs");
  await writeFile(
    plugin,
    `const { apiVersion, spec } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
const token = spec.cluster.server.startsWith("https://${address}") && process.env.WHO === "me" ? "from-plugin" : "wrong";
console.log(JSON.stringify({ apiVersion, kind: "ExecCredential", status: { token } }));`,
  );
  const text = `
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://${address}:${server.local.port}", certificate-authority: ca.crt}}]
users: [{name: u, user: {exec: {command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(plugin)}],
  apiVersion: client.authentication.k8s.io/v1, provideClusterInfo: true, env: [{name: WHO, value: me}]}}}]`;
  const config = parseKubeconfig(text, { path: path.join(folder, "config") });
  await using client = clientFromKubeconfig(runtime, config, { system: nodeLocalSystem() });
  assert.equal((await client.get(configMapType, ref)).metadata.name, "a");
});

const knownAs = (kubeconfig: string, serverName: string): string =>
  kubeconfig.replace('"server":', `"tls-server-name":"${serverName}","server":`);

test("a server is known by the name that the kubeconfig says, and not by another", async () => {
  await using server = await serve();
  const text = kubeconfigText({
    server: `https://${address}:${server.local.port}`,
    caPem: authority.certificatePem,
    user: "u",
    credential: { token: "t" },
  });
  for (const [serverName, outcome] of [
    ["localhost", "fulfilled"],
    ["elsewhere", "rejected"],
  ] as const) {
    await using client = clientFromKubeconfig(runtime, knownAs(text, serverName));
    const [asked] = await Promise.allSettled([client.get(configMapType, ref)]);
    assert.equal(asked?.status, outcome, serverName);
  }
});

test("KUBECONFIG and HTTPS_PROXY of the environment lead to the server", async () => {
  await using server = await serve();
  const config = path.join(folder, "named-config");
  await writeFile(
    config,
    knownAs(
      kubeconfigText({
        server: `https://api.test.invalid:${server.local.port}`,
        caPem: authority.certificatePem,
        user: "u",
        credential: { token: "t" },
      }),
      "localhost",
    ),
  );
  const asked: string[] = [];
  const proxy = createServer((near) => {
    near.on("error", () => {});
    near.once("data", (head) => {
      asked.push(String(head).split("\r\n")[0] ?? "");
      // The proxy knows the name; the system does not.
      const far = connect(server.local.port, address, () => {
        near.write("HTTP/1.1 200 OK\r\n\r\n");
        near.pipe(far);
        far.pipe(near);
      });
      far.on("error", () => near.destroy());
      near.on("close", () => far.destroy());
    });
  });
  proxy.listen(0, address);
  await once(proxy, "listening");
  const system = nodeLocalSystem({
    KUBECONFIG: `/nowhere/config:${config}`,
    HTTPS_PROXY: `http://${address}:${(proxy.address() as AddressInfo).port}`,
  });
  try {
    await using client = await clientFromEnvironment(runtime, { system });
    assert.equal((await client.get(configMapType, ref)).metadata.name, "a");
    assert.deepEqual(asked, [`CONNECT api.test.invalid:${server.local.port} HTTP/1.1`]);
  } finally {
    proxy.close();
  }
});
