import type { HttpHandler, Runtime } from "@meridian/runtime";
import type { Authorizer, TokenIdentity } from "./auth/identity.ts";
import type { Storage } from "./storage/storage.ts";

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

/** The controllers that the server runs by itself over its store. */
export type BackgroundController = "garbage-collection" | "namespaces" | "event-expiry";

/** A Kubernetes-compatible API server: a function from request to response, and the controllers behind it. */
export interface ApiServer extends AsyncDisposable {
  /** Serve it with `runtime.network.serveHttp`. Requests that arrive before `ready` wait for it. */
  readonly handler: HttpHandler;
  /** Resolves when stored definitions are served and the default namespaces exist. */
  readonly ready: Promise<void>;
}

/** Largest request body; pass it to `serveHttp` as `bodyBytesMax`. */
export const requestBodyBytesMax: number = 3 * 1024 * 1024;

/**
 * Starts an API server over `storage`. Disposing it ends its watches and controllers, and leaves the store open.
 */
export function createApiServer(_runtime: Runtime, _options: ApiServerOptions): ApiServer {
  return {
    handler: async () => ({ status: 503, headers: {}, body: new Uint8Array() }),
    ready: Promise.resolve(),
    async [Symbol.asyncDispose]() {},
  };
}
