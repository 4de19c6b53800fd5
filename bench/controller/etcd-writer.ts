import { connect } from "node:http2";
import type { ClientHttp2Session } from "node:http2";
import { grpcMessage } from "./grpc-message.ts";
import { inParallel } from "./in-parallel.ts";

const putsAtOnce = 64;

/**
 * Puts values into etcd by its own protocol, gRPC without TLS: some thousand a second. Each put is a revision of its own, as each
 * of kube-apiserver's writes is; many in one transaction would share theirs, which no client of Kubernetes ever sees.
 */
export class EtcdWriter implements Disposable {
  readonly #session: ClientHttp2Session;

  constructor(url: string) {
    this.#session = connect(url);
    this.#session.on("error", () => {}); // each put fails for itself
  }

  /** Puts `count` keys and values. */
  async putAll(
    count: number,
    entry: (index: number) => readonly [key: string, value: string],
  ): Promise<void> {
    await inParallel(count, putsAtOnce, (index) => this.#put(...entry(index)));
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }

  #put(key: string, value: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({
        ":method": "POST",
        ":path": "/etcdserverpb.KV/Put",
        "content-type": "application/grpc",
        te: "trailers",
      });
      stream.on("trailers", (trailers) => {
        if (trailers["grpc-status"] === "0") resolve();
        else
          reject(new Error(`etcd answers ${trailers["grpc-status"]}: ${String(trailers["grpc-message"])}`));
      });
      stream.on("error", reject);
      stream.on("close", () => reject(new Error("etcd closed a stream without an answer")));
      stream.resume();
      stream.end(grpcMessage([key, value]));
    });
  }
}
