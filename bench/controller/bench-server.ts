import type { TcpProxy } from "../../test/conformance/tcp-proxy.ts";

/** An API server that clients are measured against, a process of its own, with ConfigMaps in the namespace `bench`. */
export interface BenchServer extends AsyncDisposable {
  readonly name: string;
  /** A file that says how to reach it, straight or through a proxy. */
  kubeconfigFile(url?: string): Promise<string>;
  proxy(): Promise<TcpProxy & { readonly url: string }>;
  /** Sees to it that there are `count` objects, `object-0` and so on. */
  fill(count: number): Promise<void>;
  /** Updates the objects below `count`, each once, as fast as it goes. */
  burst(count: number): Promise<void>;
  /** Updates one object by a request of its own, and resolves when that is answered. */
  update(index: number): Promise<void>;
}
