import { apiVersionOf } from "@meridian/kube";
import type { KubeList, KubeObject, ResourceType, Status } from "@meridian/kube";
import type { HttpClient, HttpClientOptions, Runtime } from "@meridian/runtime";
import { ControllerError } from "../controller-error.ts";
import { deadlineSignal } from "../deadline-signal.ts";
import { TokenFile, fixedToken } from "./bearer-token.ts";
import type { BearerToken, ReadFile } from "./bearer-token.ts";
import type {
  DeleteOptions,
  ListOptions,
  PatchOptions,
  RequestOptions,
  WatchOptions,
  WatchStream,
  WriteOptions,
} from "./requests.ts";
import { collectionPath, describeTarget, objectPath, withQuery } from "./resource-path.ts";
import type { ObjectRef } from "./resource-path.ts";
import { Transport, deadlineExceeded } from "./transport.ts";
import type { Exchange } from "./transport.ts";
import { openWatchStream } from "./watch-stream.ts";

/** Where the API server is, and as whom to speak to it. */
export interface KubeClientOptions {
  /** `https://address:port`, with a base path where the server is behind one. */
  readonly origin: string;
  readonly tls?: NonNullable<HttpClientOptions["tls"]>;
  /** A bearer token. Never logged. */
  readonly token?: string;
  /** A file with the token, read again each minute and after a 401; needs `readFile`. */
  readonly tokenFile?: string;
  readonly readFile?: ReadFile;
  /** Default `meridian`. */
  readonly userAgent?: string;
  /** Bound on each request. Default 30,000. */
  readonly deadlineMs?: number;
}

/** A watch that its server did not end in time is ended here, this long after. */
const watchSlackMs = 10_000;

/**
 * A client of one API server: the verbs of the API over any type, in plain objects.
 *
 * Every call ends within its deadline or with its signal. It throws `StatusError` (of `@meridian/kube`) where the server
 * refuses, `ControllerError` where the server cannot be reached or understood. A 429 is obeyed and repeated, and so is a
 * 5xx with Retry-After on reads, ten times and within the deadline. Each client has an HTTP client of its own.
 */
export class KubeClient implements AsyncDisposable {
  readonly origin: string;
  readonly #runtime: Pick<Runtime, "clock">;
  readonly #http: HttpClient;
  readonly #transport: Transport;
  readonly #deadlineMs: number;

