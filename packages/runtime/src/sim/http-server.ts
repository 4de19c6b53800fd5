import type { HttpHandler, HttpRequest, HttpResponse, HttpServer, HttpServerOptions } from "../network.ts";
import { NetworkError } from "../network.ts";
import type { Logger } from "../logger.ts";
import type { Boot } from "./boot.ts";
import { never } from "./boot.ts";
import type { ConnectionSink, Host } from "./host.ts";
import { formatEndpoint } from "../endpoint-text.ts";
import type { ClientFrame, ServerFrame } from "./http-frames.ts";
import { lowerCased, streamWindowBytes } from "./http-frames.ts";
import type { WireEnd } from "./wire.ts";
import type { World } from "./world.ts";
import { afterIn } from "./world.ts";

/** How long open exchanges may go on after the server began to close. */
const closeGraceMs = 2_000;

/** Where a simulated server runs. */
export interface SimHttpServerPlace {
  readonly world: World;
  readonly host: Host;
  readonly boot: Boot;
  readonly log: Logger;
}

/** Serves HTTP on a bound port by passing messages; TLS options are accepted and mean nothing. */
export function serveSimHttp(place: SimHttpServerPlace, options: HttpServerOptions): HttpServer {
  const { world, host, boot } = place;
  const connections = new Set<ServerConnection>();
  const sink: ConnectionSink = host.connectionPorts.bind(options, (local) => ({
    local,
    accept(end) {
      const connection = new ServerConnection(end, {
        handler: options.handler,
        bodyBytesMax: options.bodyBytesMax,
        log: place.log,
        onClosed: () => connections.delete(connection),
      });
      connections.add(connection);
    },
  }));
  const close = async (): Promise<void> => {
    if (!boot.alive) return never();
    host.connectionPorts.release(sink);
    for (const connection of connections) connection.startClosing();
    if (connections.size === 0) return;
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        cancel();
        for (const connection of connections) connection.destroy();
        resolve();
      };
      const cancel = afterIn(world, closeGraceMs, { callback: finish, owner: boot });
      for (const connection of connections) {
        connection.whenClosed(() => {
          if (connections.size === 0) finish();
        });
      }
    });
  };
  return { local: sink.local, setTls() {}, [Symbol.asyncDispose]: close };
}

interface ServerConnectionOptions {
  readonly handler: HttpHandler;
  readonly bodyBytesMax: number;
  readonly log: Logger;
  readonly onClosed: () => void;
}

/** The server's side of one connection, with its open streams. */
class ServerConnection {
  readonly #end: WireEnd;
  readonly #options: ServerConnectionOptions;
  readonly #streams = new Map<number, ServerStream>();
  #closing = false;
  #whenClosed: () => void = () => {};

  constructor(end: WireEnd, options: ServerConnectionOptions) {
    this.#end = end;
    this.#options = options;
    end.reader = {
      receive: (message) => this.#receive(message as ClientFrame),
      broken: (error) => this.#broken(error),
    };
  }

  whenClosed(callback: () => void): void {
    this.#whenClosed = callback;
  }

