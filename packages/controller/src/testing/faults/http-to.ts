import { NetworkError } from "@meridian/runtime";
import type { HttpClient, HttpHandler } from "@meridian/runtime";

/** An HTTP client whose requests are calls of a handler: no network, no time between. */
export function httpTo(handler: HttpHandler): HttpClient {
  const closing = new AbortController();
  return {
    async request({ method, target, headers = {}, body = new Uint8Array(), signal }) {
      signal?.throwIfAborted();
      closing.signal.throwIfAborted();
      const either = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
      const answer = await handler({
        method,
        target,
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value].flat().join(", ")]),
        ),
        body,
        client: { address: "127.0.0.1", port: 1 },
        signal: either,
      });
      return { status: answer.status, headers: answer.headers, body: chunks(answer.body, either) };
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new NetworkError("Closed", "this HTTP client was disposed; make a new one"));
    },
  };
}

async function* chunks(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  signal.throwIfAborted();
  if (body instanceof Uint8Array) {
    if (body.length > 0) yield body;
    return;
  }
  for await (const chunk of body) {
    signal.throwIfAborted();
    yield chunk;
  }
  // A handler ends its body when the client goes; to the client that is no end.
  signal.throwIfAborted();
}
