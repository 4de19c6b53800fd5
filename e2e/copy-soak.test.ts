import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Informer, KubeClient, connectionFromKubeconfig, isApiError } from "@meridian/controller";
import type { InformerOptions } from "@meridian/controller";
import { HandlerHistory } from "@meridian/controller/testing";
import { configMapType, type ConfigMap } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { ChildServer, freePort, meridianCommand } from "../test/conformance/child-server.ts";
import { TcpProxy } from "../test/conformance/tcp-proxy.ts";

// Copies whose connections are cut every five seconds, for as long as MERIDIAN_SOAK_SECONDS says: `npm run proof` lets it
// be an hour.

const soakMs = Number(process.env["MERIDIAN_SOAK_SECONDS"] ?? 120) * 1000;
const cutEveryMs = 5_000;
/** At rest everything is compared and counted. */
const restEveryMs = Math.max(20_000, soakMs / 30);
const objects = 200;
const namespace = "default";
/** What a heap may grow by and still not leak: an hour has 720 cuts, so that some kilobytes for each would be more. */
const heapSlackBytes = 3 * 1024 * 1024;

const runtime = nodeRuntime({ dataFolder: tmpdir(), log: silentLogger });
const { clock } = runtime;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** What is in use while everything rests. */
interface Sample {
  readonly heapBytes: number;
  readonly files: number;
  readonly timers: number;
  readonly serverFiles: number;
}

async function eventually(what: string, holds: () => boolean): Promise<void> {
  const startedMs = clock.monotonicMs();
  while (!holds()) {
    if (clock.monotonicMs() - startedMs > 120_000) assert.fail(`it never came: ${what}`);
    await clock.sleep(20);
  }
}

/** A copy through the proxy, and a handler that checks what it is told. */
class FollowedCopy implements AsyncDisposable {
  readonly informer: Informer<ConfigMap>;
  readonly history: HandlerHistory<ConfigMap> = new HandlerHistory();
  readonly selects: (object: ConfigMap) => boolean;
  readonly #client: KubeClient;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(client: KubeClient, options: Partial<InformerOptions<ConfigMap>>) {
    this.#client = client;
    const shown = options.labelSelector !== undefined;
    this.selects = ({ metadata }) => !shown || metadata.labels?.["shown"] === "yes";
    this.informer = new Informer<ConfigMap>(runtime, { client, type: configMapType, namespace, ...options });
    this.informer.addHandler(this.history.handler);
    this.#running = this.informer.run(this.#stopping.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error("stopped"));
    await this.#running;
    await this.#client[Symbol.asyncDispose]();
  }
}

/** Changes objects at random until it is told to rest. */
class Writer {
  readonly #client: KubeClient;
  #resting = false;
  #writing: Promise<void> = Promise.resolve();
  #writes = 0;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  get writes(): number {
    return this.#writes;
  }

  start(): void {
    this.#resting = false;
    this.#writing = this.#write();
  }

  async rest(): Promise<void> {
    this.#resting = true;
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (!this.#resting) {
      const number = ++this.#writes;
      const name = `soak-${runtime.random.uint32() % objects}`;
      if (number % 5 === 0) await this.#remove(name);
      else await this.#put(name, number);
      await clock.sleep(10);
    }
  }

  async #put(name: string, number: number): Promise<void> {
    const labels = { shown: number % 3 === 0 ? "yes" : "no" };
    const data = { value: String(number), filling: "x".repeat(500) };
    const body: ConfigMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace, name, labels },
      data,
    };
    await this.#client.apply<ConfigMap>(configMapType, body, { fieldManager: "writer", force: true });
  }

  async #remove(name: string): Promise<void> {
    try {
      await this.#client.delete(configMapType, { namespace, name });
    } catch (error) {
      if (!isApiError(error) || error.code !== 404) throw error;
    }
  }
}

const cuts: readonly ((proxy: TcpProxy) => void)[] = [
  (proxy) => proxy.cut(),
  (proxy) => proxy.reset(),
  (proxy) => proxy.refuse(),
  (proxy) => proxy.stall(),
  (proxy) => proxy.blackHole(),
];