  startClosing(): void {
    this.#closing = true;
    this.#send({ kind: "goaway" });
    const reason = new NetworkError("Closed", "the server is closing; connect again once it is back");
    for (const stream of this.#streams.values()) stream.abort(reason);
    this.#closeWhenIdle();
  }

  destroy(): void {
    this.#end.reset("the server closed");
    this.#closed();
  }

  #receive(frame: ClientFrame): void {
    switch (frame.kind) {
      case "request":
        if (this.#closing) this.#send({ kind: "declined", stream: frame.stream });
        else this.#open(frame);
        return;
      case "cancel":
        this.#streams.get(frame.stream)?.abandon();
        this.#streams.delete(frame.stream);
        return this.#closeWhenIdle();
      case "credit":
        return this.#streams.get(frame.stream)?.credit(frame.bytes);
    }
  }

  #open(frame: ClientFrame & { readonly kind: "request" }): void {
    const stream = new ServerStream(frame.stream, this.#end);
    this.#streams.set(frame.stream, stream);
    const request: HttpRequest = {
      method: frame.method,
      target: frame.target,
      headers: frame.headers,
      body: frame.octets,
      client: this.#end.remote,
      signal: stream.signal,
    };
    void stream
      .answer(() => this.#respond(request))
      .then(() => {
        this.#streams.delete(frame.stream);
        this.#closeWhenIdle();
      });
  }

  async #respond(request: HttpRequest): Promise<HttpResponse> {
    const { handler, bodyBytesMax, log } = this.#options;
    if (request.body.length > bodyBytesMax) {
      return plainText(413, `the request body is larger than ${bodyBytesMax} bytes\n`);
    }
    try {
      return await handler(request);
    } catch (error) {
      if (!request.signal.aborted) {
        log.error("http handler failed", { method: request.method, target: request.target, error });
      }
      return plainText(500, "the server failed to answer this request\n");
    }
  }

  #broken(error: NetworkError): void {
    for (const stream of this.#streams.values()) stream.abandon(error);
    this.#closed();
  }

  #closeWhenIdle(): void {
    if (this.#closing && this.#streams.size === 0) {
      this.#end.close();
      this.#closed();
    }
  }

  #closed(): void {
    this.#options.onClosed();
    this.#whenClosed();
  }

  #send(frame: ServerFrame): void {
    this.#end.send(frame);
  }
}

/** One exchange at the server. */
class ServerStream {
  readonly #id: number;
  readonly #end: WireEnd;
  readonly #abort = new AbortController();
  #abandoned = false;
  #body: AsyncIterator<Uint8Array> | undefined;
  #outstandingBytes = 0;
  #wake: () => void = () => {};

  constructor(id: number, end: WireEnd) {
    this.#id = id;
    this.#end = end;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Asks the handler to end; what it still says is sent. */
  abort(reason: NetworkError): void {
    this.#abort.abort(reason);
  }

  /** The client is gone: nothing more is sent. */
  abandon(reason?: NetworkError): void {
    this.#abandoned = true;
    this.#abort.abort(
      reason ?? new NetworkError("Closed", `the client at ${formatEndpoint(this.#end.remote)} went away`),
    );
    this.#dropBody();
    this.#wake();
  }

  credit(bytes: number): void {
    this.#outstandingBytes -= bytes;
    this.#wake();
  }

  /** Sends what `respond` returns, a streamed body chunk by chunk within the window. Never rejects. */
  async answer(respond: () => Promise<HttpResponse>): Promise<void> {
    const { status, headers, body } = await respond();
    if (!(body instanceof Uint8Array)) this.#body = body[Symbol.asyncIterator]();
    if (this.#abandoned) return this.#dropBody();
    this.#send({ kind: "head", stream: this.#id, status, headers: lowerCased(headers) });
    try {
      if (body instanceof Uint8Array) await this.#sendChunk(body);
      else await this.#sendBody();
      if (!this.#abandoned) this.#send({ kind: "end", stream: this.#id });
    } catch {
      if (!this.#abandoned) this.#send({ kind: "failed", stream: this.#id });
    }
  }

  async #sendBody(): Promise<void> {
    while (this.#body !== undefined) {
      const next = await this.#body.next();
      if (next.done === true) return;
      await this.#sendChunk(next.value);
    }
  }

  async #sendChunk(chunk: Uint8Array): Promise<void> {
    while (this.#outstandingBytes >= streamWindowBytes && !this.#abandoned) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (this.#abandoned || chunk.length === 0) return;
    this.#outstandingBytes += chunk.length;
    this.#send({ kind: "chunk", stream: this.#id, octets: new Uint8Array(chunk) });
  }

  /** Ends the handler's stream. One that waits for something hears of it by the request's signal only. */
  #dropBody(): void {
    const body = this.#body;
    this.#body = undefined;
    void body?.return?.().catch(() => {});
  }

  #send(frame: ServerFrame): void {
    this.#end.send(frame);
  }
}

function plainText(status: number, text: string): HttpResponse {
  return {
    status,
    headers: { "content-type": "text/plain; charset=utf-8" },
    body: new TextEncoder().encode(text),
  };
}
