import assert from "node:assert/strict";
import { createApiServer, openMemoryStorage, requestBodyBytesMax } from "@meridian/apiserver";
import type { ApiServer, RetentionPolicy, Storage } from "@meridian/apiserver";
import { Informer, KubeClient } from "@meridian/controller";
import type { InformerOptions } from "@meridian/controller";
import { FaultyHttp } from "@meridian/controller/testing";
import { isStatusError, type ConfigMap, type ResourceType } from "@meridian/kube";
import type { HttpServer } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import type { CrashKind, SimLogLine, SimNode } from "@meridian/runtime/sim";
import { TruthRecorder, stateText } from "./truth-recorder.ts";
import type { RecordedObject } from "./truth-recorder.ts";

export const configMaps: ResourceType = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

const token = "let-me-in";
const origin = "http://10.0.0.1:6443";

/** What runs while the server's process does. */
interface RunningServer {
  readonly storage: Storage;
  readonly api: ApiServer;
  readonly http: HttpServer;
  readonly recording: Promise<void>;
  readonly stopRecording: AbortController;
}

/** A write that was answered with success. */
export interface Acknowledged {
  readonly name: string;
  readonly version: number;
  readonly value: string;
}

export interface ApiWorldOptions {
  readonly seed: number;
  readonly retention?: Partial<RetentionPolicy>;
}

/**
 * Our API server over a store on a simulated disk, and clients of ours across a simulated network with a middlebox before
 * them. The truth is recorded beside the server.
 */
export class ApiWorld {
  readonly simulation: Simulation;
  readonly truth: TruthRecorder = new TruthRecorder();
  readonly acknowledged: Acknowledged[] = [];
  readonly box: FaultyHttp;
  readonly client: KubeClient;
  readonly logged: SimLogLine[] = [];
  readonly #serverNode: SimNode;
  readonly #clientNode: SimNode;
  readonly #retention: Partial<RetentionPolicy>;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>[] = [];
  #server: RunningServer | undefined;
  #failure: unknown;
  #writes = 0;