  constructor(runtime: Pick<Runtime, "clock" | "network">, options: KubeClientOptions) {
    const { origin, basePath } = splitOrigin(options.origin);
    this.origin = origin;
    this.#runtime = runtime;
    this.#deadlineMs = options.deadlineMs ?? 30_000;
    this.#http = runtime.network.httpClient({
      origin,
      ...(options.tls === undefined ? {} : { tls: options.tls }),
    });
    this.#transport = new Transport(runtime, {
      http: this.#http,
      basePath,
      token: bearerTokenOf(runtime, options),
      userAgent: options.userAgent ?? "meridian",
    });
  }

  /** Reads the newest state of one object. */
  async get<T extends KubeObject = KubeObject>(
    type: ResourceType,
    ref: ObjectRef,
    options: RequestOptions = {},
  ): Promise<T> {
    const attempt = `get ${describeTarget(type, ref)}`;
    checkReference(type, ref, attempt);
    return this.#object<T>({ method: "GET", target: objectPath(type, ref), attempt }, options);
  }

  /** Reads a collection, or one page of it. Items have `apiVersion` and `kind` also where the wire leaves them out. */
  async list<T extends KubeObject = KubeObject>(
    type: ResourceType,
    options: ListOptions = {},
  ): Promise<KubeList<T>> {
    const target = withQuery(collectionPath(type, options.namespace), {
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      limit: options.limit,
      continue: options.continueToken,
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
    });
    const attempt = `list ${describeTarget(type, { namespace: options.namespace })}`;
    const list = await this.#json({ method: "GET", target, attempt }, options);
    return completeList<T>(type, list, attempt);
  }

  /** Opens a watch; resolves when the server has answered. Never repeats by itself. */
  async watch<T extends KubeObject = KubeObject>(
    type: ResourceType,
    options: WatchOptions = {},
  ): Promise<WatchStream<T>> {
    const { clock } = this.#runtime;
    const timeoutSeconds = options.timeoutSeconds ?? 300;
    const target = withQuery(collectionPath(type, options.namespace), {
      watch: 1,
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
      allowWatchBookmarks: options.allowWatchBookmarks ?? true,
      sendInitialEvents: options.sendInitialEvents,
      timeoutSeconds,
    });
    const attempt = `watch ${describeTarget(type, { namespace: options.namespace })}`;
    const openMs = options.deadlineMs ?? this.#deadlineMs;
    // Two bounds: one until the server answers, one over the whole stream. The first must not end a stream that flows.
    const bounds = deadlineSignal(clock, {
      signal: options.signal,
      ms: timeoutSeconds * 1000 + watchSlackMs,
      reason: () =>
        new ControllerError("DeadlineExceeded", `${attempt} did not end after ${timeoutSeconds} s`),
    });
    const cancel = clock.after(openMs, () => bounds.abort(deadlineExceeded({ attempt }, openMs)));
    try {
      const response = await this.#transport.open({ method: "GET", target, attempt }, bounds.signal);
      return openWatchStream<T>({ body: response.body, bounds, attempt });
    } catch (error) {
      bounds[Symbol.dispose]();
      throw error;
    } finally {
      cancel();
    }
  }

  /** Creates an object; the answer carries what the server added. */
  async create<T extends KubeObject = KubeObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const { name, generateName, namespace } = object.metadata;
    const ref = { name: name ?? generateName ?? "", ...(namespace === undefined ? {} : { namespace }) };
    const attempt = `create ${describeTarget(type, ref)}`;
    checkReference(type, ref, attempt);
    const target = withQuery(collectionPath(type, namespace), writeParameters(options));
    return this.#object<T>({ method: "POST", target, attempt, body: object }, options);
  }

  /** Replaces an object. With a `resourceVersion` in it, only the state that the writer saw is replaced. */
  async update<T extends KubeObject = KubeObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#replace(type, object, options);
  }

  /** Replaces the status of an object, and nothing else of it. */
  async updateStatus<T extends KubeObject = KubeObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#replace(type, object, { ...options, subresource: "status" });
  }

  /** Changes an object by a patch. */
  async patch<T extends KubeObject = KubeObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: PatchOptions,
  ): Promise<T> {
    const attempt = `patch ${describeTarget(type, ref)}`;
    checkReference(type, ref, attempt);
    const target = withQuery(objectPath(type, ref, patch.subresource), {
      ...writeParameters(patch),
      force: patch.force,
    });
    const contentType = patchMediaTypes[patch.type];
    return this.#object<T>({ method: "PATCH", target, attempt, body: patch.body, contentType }, patch);
  }

  /** Deletes an object. Resolves with the API's Status, or with the object where finalizers keep it for now. */
  async delete(
    type: ResourceType,
    ref: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<Status | KubeObject> {
    const attempt = `delete ${describeTarget(type, ref)}`;
    checkReference(type, ref, attempt);
    const body = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      ...(options.propagationPolicy === undefined ? {} : { propagationPolicy: options.propagationPolicy }),
      ...(options.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: options.gracePeriodSeconds }),
      ...(options.preconditions === undefined ? {} : { preconditions: options.preconditions }),
      ...(options.dryRun === true ? { dryRun: ["All"] } : {}),
    };
    const answer = await this.#json(
      { method: "DELETE", target: objectPath(type, ref), attempt, body },
      options,
    );
    return answer as Status | KubeObject;
  }

  /** Reads any path, for example `/version` or `/readyz`: the parsed JSON, or the text where it is none. */
  async getRaw(path: string, options: RequestOptions = {}): Promise<unknown> {
    const text = await this.#text({ method: "GET", target: path, attempt: `get ${path}` }, options);
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http[Symbol.asyncDispose]();
  }

  #replace<T extends KubeObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions & { readonly subresource?: string },
  ): Promise<T> {
    const { name = "", namespace } = object.metadata;
    const ref = { name, ...(namespace === undefined ? {} : { namespace }) };
    const attempt = `update ${describeTarget(type, ref)}${options.subresource === undefined ? "" : ` (${options.subresource})`}`;
    checkReference(type, ref, attempt);
    const target = withQuery(objectPath(type, ref, options.subresource), writeParameters(options));
    return this.#object<T>({ method: "PUT", target, attempt, body: object }, options);
  }

  async #object<T extends KubeObject>(exchange: Exchange, options: RequestOptions): Promise<T> {
    const answer = await this.#json(exchange, options);
    const { metadata } = answer as { readonly metadata?: unknown };
    if (typeof metadata === "object" && metadata !== null) return answer as T;
    throw malformed(exchange.attempt, "the answer has no metadata");
  }

  async #json(exchange: Exchange, options: RequestOptions): Promise<object> {
    const text = await this.#text(exchange, options);
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch (cause) {
      throw malformed(exchange.attempt, "the answer is not JSON", { cause });
    }
    if (typeof answer === "object" && answer !== null) return answer;
    throw malformed(exchange.attempt, "the answer is no JSON object");
  }

  #text(exchange: Exchange, options: RequestOptions): Promise<string> {
    const deadlineMs = options.deadlineMs ?? this.#deadlineMs;
    return this.#transport.text(exchange, {
      deadlineMs,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  }
}

