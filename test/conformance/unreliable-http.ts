import {
  NetworkError,
  type HttpClient,
  type HttpClientRequest,
  type HttpClientResponse,
  type Random,
  type Runtime,
} from "@meridian/runtime";

/** How a watch is ended from between: cleanly, inside a document, or as a broken connection. */
export type CutKind = "clean" | "inside" | "broken";

interface OpenWatch {
  /** The lines that watches of the same objects have had. */
  readonly past: Uint8Array[];
  /** Delivers octets to the client, before whatever the server sends next. */
  readonly deliver: (octets: Uint8Array) => void;
  readonly cut: (kind: CutKind) => void;
}

/**
 * A middlebox that means no good, between a client and its API server: it cuts watches, also inside a document, cuts and
 * joins chunks anywhere, delivers events of the past once more, holds everything up, and answers in the server's place.
 */
export class UnreliableHttp {
  readonly #clock: Runtime["clock"];
  readonly #random: Random;
  readonly #watches = new Set<OpenWatch>();
  readonly #refusals: HttpClientResponse[] = [];
  /** Lines that went through, the oldest first, by what was asked for. */
  readonly #past = new Map<string, Uint8Array[]>();
  #heldUntilMs = 0;
  #toDrop = 0;

  constructor(runtime: Pick<Runtime, "clock">, random: Random) {
    this.#clock = runtime.clock;
    this.#random = random;
  }

  /** How many watches are open. */
  get watches(): number {
    return this.#watches.size;
  }

  /** The runtime with this box before its HTTP clients. */
  inFrontOf(runtime: Runtime): Runtime {
    const { network } = runtime;
    return {
      ...runtime,
      network: {
        serveUdp: (options) => network.serveUdp(options),
        bindUdp: (options) => network.bindUdp(options),
        listenTcp: (options) => network.listenTcp(options),
        connectTcp: (options) => network.connectTcp(options),
        connectTls: (options) => network.connectTls(options),
        serveStreams: (options) => network.serveStreams(options),
        serveHttp: (options) => network.serveHttp(options),
        httpClient: (options) => this.#client(network.httpClient(options)),
      },
    };
  }

  cutWatches(kind: CutKind): void {
    for (const watch of [...this.#watches]) watch.cut(kind);
  }

  /** Delivers to each watch a line of its past once more: the last one, or one so many before it. */
  repeat(back: number): void {
    for (const watch of this.#watches) {
      const line = watch.past.at(-1 - back);
      if (line !== undefined) watch.deliver(line);
    }
  }

  /** Delivers octets that no server sent. */
  forge(text: string): void {
    for (const watch of this.#watches) watch.deliver(new TextEncoder().encode(text));
  }

  /** Swallows the next line: what no honest network does, so a checker must notice. */
  dropNext(): void {
    this.#toDrop++;
  }

  /** Holds all deliveries up from now on for so long; what waits then arrives at once and in order. */
  hold(ms: number): void {
    this.#heldUntilMs = this.#clock.monotonicMs() + ms;
  }

  /** Answers the next request by this Status, in place of the server. */
  refuse(code: number, fields: Readonly<Record<string, unknown>>): void {
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", code, ...fields };
    const octets = new TextEncoder().encode(JSON.stringify(status));
    this.#refusals.push({
      status: code,
      headers: { "content-type": "application/json", ...(code === 429 ? { "retry-after": "1" } : {}) },
      body: (async function* () {
        yield octets;
      })(),
    });
  }

  #client(inner: HttpClient): HttpClient {
    return {
      request: async (request) => {
        const refusal = this.#refusals.shift();
        if (refusal !== undefined) return refusal;
        if (!/[?&]watch=/.test(request.target)) return inner.request(request);
        return this.#watch(inner, request);
      },
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    };
  }

  async #watch(inner: HttpClient, request: HttpClientRequest): Promise<HttpClientResponse> {
    const upstream = new AbortController();
    const signal =
      request.signal === undefined ? upstream.signal : AbortSignal.any([request.signal, upstream.signal]);
    const response = await inner.request({ ...request, signal });
    const selection = new URLSearchParams(request.target.split("?")[1]).get("labelSelector") ?? "";
    const past = this.#past.get(selection) ?? [];
    this.#past.set(selection, past);
    return { ...response, body: this.#through(response, { upstream, past }) };
  }

  async *#through(
    response: HttpClientResponse,
    { upstream, past }: { readonly upstream: AbortController; readonly past: Uint8Array[] },
  ): AsyncGenerator<Uint8Array, void> {
    const queue: Uint8Array[] = [];
    let wake = (): void => {};
    let ending: CutKind | "server" | undefined;
    let failure: unknown;
    const watch: OpenWatch = {
      past,
      deliver: (octets) => {
        queue.push(octets);
        wake();
      },
      cut: (kind) => {
        ending ??= kind;
        this.#watches.delete(watch);
        wake();
      },
    };
    this.#watches.add(watch);
    const pumping = this.#pump(response, watch).then(
      () => {
        ending ??= "server";
        wake();
      },
      (error: unknown) => {
        failure = error;
        ending ??= "server";
        wake();
      },
    );
    try {
      for (;;) {
        const octets = queue.shift();
        if (octets !== undefined) yield* this.#cutUp(octets, queue);
        else if (ending !== undefined) break;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
      if (ending === "inside") yield new TextEncoder().encode('{"type":"MODIFIED","object":{"kind":"Conf');
      if (ending === "broken") throw new NetworkError("Broken", "the middlebox has cut the connection");
      if (failure !== undefined) throw failure;
    } finally {
      this.#watches.delete(watch);
      upstream.abort(new NetworkError("Closed", "the middlebox has no use for this exchange any more"));
      await pumping;
    }
  }

  /** Takes whole lines out of the server's octets, so that each can come again. */
  async #pump(response: HttpClientResponse, watch: OpenWatch): Promise<void> {
    let rest: Uint8Array = new Uint8Array();
    for await (const chunk of response.body) {
      const octets = new Uint8Array(rest.length + chunk.length);
      octets.set(rest);
      octets.set(chunk, rest.length);
      let start = 0;
      for (let end = octets.indexOf(10); end >= 0; end = octets.indexOf(10, start)) {
        const line = octets.slice(start, end + 1);
        const waitMs = this.#heldUntilMs - this.#clock.monotonicMs();
        if (waitMs > 0) await this.#clock.sleep(waitMs);
        watch.past.push(line);
        if (this.#toDrop > 0) this.#toDrop--;
        else watch.deliver(line);
        start = end + 1;
      }
      rest = octets.slice(start);
    }
    if (rest.length > 0) watch.deliver(rest);
  }

  /** Some lines go in pieces, some together with the next. */
  *#cutUp(octets: Uint8Array, queue: Uint8Array[]): Generator<Uint8Array> {
    switch (this.#random.uint32() % 4) {
      case 0: {
        const at = this.#random.uint32() % octets.length;
        yield octets.subarray(0, at);
        yield octets.subarray(at);
        break;
      }
      case 1: {
        const next = queue.shift() ?? new Uint8Array();
        const joined = new Uint8Array(octets.length + next.length);
        joined.set(octets);
        joined.set(next, octets.length);
        yield joined;
        break;
      }
      case 2:
        for (const octet of octets) yield Uint8Array.of(octet);
        break;
      default:
        yield octets;
    }
  }
}
