import type { DatagramClient, DeferDatagram, Logger } from "@meridian/runtime";
import { ReusedClient } from "@meridian/runtime";
import type { RequestPipeline } from "./dns-request.ts";
import { ProxyHeader } from "./proxy-header.ts";
import type { ProxySources } from "./proxy-sources.ts";

/** Datagrams whose answer is under way; more are lost, as on any full queue. */
const requestsMax = 256;

/** What answers the datagrams that need more than a lookup. */
export interface UdpRequestsOptions {
  readonly requests: () => RequestPipeline | undefined;
  readonly proxies: ProxySources;
  readonly log: Logger;
  /** A datagram was lost, since too many were under way. */
  readonly onLost: () => void;
}

/** Has deferred datagrams answered, a bounded number at once. Disposing it aborts those under way. */
export class UdpRequests implements Disposable {
  readonly #options: UdpRequestsOptions;
  readonly #header: ProxyHeader = new ProxyHeader();
  readonly #abort: AbortController = new AbortController();
  #pending = 0;

  constructor(options: UdpRequestsOptions) {
    this.#options = options;
  }

  readonly defer: DeferDatagram = (message, client, reply) => {
    const requests = this.#options.requests();
    if (requests === undefined) return;
    if (this.#pending >= requestsMax) {
      this.#options.onLost();
      return;
    }
    void this.#serve(requests, this.#unwrap(message, client), reply);
  };

  [Symbol.dispose](): void {
    this.#abort.abort();
  }

  /** As the answering function saw it: without the proxy's header, from the proxy's client. */
  #unwrap(message: Uint8Array, client: DatagramClient): { message: Uint8Array; client: DatagramClient } {
    const header = this.#header;
    if (!this.#options.proxies.has(client)) return { message, client };
    if (header.read(message, 0, message.length, "datagram") !== "ok") return { message, client };
    const rest = message.subarray(header.length);
    if (header.local) return { message: rest, client };
    const proxied = new ReusedClient("udp");
    proxied.setOctets(message, header.addressAt, header.addressOctets, header.port);
    return { message: rest, client: proxied };
  }

  async #serve(
    requests: RequestPipeline,
    request: { readonly message: Uint8Array; readonly client: DatagramClient },
    reply: (octets: Uint8Array) => void,
  ): Promise<void> {
    const { signal } = this.#abort;
    this.#pending++;
    try {
      for await (const answer of requests.handle({ ...request, signal })) reply(answer);
    } catch (error) {
      if (!signal.aborted) this.#options.log.warn("answering a request failed", { error });
    }
    this.#pending--;
  }
}
