import { StorageError, type Storage } from "./storage/storage.ts";
import {
  badRequest,
  internalError,
  requestEntityTooLarge,
  serviceUnavailable,
  StatusError,
  timeout,
  unauthorized,
} from "@meridian/kube";
import type { HttpHandler, HttpRequest, HttpResponse, Runtime } from "@meridian/runtime";
import { RequestCounts } from "./admin/request-counts.ts";
import { WriteLedger } from "./admin/write-ledger.ts";
import { authenticator, type Authenticate, tokenIdentifier } from "./auth/authenticate.ts";
import type { Authorizer, TokenIdentity } from "./auth/identity.ts";
import { mastersOnly } from "./auth/masters-only.ts";
import { startBackground, type BackgroundController } from "./background/start-background.ts";
import { dispatch, type Front } from "./http/dispatch.ts";
import { servePublicPath } from "./http/health.ts";
import { respondStatus, respondText } from "./http/respond.ts";
import { ObjectStore } from "./objects/object-store.ts";
import { builtInResources } from "./resource/builtin/built-in-resources.ts";
import { ResourceRegistry } from "./resource/registry.ts";
import type { ApiContext } from "./verbs/api-context.ts";
import { OpenStreams } from "./verbs/open-streams.ts";

/** What an API server needs besides the outside world. */
export interface ApiServerOptions {
  /** The truth. The caller opens and closes it. */
  readonly storage: Storage;
  /** Who may come in with which bearer token. Client certificates that the HTTP server verified come in as well. */
  readonly tokens: readonly TokenIdentity[];
  /** Who may do what; by default everything for members of `system:masters`, nothing for others. */
  readonly authorizer?: Authorizer;
  /** Background controllers that shall not run; all run by default. */
  readonly disabledControllers?: readonly BackgroundController[];
}

/** A Kubernetes-compatible API server: a function from request to response, and the controllers behind it. */
export interface ApiServer extends AsyncDisposable {
  /** Serve it with `runtime.network.serveHttp`. Requests that arrive before `ready` wait for it. */
  readonly handler: HttpHandler;
  /** Resolves when stored definitions are served and the default namespaces exist. */
  readonly ready: Promise<void>;
}

/**
 * Starts an API server over `storage`. Disposing it ends its watches and controllers, and leaves the store open.
 *
 * ```ts
 * const server = createApiServer(runtime, { storage, tokens: [{ token, username: "admin", groups: ["system:masters"] }] });
 * await server.ready;
 * await runtime.network.serveHttp({ address, port, tls, handler: server.handler, bodyBytesMax: requestBodyBytesMax });
 * ```
 */
export function createApiServer(runtime: Runtime, options: ApiServerOptions): ApiServer {
  const closing = new AbortController();
  const context: ApiContext = {
    runtime,
    objects: new ObjectStore(options.storage),
    registry: new ResourceRegistry(builtInResources()),
    closing: closing.signal,
    streams: new OpenStreams(closing.signal),
    requests: new RequestCounts(),
    ledger: new WriteLedger(),
  };
  const background = startBackground(context, { disabled: options.disabledControllers ?? [] });
  const ready = background.ready;
  ready.catch(() => {});
  const identify = tokenIdentifier(options.tokens);
  const server: Server = {
    front: { context, authorizer: options.authorizer ?? mastersOnly, identify },
    authenticate: authenticator(identify),
    ready,
  };
  return {
    ready,
    handler: (request) => serve(server, request),
    async [Symbol.asyncDispose]() {
      closing.abort(new Error("the API server closes"));
      await background.stopped;
    },
  };
}

interface Server {
  readonly front: Front;
  readonly authenticate: Authenticate;
  readonly ready: Promise<void>;
}

/** Answers one request. Every failure becomes a Status; a fault of the server is logged here and nowhere else. */
async function serve(server: Server, request: HttpRequest): Promise<HttpResponse> {
  const { runtime } = server.front.context;
  let response: HttpResponse;
  try {
    response = await answer(server, request);
  } catch (error) {
    const failure = statusErrorOf(error);
    if (failure === undefined) {
      runtime.log.error("a request failed", {
        method: request.method,
        path: request.target.split("?")[0],
        error,
      });
    }
    response = respondStatus(
      (failure ?? internalError("the server met an error that it does not know")).status,
    );
  }
  return { ...response, headers: { ...response.headers, "audit-id": runtime.random.uuid() } };
}

async function answer(server: Server, request: HttpRequest): Promise<HttpResponse> {
  const { context } = server.front;
  if (context.closing.aborted) throw serviceUnavailable("the server is closing");
  const publicAnswer = await servePublicPath(request, server);
  if (publicAnswer !== undefined) return publicAnswer;

  const user = server.authenticate(request);
  if (user === undefined) throw unauthorized();
  await server.ready;
  const response = await dispatch(server.front, request, user);
  return response ?? respondText(404, "404 page not found\n", { contentType: "text/plain; charset=utf-8" });
}

/** What of an error a client may see. */
function statusErrorOf(error: unknown): StatusError | undefined {
  if (error instanceof StatusError) return error;
  if (!(error instanceof StorageError)) return undefined;
  switch (error.code) {
    case "TooLarge":
      return requestEntityTooLarge(error.message);
    case "InvalidKey":
      return badRequest(error.message);
    case "Closed":
      return serviceUnavailable("the server is closing");
    case "Busy":
      return timeout("the store is busy, try again", { retryAfterSeconds: 1 });
    case "Full":
      return internalError("the store is full: delete objects or raise its size limit");
    case "Broken":
      return internalError("the store takes no more writes: look after its disk, then restart the server");
    case "Compacted":
    case "FutureRevision":
    case "Corrupt":
    case "Locked":
    case "NoAccess":
      return undefined;
  }
}