async function sample(server: ChildServer): Promise<Sample> {
  // What has ended is closed in the turns of the event loop that follow.
  for (let turn = 0; turn < 3; turn++) {
    await clock.sleep(100);
    collectGarbage();
  }
  const resources = process.getActiveResourcesInfo();
  return {
    heapBytes: process.memoryUsage().heapUsed,
    files: (await readdir("/proc/self/fd")).length,
    timers: resources.filter((name) => name === "Timeout").length,
    serverFiles: (await readdir(`/proc/${server.pid}/fd`)).length,
  };
}

test(`copies that are cut off every 5 s for ${soakMs / 1000} s stay right, and cost no more than at first`, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "meridian-soak-"));
  const port = await freePort(runtime);
  const args = ["apiserver", "--data", path.join(folder, "data"), "--port", String(port)];
  const server = await ChildServer.start([...meridianCommand, ...args], /kubeconfig: (\S+)\n/);
  try {
    const direct = connectionFromKubeconfig(runtime, await readFile(server.match[1]!, "utf8"));
    await using proxy = await TcpProxy.start(port);
    const through = (): KubeClient =>
      new KubeClient(runtime, { ...direct, origin: `https://127.0.0.1:${proxy.port}` });
    await using whole = new FollowedCopy(through(), {});
    await using part = new FollowedCopy(through(), { labelSelector: "shown=yes", watchList: false });
    await using reader = new KubeClient(runtime, direct);
    const copies = [whole, part];
    const writer = new Writer(reader);
    const samples: Sample[] = [];
    let cutCount = 0;

    const startedMs = clock.monotonicMs();
    while (clock.monotonicMs() - startedMs < soakMs || samples.length < 4) {
      writer.start();
      const restAtMs = clock.monotonicMs() + restEveryMs;
      while (clock.monotonicMs() < restAtMs) {
        cuts[cutCount++ % cuts.length]?.(proxy);
        await clock.sleep(cutEveryMs / 2);
        proxy.restore();
        await clock.sleep(cutEveryMs / 2);
      }
      await writer.rest();
      // What is silent now would be noticed by PING only after a while.
      proxy.cut();
      const { items } = await reader.list<ConfigMap>(configMapType, { namespace });
      for (const { informer, history, selects } of copies) {
        const expected = textOf(items.filter(selects));
        await eventually("a copy equals the truth", () => textOf(informer.lister.list()) === expected);
        await eventually("its watch is open", () => informer.connected);
        await eventually(
          "its handler has been told",
          () => textOf([...history.objects.values()]) === expected,
        );
        assert.deepEqual([history.problems, informer.status.handlerErrors], [[], 0]);
      }
      samples.push(await sample(server));
    }

    // The first rest still has what is made once and kept.
    const [, first, ...later] = samples as [Sample, Sample, ...Sample[]];
    const last = later.at(-1) as Sample;
    const lowest = Math.min(...later.slice(-3).map(({ heapBytes }) => heapBytes));
    console.log(
      `MEASURED soak: ${Math.round((clock.monotonicMs() - startedMs) / 1000)} s, ${cutCount} cuts, ${writer.writes} writes, ` +
        `${proxy.accepted} connections, heap ${first.heapBytes} to ${lowest} bytes, files ${first.files} to ${last.files}, ` +
        `timers ${first.timers} to ${last.timers}, the server's files ${first.serverFiles} to ${last.serverFiles}`,
    );
    assert.ok(cutCount >= Math.floor(soakMs / cutEveryMs / 2), `only ${cutCount} cuts`);
    assert.ok(writer.writes > 10 * cutCount, `only ${writer.writes} writes`);
    assert.ok(
      lowest <= first.heapBytes + heapSlackBytes,
      `the heap grew from ${first.heapBytes} to ${lowest} bytes`,
    );
    assert.ok(last.files <= first.files, `open files grew from ${first.files} to ${last.files}`);
    assert.ok(last.timers <= first.timers + 1, `timers grew from ${first.timers} to ${last.timers}`);
    assert.ok(
      last.serverFiles <= first.serverFiles + 2,
      `the server's open files grew from ${first.serverFiles} to ${last.serverFiles}`,
    );
  } finally {
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
});

function textOf(objectsOf: readonly ConfigMap[]): string {
  return objectsOf
    .map(
      ({ metadata, data }) =>
        `${metadata.name} ${metadata.uid}@${metadata.resourceVersion} ${data?.["value"]}`,
    )
    .sort()
    .join("\n");
}
