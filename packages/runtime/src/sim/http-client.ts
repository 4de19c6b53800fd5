import type { HttpClient, HttpClientOptions, HttpClientRequest, HttpClientResponse } from "../network.ts";
import { NetworkError } from "../network.ts";
import type { Boot } from "./boot.ts";
import { never } from "./boot.ts";
import { dial } from "./dialing.ts";
import type { Fabric } from "./fabric.ts";
import type { Host } from "./host.ts";
import type { ClientFrame, ServerFrame } from "./http-frames.ts";
import { lowerCased } from "./http-frames.ts";
import { ClientStream } from "./http-client-stream.ts";
import type { WireEnd } from "./wire.ts";

const connectTimeoutMs = 10_000;
const triesMax = 3;
/** Requests that may be sent twice without doing more than once. */
const repeatable: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

interface ClientPlace {
  readonly fabric: Fabric;
  readonly host: Host;
  readonly boot: Boot;
}

/** A client of one origin over one connection at a time, with the PING times of the real one. */
export class SimHttpClient implements HttpClient {
  readonly #place: ClientPlace;
  readonly #address: string;
  readonly #port: number;
  readonly #proxied: boolean;
  #session: Promise<ClientSession> | undefined;
  #closed = false;

  constructor(place: ClientPlace, options: HttpClientOptions) {
    this.#place = place;
    this.#proxied = options.proxyUrl !== undefined;
    const url = new URL(options.origin);
    const host = url.hostname.replace(/^\[|\]$/g, "");
    this.#address = host === "localhost" ? "127.0.0.1" : host;
    this.#port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  }

  async request(request: HttpClientRequest): Promise<HttpClientResponse> {
    request.signal?.throwIfAborted();
    if (!this.#place.boot.alive) return never();
    if (this.#proxied) throw new NetworkError("Unreachable", "the simulated network has no proxies");
    for (let tries = 1; ; tries++) {
      if (this.#closed) throw closedError(this.#address);
      const session = await withSignal(this.#place.boot, this.#openSession(), request.signal);
      const response = await session.exchange(request);
      if (response !== "declined") return response;
      if (tries === triesMax) {
        throw new NetworkError(
          "Closed",
          `the server at ${this.#address} is closing; try again once it is back`,
        );
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const session = await this.#session?.catch(() => undefined);
    session?.destroy(closedError(this.#address));
  }

  async #openSession(): Promise<ClientSession> {
    const current = this.#session;
    if (current !== undefined) {
      const session = await current.catch(() => undefined);
      if (session?.usable === true) return session;
      if (this.#session !== current) return this.#openSession();
    }
    const { fabric, host, boot } = this.#place;
    const to = { address: this.#address, port: this.#port };
    const opened = dial({ fabric, host, boot, to, timeoutMs: connectTimeoutMs }).then(
      (end) => new ClientSession(boot, end),
    );
    this.#session = opened;
    return opened;
  }
}

/** One connection of a client and the exchanges on it. */
class ClientSession {
  readonly #boot: Boot;
  readonly #end: WireEnd;
  readonly #streams = new Map<number, ClientStream>();
  #nextId = 1;
  #draining = false;
  #answered = false;

  constructor(boot: Boot, end: WireEnd) {
    this.#boot = boot;
    this.#end = end;
    end.keepalive = { idleMs: 15_000, answerMs: 10_000 };
    end.reader = {
      receive: (message) => this.#receive(message as ServerFrame),
      broken: (error) => this.#fail(error),
    };
  }

  get usable(): boolean {
    return this.#end.open && !this.#draining;
  }

  /** Sends a request; `declined` when it may be sent again, on another connection. */
  async exchange(request: HttpClientRequest): Promise<HttpClientResponse | "declined"> {
    const stale = this.#answered;
    try {
      const response = await this.#start(request);
      this.#answered = true;
      return response;
    } catch (error) {
      // A kept connection that breaks under the next request was closed before it came.
      if (
        stale &&
        error instanceof NetworkError &&
        error.code === "Broken" &&
        repeatable.has(request.method)
      ) {
        return "declined";
      }
      throw error;
    }
  }

  async #start(request: HttpClientRequest): Promise<HttpClientResponse | "declined"> {
    if (!this.#boot.alive) return never();
    if (!this.usable) return "declined";
    const id = this.#nextId++;
    const stream = new ClientStream(this.#boot, {
      signal: request.signal,
      cancel: () => this.#cancel(id),
      credit: (bytes) => this.#send({ kind: "credit", stream: id, bytes }),
    });
    this.#streams.set(id, stream);
    this.#send({
      kind: "request",
      stream: id,
      method: request.method,
      target: request.target,
      headers: lowerCased(request.headers ?? {}),
      octets: new Uint8Array(request.body ?? []),
    });
    return stream.response;
  }

  destroy(error: NetworkError): void {
    this.#end.reset("the client was disposed");
    this.#fail(error);
  }

  #receive(frame: ServerFrame): void {
    if (frame.kind === "goaway") this.#draining = true;
    else {
      const stream = this.#streams.get(frame.stream);
      if (stream === undefined) return;
      stream.receive(frame);
      if (stream.ended) this.#streams.delete(frame.stream);
    }
    this.#closeWhenDrained();
  }

  #cancel(id: number): void {
    if (!this.#streams.delete(id)) return;
    this.#send({ kind: "cancel", stream: id });
    this.#closeWhenDrained();
  }

  #closeWhenDrained(): void {
    if (this.#draining && this.#streams.size === 0) this.#end.close();
  }

  #fail(error: NetworkError): void {
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const stream of streams) stream.fail(error);
  }

  #send(frame: ClientFrame): void {
    this.#end.send(frame);
  }
}

function closedError(address: string): NetworkError {
  return new NetworkError("Closed", `cannot ask ${address}: this HTTP client was disposed; make a new one`);
}

/** The promise's outcome, or the signal's reason if that comes first. */
function withSignal<T>(boot: Boot, promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => {
      forget();
      reject(signal.reason);
    };
    const stopListening = (): void => signal.removeEventListener("abort", onAbort);
    const forget = boot.onEnd(stopListening);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => {
      stopListening();
      forget();
    });
  });
}
