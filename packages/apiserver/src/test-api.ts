import assert from "node:assert/strict";
import type { HttpResponse, Runtime } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { type ApiServer, type ApiServerOptions, createApiServer } from "./api-server.ts";
import { openMemoryStorage } from "./storage/index.ts";
import type { Storage } from "./storage/storage.ts";

/** An answer, with its JSON body read. Tests look into bodies freely, so it is as loose as JSON. */
export interface TestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: TestJson;
  readonly text: string;
}

/** JSON that tests may look into without checks: what is missing reads as `undefined` in an assertion that fails. */
export interface TestJson {
  readonly [field: string]: TestJson & string & number & boolean & readonly TestJson[];
}

export interface TestRequest {
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

/** An API server over a store in memory and under virtual time, driven through its handler. */
export class TestApi implements AsyncDisposable {
  readonly simulation: Simulation;
  readonly runtime: Runtime;
  readonly storage: Storage;
  readonly server: ApiServer;

  private constructor(parts: {
    simulation: Simulation;
    runtime: Runtime;
    storage: Storage;
    server: ApiServer;
  }) {
    this.simulation = parts.simulation;
    this.runtime = parts.runtime;
    this.storage = parts.storage;
    this.server = parts.server;
  }

  static async start(
    options: Partial<ApiServerOptions> & { readonly historyRevisions?: number } = {},
  ): Promise<TestApi> {
    const simulation = new Simulation({ seed: 1 });
    const { runtime } = simulation.node({ name: "api", addresses: ["10.0.0.1"] });
    const storage = await openMemoryStorage(runtime, { persistent: false });
    const server = createApiServer(runtime, {
      storage,
      tokens: [
        { token: "admin-token", username: "admin", groups: ["system:masters"] },
        { token: "guest-token", username: "guest" },
      ],
      ...options,
    });
    await server.ready;
    return new TestApi({ simulation, runtime, storage, server });
  }

  async request(method: string, target: string, request: TestRequest = {}): Promise<TestAnswer> {
    const response = await this.send(method, target, request);
    const text = await readAll(response);
    const isJson = (response.headers["content-type"] ?? "").startsWith("application/json");
    return { ...response, text, body: (isJson ? JSON.parse(text) : {}) as TestJson };
  }

  /** Sends a request as the admin; the answer's body is not read. */
  send(method: string, target: string, request: TestRequest = {}): Promise<HttpResponse> {
    const { body } = request;
    const octets =
      body === undefined
        ? new Uint8Array()
        : body instanceof Uint8Array
          ? body
          : new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
    return this.server.handler({
      method,
      target,
      headers: {
        authorization: "Bearer admin-token",
        ...(body !== undefined && { "content-type": request.contentType ?? "application/json" }),
        ...request.headers,
      },
      body: octets,
      client: { address: "10.0.0.9", port: 40_000 },
      signal: request.signal ?? new AbortController().signal,
    });
  }

  get(target: string, headers: Readonly<Record<string, string>> = {}): Promise<TestAnswer> {
    return this.request("GET", target, { headers });
  }

  post(target: string, body: unknown): Promise<TestAnswer> {
    return this.request("POST", target, { body });
  }

  put(target: string, body: unknown): Promise<TestAnswer> {
    return this.request("PUT", target, { body });
  }

  delete(target: string, body?: unknown): Promise<TestAnswer> {
    return this.request("DELETE", target, body === undefined ? {} : { body });
  }

  merge(target: string, body: unknown): Promise<TestAnswer> {
    return this.request("PATCH", target, { body, contentType: "application/merge-patch+json" });
  }

  /** Server-side apply. */
  apply(target: string, body: unknown): Promise<TestAnswer> {
    return this.request("PATCH", target, { body, contentType: "application/apply-patch+yaml" });
  }

  /** Creates something that the test needs, and fails the test if that does not work. */
  async given(target: string, body: unknown): Promise<TestJson> {
    const answer = await this.post(target, body);
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  }

  async watch(target: string, headers: Readonly<Record<string, string>> = {}): Promise<TestWatch> {
    const stopping = new AbortController();
    const response = await this.send("GET", target, { headers, signal: stopping.signal });
    return new TestWatch(response, stopping);
  }

  /** Lets virtual time pass. */
  async advance(ms: number): Promise<void> {
    await this.simulation.run({ untilMs: this.simulation.nowMs + ms });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closing = this.server[Symbol.asyncDispose]();
    await this.simulation.complete(Promise.resolve(closing));
    await this.storage[Symbol.asyncDispose]();
  }
}

/** An event of a watch. */
export interface TestEvent {
  readonly type: string;
  readonly object: TestJson;
}

/** Collects the events of a watch as they come. */
export class TestWatch {
  readonly response: HttpResponse;
  readonly events: TestEvent[] = [];
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  hasEnded = false;
  readonly #stopping: AbortController;

  constructor(response: HttpResponse, stopping: AbortController) {
    this.response = response;
    this.#stopping = stopping;
    this.ended = this.#read(response).finally(() => {
      this.hasEnded = true;
    });
  }

  /** What each event was about: `ADDED a`, `BOOKMARK`. */
  get story(): readonly string[] {
    return this.events.map(({ object, type }) =>
      [type, object["metadata"]?.["name"]].filter(Boolean).join(" "),
    );
  }

  /** Waits until all that has happened so far has arrived. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #read(response: HttpResponse): Promise<void> {
    let rest = "";
    const decoder = new TextDecoder();
    assert.ok(!(response.body instanceof Uint8Array), `expected a stream, not ${response.status}`);
    for await (const chunk of response.body) {
      rest += decoder.decode(chunk, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.events.push(JSON.parse(line) as TestEvent);
    }
    assert.equal(rest, "", "a stream ends with a whole line");
  }
}

async function readAll(response: HttpResponse): Promise<string> {
  if (response.body instanceof Uint8Array) return new TextDecoder().decode(response.body);
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body) text += decoder.decode(chunk, { stream: true });
  return text;
}

/** The names of a list's items. */
export function namesOf(list: TestJson): readonly string[] {
  const { items } = list as unknown as {
    readonly items: readonly { readonly metadata: { readonly name: string } }[];
  };
  return items.map(({ metadata }) => metadata.name);
}

/** A definition of `widgets.example.com` with one version, and what the test adds to it. */
export function widgetDefinition(
  version: Readonly<Record<string, unknown>> = {},
  spec: Readonly<Record<string, unknown>> = {},
): unknown {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget", shortNames: ["wd"], categories: ["all"] },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: {
                  type: "object",
                  properties: {
                    size: { type: "integer", minimum: 1 },
                    color: { type: "string", enum: ["red", "green"], default: "red" },
                    big: { type: "integer", format: "int64" },
                  },
                },
                status: { type: "object", properties: { ready: { type: "boolean" } } },
              },
            },
          },
          subresources: { status: {} },
          ...version,
        },
      ],
      ...spec,
    },
  };
}

export function widget(
  name: string,
  spec: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name }, spec };
}

export function configMap(
  name: string,
  data: Readonly<Record<string, string>> = {},
): Readonly<Record<string, unknown>> {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

export const configMapsPath = "/api/v1/namespaces/default/configmaps";
export const widgetsPath = "/apis/example.com/v1/namespaces/default/widgets";
export const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
