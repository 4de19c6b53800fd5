import assert from "node:assert/strict";
import { test } from "node:test";
import { alreadyExists, conflict, freeze, notFound } from "@meridian/kube";
import type { ConfigMap, KubeObject } from "@meridian/kube";
import { Simulation } from "@meridian/runtime/sim";
import type { KubeClient } from "../client/kube-client.ts";
import { configMaps } from "../testdata/fleet.ts";
import { createOrUpdate, withDesired } from "./create-or-update.ts";
import { retryOnConflict } from "./retry-on-conflict.ts";

/** A server of one object that counts what is sent to it. */
class OneObject {
  stored: ConfigMap | undefined;
  readonly sent: string[] = [];
  /** Called before each write, as somebody who is faster. */
  rival: () => void = () => {};
  #version = 1;

  readonly client = {
    get: async () => {
      this.sent.push("get");
      if (this.stored === undefined) throw notFound(configMaps, "a");
      return this.stored;
    },
    create: async (_: unknown, object: ConfigMap) => {
      this.sent.push("create");
      this.rival();
      if (this.stored !== undefined) throw alreadyExists(configMaps, "a");
      return this.store(object);
    },
    update: async (_: unknown, object: ConfigMap) => {
      this.sent.push("update");
      this.rival();
      if (this.stored === undefined) throw notFound(configMaps, "a");
      if (object.metadata.resourceVersion !== this.stored.metadata.resourceVersion)
        throw conflict(configMaps, "a");
      return this.store(object);
    },
  } as unknown as Pick<KubeClient, "get" | "create" | "update">;

  store(object: ConfigMap): ConfigMap {
    this.stored = freeze({
      ...object,
      metadata: { ...object.metadata, uid: "u", resourceVersion: String(++this.#version) },
    });
    return this.stored;
  }
}

const desired = (data: Record<string, string>): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", namespace: "n", labels: { app: "x" } },
  data,
});

test("what is not there is created, what differs is updated, and what is as it should be is left alone", async () => {
  const server = new OneObject();
  const outcomes: string[] = [];
  for (const data of [{ v: "1" }, { v: "1" }, { v: "2" }]) {
    outcomes.push((await createOrUpdate(server.client, configMaps, { desired: desired(data) })).outcome);
  }
  assert.deepEqual(outcomes, ["created", "unchanged", "updated"]);
  assert.deepEqual(server.sent, ["get", "create", "get", "get", "update"]);
});

test("with the object from a lister nothing at all is sent where nothing is to change", async () => {
  const server = new OneObject();
  const current = server.store(desired({ v: "1" }));
  await createOrUpdate(server.client, configMaps, { desired: desired({ v: "1" }), current });
  assert.deepEqual(server.sent, []);
  server.store(desired({ v: "2" }));
  const { object } = await createOrUpdate(server.client, configMaps, {
    desired: desired({ v: "3" }),
    current,
  });
  assert.deepEqual(server.sent, ["update", "get", "update"], "a stale copy costs one round more");
  assert.deepEqual(object.data, { v: "3" });
});

test("what a lister does not know is created without a look, and looked at where it is there after all", async () => {
  const server = new OneObject();
  for (const outcome of ["created", "unchanged"]) {
    const result = await createOrUpdate(server.client, configMaps, {
      desired: desired({ v: "1" }),
      current: undefined,
    });
    assert.equal(result.outcome, outcome);
  }
  assert.deepEqual(server.sent, ["create", "create", "get"]);
});

test("a rival who creates, changes or deletes meanwhile makes it start again from what is there", async () => {
  const server = new OneObject();
  const act = (rival: () => void): void => {
    server.rival = () => {
      server.rival = () => {};
      rival();
    };
  };
  act(() => server.store(desired({ rival: "1" })));
  const mutate = (current: ConfigMap): ConfigMap => ({ ...current, data: { ...current.data, v: "1" } });
  const options = { desired: desired({ v: "1" }), mutate };
  assert.deepEqual((await createOrUpdate(server.client, configMaps, options)).object.data, {
    rival: "1",
    v: "1",
  });
  server.store(desired({ rival: "2" }));
  act(() => server.store(desired({ rival: "3" })));
  assert.deepEqual((await createOrUpdate(server.client, configMaps, options)).object.data, {
    rival: "3",
    v: "1",
  });
  server.store(desired({}));
  act(() => (server.stored = undefined));
  assert.equal((await createOrUpdate(server.client, configMaps, options)).outcome, "created");
});

test("a rival who always wins gets the last word, and the caller the conflict", async () => {
  const server = new OneObject();
  server.store(desired({}));
  let round = 0;
  server.rival = () => server.store(desired({ rival: String(round++) }));
  await assert.rejects(createOrUpdate(server.client, configMaps, { desired: desired({ v: "1" }) }), {
    code: 409,
  });
  assert.equal(round, 5);
});

test("a namespace that is not there is the caller's to know, at once", async () => {
  const server = new OneObject();
  server.rival = () => {
    throw notFound({ group: "", plural: "namespaces" }, "n");
  };
  await assert.rejects(createOrUpdate(server.client, configMaps, { desired: desired({}) }), { code: 404 });
  assert.deepEqual(server.sent, ["get", "create"]);
});

test("what others wrote stays: labels, annotations, owners in their order, status, finalizers", () => {
  const owner = (uid: string): object => ({ apiVersion: "v1", kind: "K", name: uid, uid });
  const object = (metadata: object, more: object = {}): KubeObject => ({
    apiVersion: "v1",
    kind: "K",
    metadata,
    ...more,
  });
  const current = object(
    {
      name: "a",
      resourceVersion: "5",
      labels: { a: "1", b: "1" },
      ownerReferences: [owner("x"), owner("y")],
      finalizers: ["f"],
    },
    { spec: { old: true }, status: { ready: true } },
  );
  const wanted = object(
    {
      name: "a",
      labels: { b: "2" },
      annotations: { n: "1" },
      ownerReferences: [owner("x"), owner("z")],
      finalizers: ["g", "f"],
    },
    { spec: { new: true }, status: { ready: false } },
  );
  assert.deepEqual(
    withDesired(current, wanted),
    object(
      {
        name: "a",
        resourceVersion: "5",
        labels: { a: "1", b: "2" },
        annotations: { n: "1" },
        ownerReferences: [owner("x"), owner("y"), owner("z")],
        finalizers: ["f", "g"],
      },
      { spec: { new: true }, status: { ready: true } },
    ),
  );
  assert.deepEqual(withDesired(withDesired(current, wanted), wanted), withDesired(current, wanted));
});

test("conflicts are tried again five times, and nothing else is", async () => {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
  let attempts = 0;
  const attempt = (error: Error, succeedAt: number) => async (): Promise<number> => {
    if (++attempts < succeedAt) throw error;
    return attempts;
  };
  assert.equal(await simulation.complete(retryOnConflict(runtime, attempt(conflict(configMaps, "a"), 3))), 3);
  for (const [error, expected] of [
    [conflict(configMaps, "a"), 5],
    [alreadyExists(configMaps, "a"), 1],
    [new Error("x"), 1],
  ] as const) {
    attempts = 0;
    await assert.rejects(simulation.complete(retryOnConflict(runtime, attempt(error, 99))), error);
    assert.equal(attempts, expected);
  }
});
