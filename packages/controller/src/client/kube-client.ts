import type { KubeList, KubeObject, ListMeta, ResourceType, Status } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { deadlineSignal } from "../deadline-signal.ts";
import type { ApiConnections } from "./api-connections.ts";
import { ApiError } from "./api-error.ts";
import { clientTransport } from "./client-options.ts";
import type { KubeClientOptions } from "./client-options.ts";
import type { CredentialSource } from "./credential.ts";
import { completeList } from "./list-response.ts";
import type { ObjectReading } from "./object-reading.ts";
import { checkNamespace, checkReference, checkWhole } from "./request-checks.ts";
import { subjectOf } from "./request-subject.ts";
import type { RequestSubject } from "./request-subject.ts";
import type {
  ApplyOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  RawOptions,
  RequestOptions,
  SelectionOptions,
  WatchOptions,
  WatchStream,
  WriteOptions,
} from "./requests.ts";
import { collectionPath, objectPath, withQuery } from "./resource-path.ts";
import type { ObjectRef } from "./resource-path.ts";
import { deadlineExceeded } from "./transport.ts";
import type { Exchange, Transport } from "./transport.ts";
import { readRawList } from "./raw-list.ts";
import { openRawWatch, openWatchStream } from "./watch-stream.ts";
import type { RawWatch, WatchBody } from "./watch-stream.ts";
import { formatOfAnswer } from "./wire-format.ts";

/** A watch that its server did not end in time is ended here, this long after. */
const watchSlackMs = 10_000;

/**
 * A client of one API server: the verbs of the API over any type, in plain objects.
 *
 * Every call ends within its deadline or with its signal. It rejects with an `ApiError`, or with the signal's reason. A
 * 429 is obeyed and repeated, and so is a 5xx with Retry-After where repeating is safe, ten times and within the
 * deadline. Requests and watches share the connections of the client, which is closed by its owner.
 */
export class KubeClient implements AsyncDisposable {
  readonly origin: string;
  /** The namespace to work in where nothing else says one. */
  readonly namespace: string;
  readonly #clock: Runtime["clock"];
  readonly #transport: Transport;
  readonly #connections: ApiConnections;
  readonly #credentials: CredentialSource | undefined;
  readonly #deadlineMs: number;
  #closed = false;

  constructor(runtime: Pick<Runtime, "clock" | "network">, options: KubeClientOptions) {
    const { origin, transport, connections } = clientTransport(runtime, options);
    this.origin = origin;
    this.namespace = options.namespace ?? "default";
    this.#clock = runtime.clock;
    this.#transport = transport;
    this.#connections = connections;
    this.#credentials = options.credentials;
    this.#deadlineMs = options.deadlineMs ?? 30_000;
  }

  /** Reads the newest state of one object, or one of its subresources. */
  async get<T extends KubeObject = KubeObject>(
    type: ResourceType<T>,
    ref: ObjectRef,
    options: GetOptions = {},
  ): Promise<T> {
    const { subresource, resourceVersion } = options;
    const subject = subjectOf("get", type, { ...ref, subresource });
    checkReference(type, ref, subject);
    const target = withQuery(objectPath(type, ref, subresource), { resourceVersion });
    return this.#object<T>({ method: "GET", target, subject }, options);
  }

