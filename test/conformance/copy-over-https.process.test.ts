import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { Informer, KubeClient, connectionFromKubeconfig } from "@meridian/controller";
import type { KubeClientOptions } from "@meridian/controller";
import { HandlerHistory } from "@meridian/controller/testing";
import type { ConfigMap, ResourceType } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { ChildServer, freePort, meridianCommand } from "./child-server.ts";
import { TcpProxy } from "./tcp-proxy.ts";

// Our informer and our API server, each as users run it, over HTTPS and HTTP/2 on loopback.

const configMaps: ResourceType = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};
const runtime = nodeRuntime({ dataFolder: tmpdir(), log: silentLogger });
const namespace = "default";

let folder: string;
let port: number;
let server: ChildServer;
let direct: KubeClientOptions;

async function startServer(): Promise<void> {
  const args = ["apiserver", "--data", path.join(folder, "data"), "--port", String(port)];
  server = await ChildServer.start([...meridianCommand, ...args], /kubeconfig: (\S+)\n/);
  direct = connectionFromKubeconfig(runtime, await readFile(server.match[1]!, "utf8"));
}

/** A client whose connections go through the proxy; the certificate is for the address alone. */
function clientThrough(proxy: TcpProxy): KubeClient {
  return new KubeClient(runtime, { ...direct, origin: `https://127.0.0.1:${proxy.port}` });
}

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "meridian-https-"));
  port = await freePort(runtime);
  await startServer();
});

after(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Waits for what must come; the bound is only there to end a test that hangs. */
async function eventually(what: string, holds: () => boolean): Promise<void> {
  const startedMs = runtime.clock.monotonicMs();
  while (!holds()) {
    if (runtime.clock.monotonicMs() - startedMs > 120_000) assert.fail(`it never came: ${what}`);
    await runtime.clock.sleep(10);
  }
}

/** A copy through the proxy, with a handler that checks each step a handler is told. */
class FollowedCopy implements AsyncDisposable {
  readonly informer: Informer<ConfigMap>;
  readonly history: HandlerHistory<ConfigMap> = new HandlerHistory();
  readonly #client: KubeClient;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(client: KubeClient, prefix: string) {
    this.#client = client;
    const labelSelector = `test=${prefix}`;
    this.informer = new Informer<ConfigMap>(runtime, { client, type: configMaps, namespace, labelSelector });
    this.informer.addHandler(this.history.handler);
    this.#running = this.informer.run(this.#stopping.signal);
  }

  /** Waits until the copy holds exactly what the server does, asked past the proxy. */
  async catchUp(prefix: string): Promise<void> {
    await using client = new KubeClient(runtime, direct);
    const { items } = await client.list<ConfigMap>(configMaps, {
      namespace,
      labelSelector: `test=${prefix}`,
    });
    const expected = textOf(items);
    await eventually(`the copy equals ${expected}`, () => textOf(this.informer.lister.list()) === expected);
    this.history.check(this.informer.lister.list());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error("stopped"));
    await this.#running;
    await this.#client[Symbol.asyncDispose]();
  }
}

function textOf(objects: readonly ConfigMap[]): string {
  return objects
    .map(
      ({ metadata, data }) =>
        `${metadata.name} ${metadata.uid}@${metadata.resourceVersion} ${JSON.stringify(data)}`,
    )
    .sort()
    .join("\n");
}

/** Some creations, changes and deletions; each must be acknowledged. */
async function writeSome(client: KubeClient, prefix: string, round: number): Promise<void> {
  for (let index = 0; index < 12; index++) {
    if (index % 4 === 3) {
      await client.delete(configMaps, { namespace, name: `${prefix}-${(index - 1) % 5}` });
      continue;
    }
    const name = `${prefix}-${index % 5}`;
    const metadata = { name, labels: { test: prefix } };
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { value: `${round}.${index}` } };
    await client.patch(
      configMaps,
      { namespace, name },
      { type: "apply", force: true, fieldManager: "writer", body },
    );
  }
}

