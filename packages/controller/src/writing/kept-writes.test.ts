import assert from "node:assert/strict";
import { test } from "node:test";
import { conflict, deepEqual, freeze, notFound } from "@meridian/kube";
import type { KubeObject } from "@meridian/kube";
import type { KubeClient } from "../client/kube-client.ts";
import { configMaps } from "../testdata/fleet.ts";
import { createOrUpdate } from "./create-or-update.ts";
import { ensureFinalizer, removeFinalizer } from "./finalizers.ts";
import { writeStatus } from "./write-status.ts";

type Thing = KubeObject & {
  readonly spec?: Record<string, unknown>;
  readonly status?: Record<string, unknown>;
};

/** A server of one object with a status, that defaults `spec.port` and drops `unknown`, and counts writes. */
class ThingServer {
  stored: Thing | undefined;
  writes = 0;
  /** Called once, before the next write, as somebody who is faster. */
  rival: (() => void) | undefined;
  #version = 1;

  readonly client = {
    get: async () => this.#present(),
    create: async (_: unknown, object: Thing) => this.#write({ ...object, status: {} }),
    update: async (_: unknown, object: Thing) => {
      this.#check(object);
      return this.#write({ ...object, status: this.#present().status ?? {} });
    },
    updateStatus: async (_: unknown, object: Thing) => {
      this.#check(object);
      return this.#write({ ...this.#present(), status: object.status ?? {} });
    },
    patch: async (_: unknown, __: unknown, { body }: { readonly body: { readonly metadata: object } }) => {
      this.#check(body as Thing);
      return this.#write({ ...this.#present(), metadata: { ...this.#present().metadata, ...body.metadata } });
    },
  } as unknown as Pick<KubeClient, "get" | "create" | "update" | "updateStatus" | "patch">;

  put(object: Thing): Thing {
    const { unknown: _unknown, ...status } = object.status ?? {};
    const uid = object.metadata.uid ?? "u1";
    this.stored = freeze({
      ...object,
      status,
      spec: { port: 80, ...object.spec },
      metadata: { ...object.metadata, uid, resourceVersion: String(++this.#version) },
    });
    return this.stored;
  }

  #present(): Thing {
    if (this.stored === undefined) throw notFound(configMaps, "a");
    return this.stored;
  }

  #check({ metadata }: Thing): void {
    const { rival } = this;
    this.rival = undefined;
    rival?.();
    if (this.#present().metadata.resourceVersion !== metadata.resourceVersion)
      throw conflict(configMaps, "a");
  }

  #write(object: Thing): Thing {
    const before = this.stored;
    if (before !== undefined && deepEqual(before, object)) return before;
    this.writes++;
    return this.put(object);
  }
}

const thing = (more: Partial<Thing> = {}, metadata: object = {}): Thing => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name: "a", namespace: "n", ...metadata },
  ...more,
});

/** The requests that a run of `act` makes. */
async function requestsOf(
  server: ThingServer,
  act: (client: ThingServer["client"]) => Promise<unknown>,
): Promise<string> {
  const requests: string[] = [];
  const client = new Proxy(server.client, {
    get: (target, name: "get") => {
      requests.push(name);
      return target[name];
    },
  });
  await act(client);
  return requests.join(" ");
}

test("what the server adds to an object does not have it written again, until something changes", async () => {
  const server = new ThingServer();
  const { client } = server;
  const outcome = async (spec: Record<string, unknown>): Promise<string> =>
    (await createOrUpdate(client, configMaps, { desired: thing({ spec }), current: server.stored })).outcome;
  assert.equal(await outcome({ size: 1 }), "created");
  assert.equal(await outcome({ size: 1 }), "unchanged");
  server.put({ ...server.stored!, status: { ready: true } });
  assert.equal(await outcome({ size: 1 }), "unchanged", "a new status is no new content");
  assert.equal(await outcome({ size: 2 }), "updated");
  assert.equal(await outcome({ size: 2 }), "unchanged");
  server.put({ ...server.stored!, spec: { size: 2, port: 81 } });
  assert.equal(await outcome({ size: 2 }), "updated", "somebody has changed what was defaulted");
  assert.deepEqual(server.stored?.spec, { port: 80, size: 2 });
  assert.equal(await outcome({}), "updated", "a field that is no longer wanted goes");
  assert.deepEqual(server.stored?.spec, { port: 80 });
  server.stored = undefined;
  assert.equal(await outcome({}), "created");
});

