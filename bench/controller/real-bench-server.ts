import { clientFromKubeconfig, type KubeClient } from "@meridian/controller";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { startRealControlPlane } from "../../e2e/harness/real-control-plane.ts";
import type { RealControlPlane } from "../../e2e/harness/real-control-plane.ts";
import type { TcpProxy } from "../../test/conformance/tcp-proxy.ts";
import { benchNamespace, objectName, storedObject } from "./bench-object.ts";
import type { BenchServer } from "./bench-server.ts";
import { configMaps, createBenchNamespace, touchObject } from "./bench-writes.ts";
import { EtcdWriter } from "./etcd-writer.ts";

/**
 * kube-apiserver with etcd. Objects are put into etcd itself, in JSON, which kube-apiserver reads as it does its own: a
 * hundred thousand take seconds so, and minutes through it.
 */
export class RealBenchServer implements BenchServer {
  readonly name = "kube-apiserver";
  readonly #plane: RealControlPlane;
  readonly #client: KubeClient;
  readonly #etcd: EtcdWriter;
  #objects = 0;
  #generation = 0;

  private constructor(plane: RealControlPlane, client: KubeClient) {
    this.#plane = plane;
    this.#client = client;
    this.#etcd = new EtcdWriter(plane.etcdUrl);
  }

  /** Takes some seconds, and minutes where the servers are not built yet. */
  static async start(): Promise<RealBenchServer> {
    const plane = await startRealControlPlane();
    const runtime = nodeRuntime({ dataFolder: plane.folder, log: silentLogger });
    const client = clientFromKubeconfig(runtime, plane.kubeconfig());
    await createBenchNamespace(client);
    return new RealBenchServer(plane, client);
  }

  kubeconfigFile(url?: string): Promise<string> {
    return this.#plane.kubeconfigFile("admin", url === undefined ? {} : { url });
  }

  proxy(): Promise<TcpProxy & { readonly url: string }> {
    return this.#plane.proxy();
  }

  async fill(count: number): Promise<void> {
    if (count <= this.#objects) return;
    await this.#put(this.#objects, count);
    this.#objects = count;
    await this.#settled();
  }

  async burst(count: number): Promise<void> {
    this.#generation++;
    // What is forgotten is older than anything that a client here has seen; etcd would keep all of it.
    await this.#plane.compact();
    await this.#put(0, count);
    await this.#settled();
  }

  async update(index: number): Promise<void> {
    await touchObject(this.#client, index);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#etcd[Symbol.dispose]();
    await this.#client[Symbol.asyncDispose]();
    await this.#plane[Symbol.asyncDispose]();
  }

  async #put(from: number, to: number): Promise<void> {
    await this.#etcd.putAll(to - from, (at) => [
      `/registry/configmaps/${benchNamespace}/${objectName(from + at)}`,
      JSON.stringify(storedObject(from + at, this.#generation)),
    ]);
  }

  /** Resolves when kube-apiserver has seen all that is in etcd: an answer that must be as new as that waits for it. */
  async #settled(): Promise<void> {
    const now = await this.#client.list(configMaps, { namespace: benchNamespace, limit: 1 });
    await this.#client.list(configMaps, {
      namespace: benchNamespace,
      fieldSelector: `metadata.name=${objectName(0)}`,
      resourceVersion: now.metadata.resourceVersion ?? "",
    });
  }
}
