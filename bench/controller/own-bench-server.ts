import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { clientFromKubeconfig, connectionFromKubeconfig, type KubeClient } from "@meridian/controller";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { boundCommand } from "../../e2e/harness/bound-command.ts";
import { ChildServer } from "../../test/conformance/child-server.ts";
import { TcpProxy } from "../../test/conformance/tcp-proxy.ts";
import { newObject } from "./bench-object.ts";
import type { BenchServer } from "./bench-server.ts";
import { configMaps, createBenchNamespace, touchObject } from "./bench-writes.ts";
import { inParallel } from "./in-parallel.ts";

const writesAtOnce = 64;
const program = fileURLToPath(new URL("own-server-process.js", import.meta.url));

interface Parts {
  readonly folder: string;
  readonly child: ChildServer;
  readonly kubeconfig: string;
  readonly url: string;
  readonly client: KubeClient;
}

/** Our API server over a store in memory. Objects come by requests. */
export class OwnBenchServer implements BenchServer {
  readonly name = "our API server";
  readonly #parts: Parts;
  readonly #proxies: TcpProxy[] = [];
  #objects = 0;
  #generation = 0;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  static async start(): Promise<OwnBenchServer> {
    const folder = await mkdtemp(path.join(tmpdir(), "meridian-bench-server-"));
    const child = await ChildServer.start(boundCommand([process.execPath, program, folder]), /^(\{.*\})\n/m);
    const kubeconfig = child.match[1] ?? "";
    const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
    const client = clientFromKubeconfig(runtime, kubeconfig);
    await createBenchNamespace(client);
    const { origin: url } = connectionFromKubeconfig(runtime, kubeconfig);
    return new OwnBenchServer({ folder, child, kubeconfig, url, client });
  }

  async kubeconfigFile(url?: string): Promise<string> {
    const { kubeconfig, folder, url: straight } = this.#parts;
    const file = path.join(folder, `${url === undefined ? "straight" : new URL(url).port}.kubeconfig`);
    await writeFile(file, kubeconfig.replace(straight, url ?? straight), { mode: 0o600 });
    return file;
  }

  async proxy(): Promise<TcpProxy & { readonly url: string }> {
    const proxy = await TcpProxy.start(Number(new URL(this.#parts.url).port));
    this.#proxies.push(proxy);
    return Object.assign(proxy, { url: `https://127.0.0.1:${proxy.port}` });
  }

  async fill(count: number): Promise<void> {
    const { client } = this.#parts;
    const [from, to] = [this.#objects, Math.max(this.#objects, count)];
    await inParallel(to - from, writesAtOnce, async (at) => {
      await client.create(configMaps, newObject(from + at, 0));
    });
    this.#objects = to;
  }

  async burst(count: number): Promise<void> {
    const { client } = this.#parts;
    const generation = ++this.#generation;
    await inParallel(count, writesAtOnce, async (index) => {
      await client.update(configMaps, newObject(index, generation));
    });
  }

  update(index: number): Promise<void> {
    return touchObject(this.#parts.client, index);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { client, child, folder } = this.#parts;
    for (const proxy of this.#proxies) await proxy[Symbol.asyncDispose]();
    await client[Symbol.asyncDispose]();
    await child[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}