test("a process that does not know yet what the server adds writes once, and changes nothing by it", async () => {
  const server = new ThingServer();
  server.put(thing({ spec: { size: 1 } }));
  const { resourceVersion } = server.stored!.metadata;
  const act = (client: ThingServer["client"]): Promise<unknown> =>
    createOrUpdate(client, configMaps, { desired: thing({ spec: { size: 1 } }) });
  assert.equal(await requestsOf(server, act), "get update");
  assert.equal(server.stored?.metadata.resourceVersion, String(Number(resourceVersion) + 1));
});

test("a status is written where it differs, and not again where the server keeps it otherwise", async () => {
  const server = new ThingServer();
  const write = (status: Record<string, unknown>): ReturnType<typeof writeStatus<Thing>> =>
    writeStatus<Thing>(server.client, configMaps, { object: server.stored!, status: () => status });
  server.put(thing());
  assert.equal((await write({ ready: true })).outcome, "updated");
  assert.equal((await write({ ready: true })).outcome, "unchanged");
  assert.equal((await write({ ready: true, unknown: 1 })).outcome, "updated");
  assert.equal((await write({ ready: true, unknown: 1 })).outcome, "unchanged");
  assert.equal((await write({ ready: true, unknown: 2 })).outcome, "updated");
});

test("a status is worked out again where somebody was faster, and left where the object is gone or another one", async () => {
  const server = new ThingServer();
  const object = server.put(thing({ status: { count: 1 } }));
  const status = (now: Thing): Record<string, unknown> => ({ count: Number(now.status?.["count"]) + 1 });
  server.rival = () => server.put({ ...server.stored!, status: { count: 5 } });
  const { object: written } = await writeStatus<Thing>(server.client, configMaps, { object, status });
  assert.deepEqual(written?.status, { count: 6 });
  server.put(thing({}, { uid: "u2" }));
  assert.equal((await writeStatus<Thing>(server.client, configMaps, { object, status })).outcome, "gone");
  server.stored = undefined;
  assert.equal((await writeStatus<Thing>(server.client, configMaps, { object, status })).outcome, "gone");
});

test("finalizers come and go beside those of others, and nothing is written where they are as wanted", async () => {
  const server = new ThingServer();
  const { client } = server;
  const object = server.put(thing({}, { finalizers: ["other"] }));
  const finalizers = (): readonly string[] | undefined => server.stored?.metadata.finalizers;
  server.rival = () => server.put(thing({}, { finalizers: ["other", "third"] }));
  const ensured = await ensureFinalizer(client, configMaps, { object, finalizer: "own" });
  assert.deepEqual(finalizers(), ["other", "third", "own"]);
  const again = { object: ensured!, finalizer: "own" };
  assert.equal(await requestsOf(server, (by) => ensureFinalizer(by, configMaps, again)), "");
  server.rival = () =>
    server.put({ ...server.stored!, metadata: { ...server.stored!.metadata, finalizers: ["own"] } });
  await removeFinalizer(client, configMaps, again);
  assert.deepEqual(finalizers(), []);
  const without = { object: server.stored!, finalizer: "own" };
  assert.equal(await requestsOf(server, (by) => removeFinalizer(by, configMaps, without)), "");
});

test("no finalizer is put on an object that is being deleted, nor on or off another one of its name", async () => {
  const server = new ThingServer();
  const { client } = server;
  const leaving = server.put(thing({}, { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["other"] }));
  assert.equal(await ensureFinalizer(client, configMaps, { object: leaving, finalizer: "own" }), leaving);
  const other = server.put(thing({}, { uid: "u2", finalizers: ["own"] }));
  const old = {
    object: thing({}, { uid: "u1", resourceVersion: "1", finalizers: ["own"] }),
    finalizer: "own",
  };
  assert.equal(await removeFinalizer(client, configMaps, old), undefined);
  const bare = { object: thing({}, { uid: "u1", resourceVersion: "1" }), finalizer: "own" };
  assert.equal(await ensureFinalizer(client, configMaps, bare), undefined);
  assert.equal(server.stored, other);
  server.stored = undefined;
  assert.equal(await removeFinalizer(client, configMaps, old), undefined);
});
