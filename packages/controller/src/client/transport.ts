import type { Clock, HttpClientResponse, NetworkErrorCode } from "@meridian/runtime";
import { deadlineSignal } from "../deadline-signal.ts";
import type { ApiConnections } from "./api-connections.ts";
import { ApiError, isApiError } from "./api-error.ts";
import type { ClientFailureReason } from "./api-error.ts";
import type { Credential, CredentialSource } from "./credential.ts";
import { joinOctets } from "./json-stream.ts";
import type { RequestRate } from "./request-rate.ts";
import type { RequestSubject } from "./request-subject.ts";
import { apiErrorOf } from "./response-status.ts";
import { retryDelayMs } from "./retry-policy.ts";
import type { TlsSettings, TlsSource } from "./tls-source.ts";
import { warningsOf } from "./warning-header.ts";
import { acceptOf, formatOfAnswer } from "./wire-format.ts";
import type { WireFormatOfKind } from "./wire-format.ts";

/** A body longer than this is not read: V8 could not hold it as one text. */
const bodyBytesMax = 256 * 1024 * 1024;

/** One request, and how errors name it. */
export interface Exchange {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query. */
  readonly target: string;
  readonly subject: RequestSubject;
  readonly body?: unknown;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Default: what `format` asks for. */
  readonly accept?: string;
  /** What the answer may come in beside JSON. */
  readonly format?: WireFormatOfKind | undefined;
  /** Whether the answer may come compressed. */
  readonly compressed?: boolean | undefined;
}

/** What ends an exchange. */
export interface ExchangeBounds {
  readonly signal: AbortSignal;
  /** By the monotonic clock: no wait goes on beyond it. */
  readonly endsAtMs: number;
}

/** How requests leave: over which connections, below which path, as whom, how often. */
export interface TransportOptions {
  readonly connections: ApiConnections;
  readonly basePath: string;
  readonly tls: TlsSource | undefined;
  readonly credentials: CredentialSource | undefined;
  readonly rate: RequestRate | undefined;
  /** Sent with each request. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly onWarning: ((text: string, subject: RequestSubject) => void) | undefined;
}

/** Sends requests with credentials, turns failures into `ApiError`s, and repeats what may be repeated. */
export class Transport {
  readonly #clock: Pick<Clock, "monotonicMs" | "sleep" | "after">;
  readonly #options: TransportOptions;