const patchMediaTypes: Readonly<Record<PatchOptions["type"], string>> = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  // YAML in name; JSON is YAML, and no other media type is known to servers of all ages.
  apply: "application/apply-patch+yaml",
};

function writeParameters(options: WriteOptions): Record<string, string | undefined> {
  return {
    fieldManager: options.fieldManager,
    fieldValidation: options.fieldValidation,
    dryRun: options.dryRun === true ? "All" : undefined,
  };
}

/** An empty name would turn `delete` of an object into that of its collection, so it never leaves this client. */
function checkReference(type: ResourceType, ref: ObjectRef, attempt: string): void {
  if (ref.name === "" || ref.name === "." || ref.name === "..") {
    throw new ControllerError(
      "InvalidReference",
      `cannot ${attempt}: ${JSON.stringify(ref.name)} is no name`,
    );
  }
  if (type.namespaced && (ref.namespace === undefined || ref.namespace === "")) {
    throw new ControllerError(
      "InvalidReference",
      `cannot ${attempt}: ${type.kind} is namespaced; give a namespace`,
    );
  }
}

/** Built-in lists leave `apiVersion` and `kind` of their items out, and some servers send `null` for no items. */
function completeList<T extends KubeObject>(type: ResourceType, list: object, attempt: string): KubeList<T> {
  const { items, metadata, apiVersion, kind } = list as Partial<KubeList<T>> & {
    readonly items?: T[] | null;
  };
  if (metadata === undefined || (items !== null && !Array.isArray(items))) {
    throw malformed(attempt, "the answer is no list");
  }
  const itemVersion = apiVersionOf(type);
  return {
    apiVersion: apiVersion ?? itemVersion,
    kind: kind ?? `${type.kind}List`,
    metadata,
    items: (items ?? []).map((item: T) =>
      item.kind === undefined || item.apiVersion === undefined
        ? { ...item, apiVersion: itemVersion, kind: type.kind }
        : item,
    ),
  };
}

function malformed(attempt: string, what: string, options?: ErrorOptions): ControllerError {
  return new ControllerError(
    "MalformedResponse",
    `cannot ${attempt}: ${what}; see that the address is that of a Kubernetes API server`,
    options,
  );
}

function splitOrigin(text: string): { readonly origin: string; readonly basePath: string } {
  const match = /^(https?:\/\/[^/?#]+)([^?#]*)$/.exec(text);
  if (match === null) {
    throw new ControllerError(
      "InvalidKubeconfig",
      `${JSON.stringify(text)} is no server address like https://host:6443`,
    );
  }
  return { origin: match[1] as string, basePath: (match[2] as string).replace(/\/+$/, "") };
}

function bearerTokenOf(runtime: Pick<Runtime, "clock">, options: KubeClientOptions): BearerToken | undefined {
  // A token file wins over a token, as in client-go: the file is the one that is renewed.
  if (options.tokenFile !== undefined) {
    if (options.readFile === undefined) {
      throw new ControllerError(
        "TokenUnavailable",
        `the token file ${options.tokenFile} needs the option readFile`,
      );
    }
    return new TokenFile(runtime.clock, options.tokenFile, options.readFile);
  }
  return options.token === undefined ? undefined : fixedToken(options.token);
}