  /** Reads a collection, or one page of it. Items have `apiVersion` and `kind` also where the wire leaves them out. */
  async list<T extends KubeObject = KubeObject>(
    type: ResourceType<T>,
    options: ListOptions = {},
  ): Promise<KubeList<T>> {
    const target = listTarget(type, options);
    const subject = subjectOf("list", type, { namespace: options.namespace });
    const list = completeList<T>(type, await this.#json({ method: "GET", target, subject }, options));
    if (list === undefined) throw malformed(subject, "the answer is no list");
    return list;
  }

  /**
   * Reads a collection, or one page of it, and hands over each item as soon as it is there, undecoded. What a body has to
   * say is bounded by the silence before it, not by its length: `deadlineMs` without an octet end it. Repeats only before
   * the first octet.
   */
  async listRaw(
    type: ResourceType,
    options: ListOptions & RawOptions,
    onItem: (item: ObjectReading) => void,
  ): Promise<ListMeta> {
    const subject = subjectOf("list", type, { namespace: options.namespace });
    this.#checkOpen(subject);
    const target = listTarget(type, options);
    const { compressed } = options;
    const format = options.wireFormat?.of(type);
    const exchange: Exchange = { method: "GET", target, subject, format, compressed };
    return readRawList(
      { clock: this.#clock, transport: this.#transport, type, onItem },
      { exchange, signal: options.signal, deadlineMs: options.deadlineMs ?? this.#deadlineMs },
    );
  }

  /** Opens a watch; resolves when the server has answered. Never repeats by itself. */
  async watch<T extends KubeObject = KubeObject>(
    type: ResourceType<T>,
    options: WatchOptions = {},
  ): Promise<WatchStream<T>> {
    return openWatchStream<T>(await this.#openWatch(type, options));
  }

  /** As `watch`, for events that stay undecoded. */
  async watchRaw(type: ResourceType, options: WatchOptions & RawOptions = {}): Promise<RawWatch> {
    return openRawWatch(await this.#openWatch(type, options), type);
  }

  /**
   * Creates an object; the answer carries what the server added. With a subresource, for example `eviction`, the body is
   * sent to that of the object of the same name.
   */
  async create<T extends KubeObject = KubeObject>(
    type: ResourceType<T>,
    object: NoInfer<T>,
    options: WriteOptions = {},
  ): Promise<T> {
    const { subresource } = options;
    const { name, generateName, namespace } = object.metadata;
    const ref = { name: name ?? generateName ?? "", ...(namespace === undefined ? {} : { namespace }) };
    const subject = subjectOf("create", type, { ...ref, subresource });
    // Reviews have no names, and of what needs one the server says so.
    if (subresource === undefined) checkNamespace(type, ref, subject);
    else checkReference(type, ref, subject);
    const path =
      subresource === undefined ? collectionPath(type, namespace) : objectPath(type, ref, subresource);
    const target = withQuery(path, writeParameters(options));
    return this.#object<T>({ method: "POST", target, subject, body: object }, options);
  }

  /**
   * Replaces an object. With a `resourceVersion` in it, only the state that the writer saw is replaced. An object of a copy
   * that could not show all of its fields is refused, see `unknownFields`.
   */
  async update<T extends KubeObject = KubeObject>(
    type: ResourceType<T>,
    object: NoInfer<T>,
    options: WriteOptions = {},
  ): Promise<T> {
    const { subresource } = options;
    const ref = refOf(object);
    const subject = subjectOf("update", type, { ...ref, subresource });
    checkReference(type, ref, subject);
    checkWhole(object, subject);
    const target = withQuery(objectPath(type, ref, subresource), writeParameters(options));
    return this.#object<T>({ method: "PUT", target, subject, body: object }, options);
  }

  /** Replaces the status of an object, and nothing else of it. */
  updateStatus<T extends KubeObject = KubeObject>(
    type: ResourceType<T>,
    object: NoInfer<T>,
    options: Omit<WriteOptions, "subresource"> = {},
  ): Promise<T> {
    return this.update(type, object, { ...options, subresource: "status" });
  }

  /** Changes an object by a patch. */
  async patch<T extends KubeObject = KubeObject>(
    type: ResourceType<T>,
    ref: ObjectRef,
    patch: PatchOptions,
  ): Promise<T> {
    const { subresource } = patch;
    const subject = subjectOf(patch.type === "apply" ? "apply" : "patch", type, { ...ref, subresource });
    checkReference(type, ref, subject);
    const target = withQuery(objectPath(type, ref, subresource), {
      ...writeParameters(patch),
      force: patch.force,
    });
    const contentType = patchMediaTypes[patch.type];
    return this.#object<T>({ method: "PATCH", target, subject, body: patch.body, contentType }, patch);
  }

  /**
   * Server-side apply: makes the fields that `object` has, and no others, those of the field manager; creates the object
   * where there is none. Fields of others with other values are a 409 with one cause each, unless `force` is set.
   */
  apply<T extends KubeObject = KubeObject>(
    type: ResourceType<T>,
    object: KubeObject,
    options: ApplyOptions,
  ): Promise<T> {
    return this.patch<T>(type, refOf(object), { ...options, type: "apply", body: object });
  }

  /** Deletes an object. Resolves with the API's Status, or with the object where finalizers keep it for now. */
  async delete(
    type: ResourceType,
    ref: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<Status | KubeObject> {
    const subject = subjectOf("delete", type, ref);
    checkReference(type, ref, subject);
    const body = deleteBody(options);
    const target = objectPath(type, ref);
    return (await this.#json({ method: "DELETE", target, subject, body }, options)) as Status | KubeObject;
  }

  /**
   * Deletes all objects of a selection; without one, all of the namespace, which a namespaced type must have here: there is
   * no delete across namespaces. Resolves with what was deleted, or with a Status.
   */
  async deleteCollection(
    type: ResourceType,
    options: DeleteCollectionOptions = {},
  ): Promise<Status | KubeList> {
    const { namespace } = options;
    const subject = subjectOf("deletecollection", type, { namespace });
    checkNamespace(type, { namespace }, subject);
    const target = withQuery(collectionPath(type, namespace), selectionParameters(options));
    const body = deleteBody(options);
    return (await this.#json({ method: "DELETE", target, subject, body }, options)) as Status | KubeList;
  }

  /** Reads any path, for example `/version` or `/readyz`: the parsed JSON, or the text where it is none. */
  async getRaw(path: string, options: RequestOptions & { readonly accept?: string } = {}): Promise<unknown> {
    const subject = { verb: "get", resource: path };
    const { accept } = options;
    const text = await this.#text(
      { method: "GET", target: path, subject, ...(accept === undefined ? {} : { accept }) },
      options,
    );
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#credentials?.[Symbol.dispose]?.();
    await this.#connections[Symbol.asyncDispose]();
  }

  async #openWatch(type: ResourceType, options: WatchOptions & RawOptions): Promise<WatchBody> {
    const timeoutSeconds = options.timeoutSeconds ?? 300;
    const target = withQuery(collectionPath(type, options.namespace), {
      watch: 1,
      ...selectionParameters(options),
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
      allowWatchBookmarks: options.allowWatchBookmarks ?? true,
      sendInitialEvents: options.sendInitialEvents,
      timeoutSeconds,
    });
    const subject = subjectOf("watch", type, { namespace: options.namespace });
    this.#checkOpen(subject);
    const openMs = options.deadlineMs ?? this.#deadlineMs;
    // Two bounds: one until the server answers, one over the whole stream. The first must not end a stream that flows.
    const bounds = deadlineSignal(this.#clock, {
      signal: options.signal,
      ms: timeoutSeconds * 1000 + watchSlackMs,
      reason: () => {
        const message = `the server did not end it after ${timeoutSeconds} s`;
        return new ApiError({ subject, reason: "DeadlineExceeded", message });
      },
    });
    const cancel = this.#clock.after(openMs, () => bounds.abort(deadlineExceeded(subject, openMs)));
    const endsAtMs = this.#clock.monotonicMs() + openMs;
    try {
      const format = options.wireFormat?.of(type);
      const response = await this.#transport.open(
        { method: "GET", target, subject, format },
        { signal: bounds.signal, endsAtMs },
      );
      return { body: response.body, bounds, subject, format: formatOfAnswer(format, response.headers) };
    } catch (error) {
      bounds[Symbol.dispose]();
      throw error;
    } finally {
      cancel();
    }
  }

  async #object<T extends KubeObject>(exchange: Exchange, options: RequestOptions): Promise<T> {
    const answer = await this.#json(exchange, options);
    const { metadata, kind } = answer as { readonly metadata?: unknown; readonly kind?: unknown };
    // The answer to some subresources (an eviction, a binding) is a Status.
    if ((typeof metadata === "object" && metadata !== null) || kind === "Status") return answer as T;
    throw malformed(exchange.subject, "the answer has no metadata");
  }

  async #json(exchange: Exchange, options: RequestOptions): Promise<object> {
    const text = await this.#text(exchange, options);
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch (cause) {
      throw malformed(exchange.subject, "the answer is not JSON", cause);
    }
    if (typeof answer === "object" && answer !== null) return answer;
    throw malformed(exchange.subject, "the answer is no JSON object");
  }

  async #text(exchange: Exchange, { signal, deadlineMs }: RequestOptions): Promise<string> {
    this.#checkOpen(exchange.subject);
    return this.#transport.text(exchange, { signal, deadlineMs: deadlineMs ?? this.#deadlineMs });
  }

  #checkOpen(subject: RequestSubject): void {
    if (!this.#closed) return;
    throw new ApiError({ subject, reason: "Closed", message: "the client was closed; make a new one" });
  }
}

const patchMediaTypes: Readonly<Record<PatchOptions["type"], string>> = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  // YAML in name; JSON is YAML, and no other media type is known to servers of all ages.
  apply: "application/apply-patch+yaml",
};

function refOf(object: KubeObject): ObjectRef {
  const { name = "", namespace } = object.metadata;
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

function listTarget(type: ResourceType, options: ListOptions): string {
  return withQuery(collectionPath(type, options.namespace), {
    ...selectionParameters(options),
    limit: options.limit,
    continue: options.continueToken,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  });
}

function selectionParameters(options: SelectionOptions): Record<string, string | undefined> {
  return { labelSelector: options.labelSelector, fieldSelector: options.fieldSelector };
}

function writeParameters(options: WriteOptions): Record<string, string | undefined> {
  return {
    fieldManager: options.fieldManager,
    fieldValidation: options.fieldValidation,
    dryRun: options.dryRun === true ? "All" : undefined,
  };
}

function deleteBody(options: DeleteOptions): object {
  const { propagationPolicy, gracePeriodSeconds, preconditions } = options;
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(options.dryRun === true ? { dryRun: ["All"] } : {}),
  };
}

function malformed(subject: RequestSubject, what: string, cause?: unknown): ApiError {
  const message = `${what}; see that the address is that of a Kubernetes API server`;
  return new ApiError({ subject, reason: "MalformedResponse", message, cause });
}