test("connections that are cut again and again leave no gap in the copy", async () => {
  await using proxy = await TcpProxy.start(port);
  await using copy = new FollowedCopy(clientThrough(proxy), "cut");
  await using writer = new KubeClient(runtime, direct);
  await copy.informer.synced;
  for (let round = 0; round < 8; round++) {
    const writing = writeSome(writer, "cut", round);
    proxy.cut();
    await writing;
    if (round % 2 === 1) await copy.catchUp("cut");
  }
  await copy.catchUp("cut");
  assert.ok(proxy.accepted > 1);
});

test("an API server that is killed by kill -9 keeps what it acknowledged, and the copy goes on", async () => {
  await using proxy = await TcpProxy.start(port);
  await using copy = new FollowedCopy(clientThrough(proxy), "kill");
  await copy.informer.synced;
  for (let round = 0; round < 4; round++) {
    await using writer = new KubeClient(runtime, direct);
    await writeSome(writer, "kill", round);
    // Writes are under way when it dies; they happened or not, and the copy shows what the restarted server says.
    const cutShort = writeSome(writer, "kill", round + 100).catch(() => {});
    await server.kill();
    await cutShort;
    await startServer();
    await using reader = new KubeClient(runtime, direct);
    const last = await reader.get<ConfigMap>(configMaps, { namespace, name: "kill-4" });
    const value = last.data?.["value"] ?? "";
    assert.ok([`${round}.9`, `${round + 100}.4`, `${round + 100}.9`].includes(value), value);
    await copy.catchUp("kill");
  }
});

test("watches on one connection do not disturb each other", async () => {
  await using proxy = await TcpProxy.start(port);
  await using client = clientThrough(proxy);
  await using writer = new KubeClient(runtime, direct);
  const { metadata } = await writer.list(configMaps, { namespace, labelSelector: "test=many" });
  const open = () =>
    client.watch<ConfigMap>(configMaps, {
      namespace,
      labelSelector: "test=many",
      resourceVersion: metadata.resourceVersion!,
    });
  const [unread, stopped, followed] = [await open(), await open(), await open()];
  assert.equal(proxy.accepted, 1, "all watches share one connection");

  const names = (events: readonly ConfigMap[]): string[] => events.map((object) => object.metadata.name!);
  const seen: Record<"stopped" | "followed", ConfigMap[]> = { stopped: [], followed: [] };
  const reading = (async () => {
    for await (const event of followed) if (event.type === "ADDED") seen.followed.push(event.object);
  })();
  const halfReading = (async () => {
    for await (const event of stopped) {
      if (event.type === "ADDED") seen.stopped.push(event.object);
      if (seen.stopped.length === 3) break;
    }
  })();
  // Far more than what one stream may hold back: a reader that does not read must not stop the others.
  const count = 60;
  for (let index = 0; index < count; index++) {
    await writer.create<ConfigMap>(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `many-${index}`, namespace, labels: { test: "many" } },
      data: { value: "x".repeat(100_000) },
    });
  }
  await eventually("the read watch has everything", () => seen.followed.length === count);
  await halfReading;
  assert.deepEqual(
    names(seen.followed),
    Array.from({ length: count }, (_, index) => `many-${index}`),
  );
  assert.equal(seen.stopped.length, 3);

  // The unread one goes on without a gap from where it stands, or was ended by the server.
  let next = 0;
  for await (const event of unread) {
    if (event.type !== "ADDED") continue;
    assert.equal(event.object.metadata.name, `many-${next++}`);
    if (next === count) break;
  }
  assert.equal(proxy.accepted, 1);
  followed.close();
  await reading;
});

test("a connection that has gone silent is noticed by PING, and nothing is missed", async () => {
  await using proxy = await TcpProxy.start(port);
  await using copy = new FollowedCopy(clientThrough(proxy), "stall");
  await using writer = new KubeClient(runtime, direct);
  await copy.informer.synced;
  await eventually("the watch is open", () => copy.informer.connected);
  proxy.stall();
  await writeSome(writer, "stall", 0);
  await copy.catchUp("stall");
  assert.equal(proxy.accepted, 2);
});
