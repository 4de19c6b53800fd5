import { readBody } from "@meridian/runtime";
import type { HttpBody, HttpClient, HttpClientRequest, HttpClientResponse, Runtime } from "@meridian/runtime";
import type { TlsSettings } from "./tls-source.ts";

/** One HTTP client, and the exchanges that it has open. */
interface Pool {
  readonly tls: TlsSettings | undefined;
  readonly http: HttpClient;
  exchanges: number;
}

/**
 * The connections to one API server: one HTTP client per identity, so that requests and watches share its connections.
 *
 * When the identity changes (a certificate was replaced) new requests use a new client. What is open stays open on the
 * old one, which is closed when the last of it has ended: no watch is lost to a rotation.
 */
export class ApiConnections implements AsyncDisposable {
  readonly #network: Runtime["network"];
  readonly #options: { readonly origin: string; readonly proxyUrl?: string };
  readonly #pools = new Set<Pool>();
  #current: Pool | undefined;

  constructor(network: Runtime["network"], options: { readonly origin: string; readonly proxyUrl?: string }) {
    this.#network = network;
    this.#options = options;
  }

  /** Sends a request as whom `tls` says. @throws NetworkError; the signal's reason */
  async request(request: HttpClientRequest, tls: TlsSettings | undefined): Promise<HttpClientResponse> {
    const pool = this.#poolFor(tls);
    pool.exchanges++;
    let open = true;
    const release = (): void => {
      if (!open) return;
      open = false;
      request.signal?.removeEventListener("abort", release);
      pool.exchanges--;
      this.#closeIfOver(pool);
    };
    request.signal?.addEventListener("abort", release, { once: true });
    try {
      const response = await pool.http.request(request);
      return { ...response, body: releasing(response.body, release) };
    } catch (error) {
      release();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pools = [...this.#pools];
    this.#pools.clear();
    this.#current = undefined;
    await Promise.all(pools.map(({ http }) => http[Symbol.asyncDispose]()));
  }

  #poolFor(tls: TlsSettings | undefined): Pool {
    const before = this.#current;
    if (before !== undefined && isSame(before.tls, tls)) return before;
    const http = this.#network.httpClient({ ...this.#options, ...(tls === undefined ? {} : { tls }) });
    const pool: Pool = { tls, http, exchanges: 0 };
    this.#current = pool;
    this.#pools.add(pool);
    if (before !== undefined) this.#closeIfOver(before);
    return pool;
  }

  #closeIfOver(pool: Pool): void {
    if (pool === this.#current || pool.exchanges > 0 || !this.#pools.delete(pool)) return;
    // Nothing is left on it; what closing says is of interest to nobody.
    void Promise.resolve(pool.http[Symbol.asyncDispose]()).catch(() => {});
  }
}

/** The body, whose reader's end is known. */
function releasing(body: HttpBody, release: () => void): HttpBody {
  return {
    async *[Symbol.asyncIterator]() {
      try {
        yield* body;
      } finally {
        release();
      }
    },
    drain: (take) => readBody(body, take).finally(release),
  };
}

function isSame(one: TlsSettings | undefined, other: TlsSettings | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined) return false;
  return (
    one.caPem === other.caPem &&
    one.certificatePem === other.certificatePem &&
    one.privateKeyPem === other.privateKeyPem &&
    one.serverName === other.serverName &&
    one.insecureSkipVerify === other.insecureSkipVerify
  );
}
