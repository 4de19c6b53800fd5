import type { HttpHandler, HttpRequest, HttpResponse, Runtime } from "@meridian/runtime";
import { parseLabCommand } from "../lab-commands.ts";
import type { LabCommandAnswer, LabRefusalCode } from "../lab-commands.ts";
import { Lab } from "../lab/lab.ts";
import type { LabApiServer } from "../lab/lab-copy.ts";
import { servePageFile } from "./page-files.ts";
import type { PageFiles } from "./page-files.ts";
import { checkCommand, checkHost, checkSameOrigin } from "./request-checks.ts";
import { respondJson, respondText } from "./respond-text.ts";
import { StateStreams } from "./state-stream.ts";

/** Largest body of a command, for `serveHttp`. */
export const labBodyBytesMax: number = 4 * 1024;

/** What the lab is made of, and who may ask for its page. */
export interface LabServerOptions {
  /** It must know a token of each of `labUsers`, and keep no other writer. */
  readonly apiServer: LabApiServer;
  /** The files of `pageFolder`. */
  readonly page: PageFiles;
  /** Names that the page may be asked for by, besides addresses and `localhost`. */
  readonly hostNames?: readonly string[];
}

/** The lab with its page: a function from request to response, and what runs behind it. */
export interface LabServer extends AsyncDisposable {
  readonly handler: HttpHandler;
}

/**
 * Starts the lab against an API server and serves it. Disposing it ends its informers; the API server stays.
 *
 * ```ts
 * await using lab = await startLabServer(runtime, { apiServer: { origin, tokenOf }, page });
 * await runtime.network.serveHttp({ address, port, handler: lab.handler, bodyBytesMax: labBodyBytesMax });
 * ```
 *
 * `GET /` is the page, `GET /lab/events` the stream of states, `GET /lab/state` the newest one, `POST /lab/commands` a command.
 */
export async function startLabServer(runtime: Runtime, options: LabServerOptions): Promise<LabServer> {
  const lab = await Lab.open(runtime, options);
  const streams = new StateStreams(runtime.clock, lab);
  const door: Door = { lab, streams, page: options.page, hostNames: options.hostNames ?? [] };
  return {
    async handler(request) {
      const response = await answer(door, request);
      return { ...response, headers: { ...securityHeaders, ...response.headers } };
    },
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  };
}

interface Door {
  readonly lab: Lab;
  readonly streams: StateStreams;
  readonly page: PageFiles;
  readonly hostNames: readonly string[];
}

/** Nothing but what this server sends runs, is shown, or is asked; nothing is kept; nobody frames it. */
const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};

async function answer(door: Door, request: HttpRequest): Promise<HttpResponse> {
  const stranger = checkHost(request, door.hostNames);
  if (stranger !== undefined) return respondText(stranger.status, stranger.message);
  const [path = ""] = request.target.split(/[?#]/, 1);
  if (!path.startsWith("/lab/")) return servePageFile(door.page, request);

  if (path === "/lab/commands") {
    const refused = checkCommand(request);
    return refused === undefined
      ? answerCommand(door.lab, request)
      : respondText(refused.status, refused.message);
  }
  if (request.method !== "GET") return respondText(405, "only GET is answered here");
  const refused = checkSameOrigin(request);
  if (refused !== undefined) return respondText(refused.status, refused.message);
  if (path === "/lab/events") return door.streams.respond(request.signal);
  if (path === "/lab/state") return answerState(door.lab);
  return respondText(404, "not found");
}

async function answerState(lab: Lab): Promise<HttpResponse> {
  try {
    return respondJson(200, await lab.look());
  } catch {
    return respondText(503, "the API server did not answer");
  }
}

async function answerCommand(lab: Lab, request: HttpRequest): Promise<HttpResponse> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(request.body));
  } catch {
    value = undefined;
  }
  const parsed = parseLabCommand(value);
  const outcome: LabCommandAnswer = "command" in parsed ? await lab.do(parsed.command) : parsed;
  return respondJson("refusal" in outcome ? statusOf[outcome.refusal.code] : 200, outcome);
}

const statusOf: Readonly<Record<LabRefusalCode, number>> = {
  BadCommand: 400,
  NoSuchCopy: 404,
  NoSuchPod: 404,
  TooMany: 409,
  Unavailable: 503,
};
