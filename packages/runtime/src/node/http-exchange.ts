import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import { constants } from "node:http2";

import type { Logger } from "../logger.ts";
import type { Endpoint, HttpHandler, HttpHeaders, HttpRequest, HttpResponse } from "../network.ts";
import { NetworkError } from "../network.ts";
import type { NodeRequest } from "./request-body.ts";
import { readRequestBody } from "./request-body.ts";

/** An answer, seen through the interface that Node gives to both protocols. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** What one exchange of a server needs. */
export interface ExchangeOptions {
  readonly handler: HttpHandler;
  readonly bodyBytesMax: number;
  readonly requestMs: number;
  readonly clientCertificate: HttpRequest["clientCertificate"];
  readonly log: Logger;
}

/** One request and its answer, from the first octet to the last. */
export class HttpExchange {
  readonly #request: NodeRequest;
  readonly #response: NodeResponse;
  readonly #options: ExchangeOptions;
  readonly #abort = new AbortController();
  readonly #closed: Promise<void>;
  readonly #client: Endpoint;
  #isClosed = false;
  /** The whole answer was handed to Node. (Its own flags also call a stream finished that was cancelled.) */
  #answered = false;
  #body: AsyncIterator<Uint8Array> | undefined;

  constructor(request: NodeRequest, response: NodeResponse, options: ExchangeOptions) {
    this.#request = request;
    this.#response = response;
    this.#options = options;
    this.#client = { address: request.socket.remoteAddress ?? "", port: request.socket.remotePort ?? 0 };
    this.#closed = new Promise((resolve) => {
      response.once("close", () => {
        this.#isClosed = true;
        if (!this.#answered) this.#abandon();
        resolve();
      });
    });
    request.on("error", () => {}); // told by "close", too
    response.on("error", () => {});
  }

  /** Tells the handler to end. */
  abort(reason: NetworkError): void {
    this.#abort.abort(reason);
  }

  /** Reads the request, asks the handler and sends its answer. Resolves when the exchange is over; never rejects. */
  async run(): Promise<void> {
    try {
      const body = await readRequestBody(this.#request, this.#options);
      if (this.#isClosed) return;
      if (body.kind === "too large") await this.#refuseBody(body.unread);
      else await this.#send(await this.#ask(body.octets));
    } catch (error) {
      this.#options.log.debug("http exchange broke", { target: this.#request.url, error });
      this.#break();
    }
    await this.#closed;
  }

  async #ask(body: Uint8Array): Promise<HttpResponse> {
    const { handler, log, clientCertificate } = this.#options;
    const request = this.#request;
    const target = request.url ?? "/";
    try {
      return await handler({
        method: request.method ?? "GET",
        target,
        headers: headersOf(request),
        body,
        client: this.#client,
        ...(clientCertificate === undefined ? {} : { clientCertificate }),
        signal: this.#abort.signal,
      });
    } catch (error) {
      if (!this.#abort.signal.aborted)
        log.error("http handler failed", { method: request.method, target, error });
      return plainText(500, "the server failed to answer this request\n");
    }
  }

  /** Says no, and ends what the rest of the body would come over. */
  async #refuseBody(unread: boolean): Promise<void> {
    const response = this.#response;
    const answer = plainText(413, `the request body is larger than ${this.#options.bodyBytesMax} bytes\n`);
    const close = unread && !isHttp2(response) ? { connection: "close" } : {};
    await this.#send({ ...answer, headers: { ...answer.headers, ...close } });
    // RFC 9113 §8.1: a server that has answered in full asks for no more of the request this way.
    if (unread && isHttp2(response)) setImmediate(() => response.stream?.close(constants.NGHTTP2_NO_ERROR));
  }

  async #send({ status, headers, body }: HttpResponse): Promise<void> {
    const response = this.#response;
    if (this.#isClosed) {
      if (!(body instanceof Uint8Array)) this.#drop(body[Symbol.asyncIterator]());
      return;
    }
    if (body instanceof Uint8Array) {
      writeHead(response, status, { ...headers, ...lengthHeader(status, body) });
      this.#answered = true;
      response.end(body);
    } else {
      writeHead(response, status, { ...headers });
      flushHead(response);
      await this.#sendStream(body[Symbol.asyncIterator]());
    }
  }

  async #sendStream(body: AsyncIterator<Uint8Array>): Promise<void> {
    this.#body = body;
    for (;;) {
      const next = await body.next();
      if (this.#isClosed) return;
      if (next.done === true) break;
      if (next.value.length > 0 && !writeChunk(this.#response, next.value)) await this.#drained();
      if (this.#isClosed) return;
    }
    this.#answered = true;
    this.#response.end();
  }

  async #drained(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#response.once("drain", resolve);
      void this.#closed.then(resolve);
    });
  }

  #abandon(): void {
    this.#abort.abort(new NetworkError("Closed", "the client went away"));
    if (this.#body !== undefined) this.#drop(this.#body);
  }

  /** Ends the handler's stream. One that waits for something hears of it by the request's signal only. */
  #drop(body: AsyncIterator<Uint8Array>): void {
    void body.return?.().catch(() => {});
  }

  /** Breaks the answer off, so that the client does not take what it has got for the whole. */
  #break(): void {
    const response = this.#response;
    if (!isHttp2(response)) response.destroy();
    // Not by `close`, which may end the stream properly before it resets it. In a later turn, since a reset from
    // within the delivery of the connection's data may stay unsent (Node 20).
    else setImmediate(() => response.stream?.destroy(new Error("the answer was broken off")));
  }
}

function isHttp2(response: NodeResponse): response is Http2ServerResponse {
  return "stream" in response;
}

function writeHead(response: NodeResponse, status: number, headers: OutgoingHttpHeaders): void {
  if (isHttp2(response)) response.writeHead(status, headers);
  else response.writeHead(status, headers);
}

/** Sends the head now, ahead of a body that may be long in coming. */
function flushHead(response: NodeResponse): void {
  if (isHttp2(response)) return; // sent by writeHead
  response.flushHeaders();
}

function writeChunk(response: NodeResponse, chunk: Uint8Array): boolean {
  return isHttp2(response) ? response.write(chunk) : response.write(chunk);
}

function headersOf(request: NodeRequest): HttpHeaders {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined) continue;
    // HTTP/2 has the host in a pseudo-header; handlers find it where HTTP/1.1 has it.
    if (name === ":authority") headers["host"] ??= String(value);
    else if (!name.startsWith(":")) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return headers;
}

function lengthHeader(status: number, body: Uint8Array): OutgoingHttpHeaders {
  return status === 204 || status === 304 ? {} : { "content-length": body.length };
}

function plainText(status: number, text: string): HttpResponse {
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body: Buffer.from(text) };
}
