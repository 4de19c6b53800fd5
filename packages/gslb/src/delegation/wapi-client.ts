import {
  readBody,
  type Clock,
  type HttpClient,
  type HttpClientRequest,
  type Network,
} from "@meridian/runtime";
import type { InfobloxConfig } from "../config/infoblox-config.ts";
import { Ending } from "../tasks/ending.ts";

/** A call that has ended, in the words of k8gb's metrics. */
export interface WapiCall {
  readonly request: "ZoneCreate" | "ZoneRead" | "ZoneUpdate" | "ZoneDelete";
  readonly success: boolean;
  readonly seconds: number;
}

/** What a session needs of the world. */
export interface WapiClientOptions {
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
  readonly network: Pick<Network, "httpClient">;
  readonly config: InfobloxConfig;
  /** PEM of the CAs that may vouch for the grid; the system's where it gives none. */
  readonly readCa: () => Promise<string | undefined>;
  /** Told of each call that has ended, logging out excepted. */
  readonly onCall?: (call: WapiCall) => void;
}

const requestNames = {
  POST: "ZoneCreate",
  GET: "ZoneRead",
  PUT: "ZoneUpdate",
  DELETE: "ZoneDelete",
} as const;

/** A request of the WAPI: method, path below the version, query, and a body that is sent as JSON. */
export interface WapiRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Sends requests within one session. */
export type WapiSession = (request: WapiRequest) => Promise<unknown>;

/** A grid refused a request, or said what nobody can read. */
export class WapiError extends Error {
  override readonly name = "WapiError";
  /** The HTTP status; `undefined` where the answer could not be read. */
  readonly status: number | undefined;
  constructor(status: number | undefined, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** What the grid answers is small; more is no answer of a grid. */
const bodyBytesMax = 4 * 1024 * 1024;

/**
 * Talks to an Infoblox grid over HTTPS, whose certificate is verified. One session is one login: it sends the password with its
 * first request, goes on with the cookie that the grid gives, and logs out at its end.
 */
export class WapiClient {
  readonly #options: WapiClientOptions;

  constructor(options: WapiClientOptions) {
    this.#options = options;
  }

  /** Runs some requests as one session. @throws WapiError, NetworkError, or the signal's reason */
  async session<T>(signal: AbortSignal, work: (send: WapiSession) => Promise<T>): Promise<T> {
    const { network, config, readCa } = this.#options;
    const caPem = await readCa();
    await using client = network.httpClient({
      origin: `https://${config.host}:${config.port}`,
      ...(caPem === undefined ? {} : { tls: { caPem } }),
    });
    let cookie: string | undefined;
    const send: WapiSession = async (request) => {
      const answer = await this.#timed(request, () => this.#exchange(client, request, { cookie, signal }));
      cookie ??= answer.cookie;
      return answer.content;
    };
    try {
      return await work(send);
    } finally {
      // What the work came to counts; a session that stays open ends by itself.
      if (cookie !== undefined) await send({ method: "POST", path: "logout" }).catch(() => {});
    }
  }

  async #timed<T>({ method, path }: WapiRequest, call: () => Promise<T>): Promise<T> {
    const { clock, onCall } = this.#options;
    const startMs = clock.monotonicMs();
    let success = false;
    try {
      const result = await call();
      success = true;
      return result;
    } finally {
      const seconds = (clock.monotonicMs() - startMs) / 1000;
      if (path !== "logout") onCall?.({ request: requestNames[method], success, seconds });
    }
  }

  async #exchange(
    client: HttpClient,
    request: WapiRequest,
    { cookie, signal }: { readonly cookie: string | undefined; readonly signal: AbortSignal },
  ): Promise<{ readonly content: unknown; readonly cookie: string | undefined }> {
    const { config, clock } = this.#options;
    using limit = new Ending(signal);
    const subject = `${request.method} ${request.path} at ${config.host}`;
    const cancel = clock.after(config.requestTimeoutSeconds * 1000, () =>
      limit.end(new WapiError(undefined, `${subject} had no answer in ${config.requestTimeoutSeconds} s`)),
    );
    try {
      const response = await client.request({
        ...this.#message(request, cookie),
        signal: limit.signal,
      });
      const chunks: Uint8Array[] = [];
      let size = 0;
      await readBody(response.body, (chunk) => {
        size += chunk.length;
        if (size > bodyBytesMax) throw new WapiError(response.status, `${subject} answered too much`);
        chunks.push(new Uint8Array(chunk));
      });
      const text = Buffer.concat(chunks).toString();
      if (response.status >= 300)
        throw new WapiError(response.status, refusalText(subject, response.status, text));
      return { content: contentOf(subject, text), cookie: cookieIn(response.headers["set-cookie"]) };
    } finally {
      cancel();
    }
  }

  #message(request: WapiRequest, cookie: string | undefined): HttpClientRequest {
    const { config } = this.#options;
    const { method, path, query, body } = request;
    const version = config.version.replace(/^v/, "");
    const search = query === undefined ? "" : `?${new URLSearchParams(query).toString()}`;
    const login = Buffer.from(`${config.username}:${config.password}`).toString("base64");
    return {
      method,
      target: `/wapi/v${version}/${path}${search}`,
      headers: {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(cookie === undefined ? { authorization: `Basic ${login}` } : { cookie }),
      },
      ...(body === undefined ? {} : { body: new TextEncoder().encode(JSON.stringify(body)) }),
    };
  }
}

/** An answer that ends too early is no shorter answer: it is none. */
function contentOf(subject: string, text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new WapiError(undefined, `${subject} answered what is no JSON; nothing is written`, { cause });
  }
}

function refusalText(subject: string, status: number, body: string): string {
  let text = "";
  try {
    const parsed = JSON.parse(body) as { readonly text?: unknown; readonly Error?: unknown };
    const said = parsed.text ?? parsed.Error;
    if (typeof said === "string") text = said;
  } catch {
    // A proxy's page, or nothing; the status says enough.
  }
  const hint = status === 401 ? "; check INFOBLOX_WAPI_USERNAME and INFOBLOX_WAPI_PASSWORD" : "";
  return `${subject} was refused with ${status}${text === "" ? "" : ` (${text})`}${hint}`;
}

/** The session as it is sent back: octet by octet, quotes and the commas between them included. */
function cookieIn(header: string | undefined): string | undefined {
  return /(?:^|[,;]\s*)(ibapauth=(?:"[^"]*"|[^;,]+))/.exec(header ?? "")?.[1];
}