  private constructor({ seed, retention = {} }: ApiWorldOptions) {
    this.simulation = new Simulation({ seed, onLog: (line) => this.logged.push(line) });
    this.#retention = retention;
    this.#serverNode = this.simulation.node({ name: "server", addresses: ["10.0.0.1"] });
    this.#clientNode = this.simulation.node({ name: "client", addresses: ["10.0.0.2"] });
    const { runtime } = this.#clientNode;
    this.box = new FaultyHttp({ clock: runtime.clock, random: this.simulation.random("middlebox") });
    this.client = new KubeClient(this.box.inFrontOf(runtime), { origin, token, deadlineMs: 10_000 });
    this.simulation.onStep(() => {
      if (this.#failure !== undefined) throw this.#failure;
    });
  }

  static async start(options: ApiWorldOptions): Promise<ApiWorld> {
    const world = new ApiWorld(options);
    await world.startServer();
    return world;
  }

  get serverRuns(): boolean {
    return this.#server !== undefined;
  }

  /** Starts the API server on what is on its disk. */
  async startServer(): Promise<void> {
    if (this.#server !== undefined) return;
    this.#server = await this.simulation.complete(this.#boot());
  }

  /** The server's process or its machine ends in the middle of whatever it does. */
  crashServer(kind: CrashKind): void {
    this.#server = undefined;
    this.#serverNode.crash(kind);
  }

  /** The server ends in order. */
  async stopServer(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const { simulation } = this;
    await simulation.complete(Promise.resolve(server.api[Symbol.asyncDispose]()));
    await simulation.complete(Promise.resolve(server.http[Symbol.asyncDispose]()));
    server.stopRecording.abort();
    await simulation.complete(server.recording);
    await simulation.complete(Promise.resolve(server.storage[Symbol.asyncDispose]()));
    this.#serverNode.crash("process");
  }

  /** Loses the history up to now. */
  compact(): void {
    const storage = this.#server?.storage;
    if (storage === undefined) return;
    storage.compact(storage.revision()).catch((error: unknown) => this.#fail(error));
  }

  /** Writes at the server itself; it goes on while the simulation does. */
  write(name: string, labels: Readonly<Record<string, string>> = {}): void {
    const value = String(++this.#writes);
    void this.#send("PATCH", `/${name}?fieldManager=truth&force=true`, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, labels },
      data: { value },
    });
  }

  remove(name: string): void {
    void this.#send("DELETE", `/${name}`, undefined);
  }

  /** Writes something else, which moves the versions. */
  tick(): void {
    const body = { apiVersion: "v1", kind: "Secret", metadata: { generateName: "tick-" } };
    void this.#request("POST", "/api/v1/namespaces/default/secrets", body);
  }

  /** Writes across the network; what became of it is known only if an answer comes back. */
  writeRemotely(name: string): void {
    const value = String(++this.#writes);
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { value } };
    const patch = { type: "apply", force: true, fieldManager: "remote", body } as const;
    this.client.patch<ConfigMap>(configMaps, { namespace: "default", name }, patch).then(
      (object) => this.#acknowledge(object),
      (error: unknown) => {
        // Faults of server and network are what this is about; a mistake of the writer's would make it prove nothing.
        if (isStatusError(error) && [400, 415, 422].includes(error.status.code ?? 0)) this.#fail(error);
      },
    );
  }

  /** A copy that runs from now on, checked against the truth after each step. */
  follow(
    options: Partial<InformerOptions<ConfigMap>>,
    selects: (object: RecordedObject) => boolean = everything,
  ): Informer<ConfigMap> {
    const informer = new Informer<ConfigMap>(this.#clientNode.runtime, {
      client: this.client,
      type: configMaps,
      namespace: "default",
      ...options,
    });
    this.simulation.onStep(() => {
      if (!informer.hasSynced) return;
      const expected = this.truth.stateAt(Number(informer.version), selects);
      assert.equal(stateOf(informer), expected, `the copy is not the truth at ${informer.version}`);
    });
    const running = informer.run(this.#stopping.signal);
    running.catch((error: unknown) => this.#fail(error));
    this.#running.push(running);
    return informer;
  }

  /** Waits at the client, while the simulation goes on. */
  sleep(ms: number): Promise<void> {
    return this.#clientNode.runtime.clock.sleep(ms);
  }

  /** Lets virtual time go on. */
  pass(ms: number): Promise<void> {
    return this.simulation.run({ untilMs: this.simulation.nowMs + ms });
  }

  /** Ends all faults, lets everything come to rest, and holds copies and acknowledgements against the truth. */
  async settle(copies: ReadonlyMap<Informer<ConfigMap>, (object: RecordedObject) => boolean>): Promise<void> {
    this.simulation.heal();
    await this.startServer();
    // Longer than anything may last: a write that waits for its server, a silent watch, and the pauses behind it.
    await this.pass(900_000);
    for (const [informer, selects] of copies) {
      await this.simulation.run({
        until: () => informer.connected,
        untilMs: this.simulation.nowMs + 60_000,
      });
      assert.equal(stateOf(informer), this.truth.stateAt(Infinity, selects), "the copy is not the truth");
      assert.equal(informer.status.handlerErrors, 0);
    }
    for (const { name, version, value } of this.acknowledged) {
      const change = this.truth.changes.find((candidate) => candidate.version === version);
      assert.ok(change !== undefined, `${name} was acknowledged at ${version}, and no such version exists`);
      assert.equal(change.name, name);
      assert.equal(change.object?.data?.["value"], value, `version ${version} holds another content`);
    }
  }

  /** Ends the copies and the client. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error("stopped"));
    await this.simulation.complete(Promise.all(this.#running));
    await this.simulation.complete(this.client[Symbol.asyncDispose]());
  }

  async #boot(): Promise<RunningServer> {
    const runtime = this.#serverNode.running ? this.#serverNode.runtime : this.#serverNode.restart();
    const storage = await openMemoryStorage(runtime, {
      persistent: true,
      retention: this.#retention,
      snapshotAfterBytes: 4_000,
    });
    const stopRecording = new AbortController();
    const recording = this.truth.follow(storage, stopRecording.signal);
    recording.catch((error: unknown) => this.#fail(error));
    const api = createApiServer(runtime, {
      storage,
      tokens: [{ token, username: "admin", groups: ["system:masters"] }],
    });
    await api.ready;
    const http = await runtime.network.serveHttp({
      address: "10.0.0.1",
      port: 6443,
      handler: api.handler,
      bodyBytesMax: requestBodyBytesMax,
    });
    return { storage, api, http, recording, stopRecording };
  }

  async #send(method: string, path: string, body: unknown): Promise<void> {
    const answer = await this.#request(method, `/api/v1/namespaces/default/configmaps${path}`, body);
    if (answer !== undefined && method !== "DELETE") this.#acknowledge(answer as ConfigMap);
  }

  /** Past the network, as from within the server. A server that has crashed never answers. */
  async #request(method: string, target: string, body: unknown): Promise<unknown> {
    const server = this.#server;
    if (server === undefined) return undefined;
    try {
      const response = await server.api.handler({
        method,
        target,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined
            ? {}
            : { "content-type": method === "PATCH" ? "application/apply-patch+yaml" : "application/json" }),
        },
        body: body === undefined ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(body)),
        client: { address: "10.0.0.1", port: 1 },
        signal: new AbortController().signal,
      });
      assert.ok(response.body instanceof Uint8Array);
      const answer: unknown = JSON.parse(new TextDecoder().decode(response.body));
      if (response.status < 300) return answer;
      const told = JSON.stringify(answer);
      assert.ok([404, 409, 503].includes(response.status), `${method} ${target}: ${told}`);
    } catch (error) {
      this.#fail(error);
    }
    return undefined;
  }

  #acknowledge({ metadata, data }: ConfigMap): void {
    const { name = "", resourceVersion } = metadata;
    this.acknowledged.push({ name, version: Number(resourceVersion), value: data?.["value"] ?? "" });
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
  }
}

/** Selects every object. */
export const everything = (_object: RecordedObject): boolean => true;

function stateOf(informer: Informer<ConfigMap>): string {
  return informer.lister
    .list()
    .map((object) => stateText(object as unknown as RecordedObject, object.metadata.resourceVersion))
    .sort()
    .join("\n");
}
