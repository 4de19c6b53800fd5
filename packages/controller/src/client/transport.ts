import { isStatusError } from "@meridian/kube";
import type { HttpClient, HttpClientResponse, HttpHeaders, Runtime } from "@meridian/runtime";
import { ControllerError } from "../controller-error.ts";
import { deadlineSignal } from "../deadline-signal.ts";
import type { BearerToken } from "./bearer-token.ts";
import { joinOctets } from "./json-stream.ts";
import { retryDelayMs, statusErrorOf } from "./response-status.ts";

/** A body longer than this is not read: V8 could not hold it as one text. */
const bodyBytesMax = 256 * 1024 * 1024;

/** One request, and how errors name it. */
export interface Exchange {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query. */
  readonly target: string;
  /** Verb and object, for messages: `get services default/web`. */
  readonly attempt: string;
  readonly body?: unknown;
  /** Default `application/json`. */
  readonly contentType?: string;
}

/** How requests leave: over which client, below which path, as whom. */
export interface TransportOptions {
  readonly http: HttpClient;
  readonly basePath: string;
  readonly token: BearerToken | undefined;
  readonly userAgent: string;
}

/** Sends requests with credentials, turns failures into errors with words, and repeats what may be repeated. */
export class Transport {
  readonly #runtime: Pick<Runtime, "clock">;
  readonly #options: TransportOptions;

  constructor(runtime: Pick<Runtime, "clock">, options: TransportOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  /**
   * Sends, reads the whole answer, and repeats while the server asks for it and the deadline allows it.
   *
   * @throws StatusError where the server refuses; ControllerError where it cannot be understood or reached.
   */
  async text(
    exchange: Exchange,
    bounds: { readonly signal?: AbortSignal; readonly deadlineMs: number },
  ): Promise<string> {
    const { clock } = this.#runtime;
    const endsAtMs = clock.monotonicMs() + bounds.deadlineMs;
    using deadline = deadlineSignal(clock, {
      signal: bounds.signal,
      ms: bounds.deadlineMs,
      reason: () => deadlineExceeded(exchange, bounds.deadlineMs),
    });
    const safe = exchange.method === "GET";
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await this.open(exchange, deadline.signal);
        return await readText(response, exchange, deadline.signal);
      } catch (error) {
        // A kept connection that the server had closed shows only when it is used: once more, on a new one.
        if (safe && attempt === 1 && isBrokenConnection(error) && !deadline.signal.aborted) continue;
        const delayMs = isStatusError(error) ? retryDelayMs(error, { safe, attempt }) : undefined;
        if (delayMs === undefined || clock.monotonicMs() + delayMs >= endsAtMs) throw error;
        await clock.sleep(delayMs, deadline.signal);
      }
    }
  }

  /** Sends once (twice, where a token was replaced) and returns the answer of a success with its body unread. */
  async open(exchange: Exchange, signal: AbortSignal): Promise<HttpClientResponse> {
    const first = await this.#send(exchange, signal);
    if (isSuccess(first.status)) return first;
    if (first.status === 401 && this.#options.token?.refused() === true) {
      await readText(first, exchange, signal);
      const second = await this.#send(exchange, signal);
      if (isSuccess(second.status)) return second;
      throw await failureOf(second, exchange, signal);
    }
    throw await failureOf(first, exchange, signal);
  }

  async #send(exchange: Exchange, signal: AbortSignal): Promise<HttpClientResponse> {
    signal.throwIfAborted();
    const { http, basePath } = this.#options;
    const headers = await this.#headers(exchange);
    const body = exchange.body === undefined ? {} : { body: encoder.encode(JSON.stringify(exchange.body)) };
    try {
      return await http.request({
        method: exchange.method,
        target: basePath + exchange.target,
        headers,
        signal,
        ...body,
      });
    } catch (error) {
      throw unreachable(error, exchange, signal);
    }
  }

  async #headers(exchange: Exchange): Promise<HttpHeaders> {
    const { token, userAgent } = this.#options;
    return {
      accept: "application/json",
      "user-agent": userAgent,
      ...(exchange.body === undefined ? {} : { "content-type": exchange.contentType ?? "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${await token.current()}` }),
    };
  }
}

/** The error of a deadline that passed before the server had answered. */
export function deadlineExceeded(exchange: Pick<Exchange, "attempt">, ms: number): ControllerError {
  return new ControllerError(
    "DeadlineExceeded",
    `cannot ${exchange.attempt}: no complete answer within ${ms} ms`,
  );
}

/** An error of the network with the words of the request; the signal's reason where that ended the request. */
export function unreachable(
  error: unknown,
  exchange: Pick<Exchange, "attempt">,
  signal: AbortSignal,
): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof ControllerError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ControllerError("Unreachable", `cannot ${exchange.attempt}: ${reason}`, { cause: error });
}

const encoder = new TextEncoder();
const isSuccess = (code: number): boolean => code >= 200 && code < 300;

function isBrokenConnection(error: unknown): boolean {
  if (!(error instanceof ControllerError) || error.code !== "Unreachable") return false;
  const code = (error.cause as { readonly code?: unknown } | undefined)?.code;
  return code === "Broken" || code === "Closed";
}

async function failureOf(
  response: HttpClientResponse,
  exchange: Exchange,
  signal: AbortSignal,
): Promise<Error> {
  const body = await readText(response, exchange, signal);
  return statusErrorOf({ code: response.status, headers: response.headers, body, attempt: exchange.attempt });
}

async function readText(
  response: HttpClientResponse,
  exchange: Exchange,
  signal: AbortSignal,
): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body) {
      bytes += chunk.length;
      if (bytes > bodyBytesMax) {
        throw new ControllerError(
          "ResponseTooLarge",
          `cannot ${exchange.attempt}: the answer is longer than the ${bodyBytesMax} octets allowed`,
        );
      }
      parts.push(chunk);
    }
  } catch (error) {
    throw unreachable(error, exchange, signal);
  }
  return new TextDecoder().decode(joinOctets(parts, bytes));
}