  constructor(clock: Pick<Clock, "monotonicMs" | "sleep" | "after">, options: TransportOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /**
   * Sends, reads the whole answer, and repeats while the server asks for it and the deadline allows it.
   *
   * @throws ApiError; the reason of the caller's signal
   */
  async text(
    exchange: Exchange,
    bounds: { readonly signal?: AbortSignal | undefined; readonly deadlineMs: number },
  ): Promise<string> {
    const endsAtMs = this.#clock.monotonicMs() + bounds.deadlineMs;
    using deadline = deadlineSignal(this.#clock, {
      signal: bounds.signal,
      ms: bounds.deadlineMs,
      reason: () => deadlineExceeded(exchange.subject, bounds.deadlineMs),
    });
    const { signal } = deadline;
    // Awaited here: the deadline holds until the answer is read.
    return await this.#repeating(exchange, { signal, endsAtMs }, async () => {
      const response = await this.open(exchange, { signal, endsAtMs });
      return new TextDecoder().decode(await readOctets(response, exchange.subject, signal));
    });
  }

  /** As `open`, and repeats as `text` does while there is no success. */
  openPatiently(exchange: Exchange, bounds: ExchangeBounds): Promise<HttpClientResponse> {
    return this.#repeating(exchange, bounds, () => this.open(exchange, bounds));
  }

  async #repeating<R>(
    exchange: Exchange,
    { signal, endsAtMs }: ExchangeBounds,
    send: () => Promise<R>,
  ): Promise<R> {
    const safe = exchange.method === "GET";
    for (let attempt = 1; ; attempt++) {
      try {
        return await send();
      } catch (error) {
        // A kept connection that the server had closed shows only when it is used: once more, on a new one.
        if (safe && attempt === 1 && isBrokenConnection(error) && !signal.aborted) continue;
        const delayMs = isApiError(error) ? retryDelayMs(error, { safe, attempt }) : undefined;
        if (delayMs === undefined || this.#clock.monotonicMs() + delayMs >= endsAtMs) throw error;
        await this.#clock.sleep(delayMs, signal);
      }
    }
  }

  /** Sends once (twice, where a credential was replaced) and returns the answer of a success with its body unread. */
  async open(exchange: Exchange, bounds: ExchangeBounds): Promise<HttpClientResponse> {
    const { credentials } = this.#options;
    const { subject } = exchange;
    const { signal } = bounds;
    let credential = await this.#credential(subject, signal);
    for (let attempt = 1; ; attempt++) {
      const response = await this.#send(exchange, credential, bounds);
      if (isSuccess(response.status)) return response;
      const error = apiErrorOf({
        code: response.status,
        headers: response.headers,
        body: await readOctets(response, subject, signal),
        subject,
        format: formatOfAnswer(exchange.format, response.headers),
      });
      if (response.status !== 401 || attempt > 1 || credentials === undefined) throw error;
      // The 401 says more to its reader than that there is no newer credential to try.
      if (!(await credentials.renew(credential, signal).catch(() => false))) throw error;
      credential = await this.#credential(subject, signal);
    }
  }

  async #send(
    exchange: Exchange,
    credential: Credential,
    { signal, endsAtMs }: ExchangeBounds,
  ): Promise<HttpClientResponse> {
    const { connections, basePath, rate, onWarning } = this.#options;
    const { subject } = exchange;
    const tls = await this.#tls(subject, credential);
    if (rate !== undefined && !(await rate.wait(endsAtMs - this.#clock.monotonicMs(), signal))) {
      const message =
        "this client's own rate limit lets it through only after the deadline; raise one of the two";
      throw new ApiError({ subject, reason: "RateLimited", message });
    }
    signal.throwIfAborted();
    const body = exchange.body === undefined ? {} : { body: encoder.encode(JSON.stringify(exchange.body)) };
    try {
      const response = await connections.request(
        {
          method: exchange.method,
          target: basePath + exchange.target,
          headers: this.#headers(exchange, credential),
          compressed: exchange.compressed ?? false,
          signal,
          ...body,
        },
        tls,
      );
      if (onWarning !== undefined) {
        for (const text of warningsOf(response.headers)) onWarning(text, subject);
      }
      return response;
    } catch (error) {
      // Perhaps the certificates were replaced, and the server knows only the new ones.
      if (networkCode(error) === "Broken") this.#options.tls?.expire();
      throw unreachable(error, subject, signal);
    }
  }

  #headers(exchange: Exchange, { authorization }: Credential): TransportOptions["headers"] {
    return {
      ...this.#options.headers,
      accept: exchange.accept ?? acceptOf(exchange.format),
      ...(exchange.body === undefined ? {} : { "content-type": exchange.contentType ?? "application/json" }),
      ...(authorization === undefined ? {} : { authorization }),
    };
  }

  async #credential(subject: RequestSubject, signal: AbortSignal): Promise<Credential> {
    signal.throwIfAborted();
    try {
      return (await this.#options.credentials?.current(signal)) ?? {};
    } catch (error) {
      throw credentialUnavailable(error, subject, signal);
    }
  }

  /** A plugin's certificate stands in for that of the connection. */
  async #tls(subject: RequestSubject, credential: Credential): Promise<TlsSettings | undefined> {
    const { certificatePem, privateKeyPem } = credential;
    let tls: TlsSettings | undefined;
    try {
      tls = await this.#options.tls?.current();
    } catch (error) {
      throw credentialUnavailable(error, subject);
    }
    if (certificatePem === undefined || privateKeyPem === undefined) return tls;
    return { ...tls, certificatePem, privateKeyPem };
  }
}

/** The error of a deadline that passed before the server had answered. */
export function deadlineExceeded(subject: RequestSubject, ms: number): ApiError {
  return new ApiError({
    subject,
    reason: "DeadlineExceeded",
    message: `no complete answer within ${ms} ms`,
  });
}

function credentialUnavailable(cause: unknown, subject: RequestSubject, signal?: AbortSignal): unknown {
  if (signal?.aborted === true) return signal.reason;
  return new ApiError({ subject, reason: "CredentialUnavailable", message: messageOf(cause), cause });
}

/** An error of the network with the words of the request; the signal's reason where that ended the request. */
function unreachable(cause: unknown, subject: RequestSubject, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (isApiError(cause)) return cause;
  const reason: ClientFailureReason = "Unreachable";
  return new ApiError({ subject, reason, message: messageOf(cause), cause });
}

const encoder = new TextEncoder();
const isSuccess = (code: number): boolean => code >= 200 && code < 300;
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function networkCode(error: unknown): NetworkErrorCode | undefined {
  return (error as { readonly code?: NetworkErrorCode } | undefined)?.code;
}

function isBrokenConnection(error: unknown): boolean {
  if (!isApiError(error) || error.reason !== "Unreachable") return false;
  const code = networkCode(error.cause);
  return code === "Broken" || code === "Closed";
}

async function readOctets(
  response: HttpClientResponse,
  subject: RequestSubject,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body) {
      bytes += chunk.length;
      if (bytes > bodyBytesMax) {
        const message = `the answer is longer than the ${bodyBytesMax} octets allowed; list in pages`;
        throw new ApiError({ subject, reason: "ResponseTooLarge", message });
      }
      parts.push(chunk);
    }
  } catch (error) {
    throw unreachable(error, subject, signal);
  }
  return joinOctets(parts, bytes);
}
