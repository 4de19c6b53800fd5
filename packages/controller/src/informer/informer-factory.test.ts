import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap, ResourceType } from "@meridian/kube";
import { KubeClient } from "../client/kube-client.ts";
import { configMaps } from "../testdata/fleet.ts";
import { json, scriptedWorld } from "../testdata/scripted-http.ts";
import type { ScriptedWorld } from "../testdata/scripted-http.ts";
import { dropManagedFields } from "./managed-fields.ts";
import { InformerFactory } from "./informer-factory.ts";
import type { InformerFactoryOptions } from "./informer-factory.ts";

const secrets: ResourceType = { ...configMaps, plural: "secrets", kind: "Secret" };

function factory(options: Partial<InformerFactoryOptions> = {}): {
  readonly world: ScriptedWorld;
  readonly informers: InformerFactory;
  readonly lists: () => readonly string[];
  readonly pass: (ms: number) => Promise<void>;
} {
  const world = scriptedWorld(({ target }) => {
    if (target.includes("watch=1")) return { open: true };
    if (target.includes("/secrets")) return json({ kind: "Status", code: 403, reason: "Forbidden" }, 403);
    const namespace = /namespaces\/([^/]+)/.exec(target)?.[1] ?? "any";
    const metadata = {
      name: "a",
      namespace,
      uid: "u",
      resourceVersion: "5",
      managedFields: [{ manager: "m" }],
    };
    return json({ metadata: { resourceVersion: "7" }, items: [{ metadata }] });
  });
  const client = new KubeClient(world.runtime, { origin: "https://h" });
  return {
    world,
    informers: new InformerFactory(world.runtime, { client, ...options }),
    lists: () =>
      world.requests.flatMap(({ target }) =>
        target.includes("watch=1") ? [] : [target.split("?")[0] as string],
      ),
    pass: (ms) => world.simulation.run({ untilMs: world.simulation.nowMs + ms }),
  };
}

test("who asks for the same is given the same, and its server is asked once", async () => {
  const { informers, lists, pass, world } = factory({ transform: dropManagedFields });
  const first = informers.informer<ConfigMap>(configMaps);
  assert.equal(informers.informer(configMaps), first);
  assert.notEqual(informers.informer(configMaps, { namespace: "a" }), first);
  assert.equal(
    informers.informer(configMaps, { namespaces: ["a", "b"] }),
    informers.informer(configMaps, { namespaces: ["b", "a", "b"] }),
  );
  assert.notEqual(informers.informer(configMaps, { labelSelector: "x=y" }), first);
  const stopping = new AbortController();
  const running = informers.run(stopping.signal);
  let synced = false;
  void informers.synced().then(() => (synced = true));
  await pass(1000);
  assert.ok(synced);
  assert.equal(lists().length, 5);
  assert.equal(first.lister.get("any/a")?.metadata.managedFields, undefined);
  assert.equal(first.lister.get("any/a")?.kind, "ConfigMap");

  const late = informers.informer(configMaps, { namespace: "late" });
  await pass(1000);
  assert.ok(late.hasSynced, "an informer that is asked for later is started");
  stopping.abort(new Error("stopped"));
  await world.simulation.complete(running);
  assert.ok(informers.informers.every(({ connected }) => !connected));
  assert.equal(world.openBodies(), 0);
});

test("many informers of a factory, and many namespaces of one, are not taken for a leak of listeners", async () => {
  const { informers, pass, world } = factory();
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => void warnings.push(message);
  process.on("warning", onWarning);
  const names = Array.from({ length: 15 }, (_, index) => `n${index}`);
  for (const namespace of names) informers.informer(configMaps, { namespace });
  informers.informer(configMaps, { namespaces: ["one", ...names] });
  const stopping = new AbortController();
  const running = informers.run(stopping.signal);
  await pass(1000);
  assert.ok(informers.informers.every(({ connected }) => connected));
  stopping.abort();
  await world.simulation.complete(running);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", onWarning);
  assert.deepEqual(warnings, []);
});

test("the factory's namespace holds where none is asked for", async () => {
  const { informers, lists, pass } = factory({ namespace: "home" });
  informers.informer(configMaps);
  informers.informer(configMaps, { namespaces: ["a"] });
  void informers.run(new AbortController().signal);
  await pass(1000);
  assert.deepEqual(lists(), ["/api/v1/namespaces/home/configmaps", "/api/v1/namespaces/a/configmaps"]);
});

test("a failure that is to end a run ends all of it, with its error", async () => {
  const heard: string[] = [];
  const { informers, pass, world } = factory({
    onFailure: (_, { kind, next }) => {
      heard.push(`${kind} ${next}`);
      return heard.length === 2 ? "stop" : undefined;
    },
  });
  const configs = informers.informer(configMaps);
  const refused = informers.informer(secrets);
  const running = informers.run(new AbortController().signal);
  const ended = assert.rejects(running, { name: "ApiError", reason: "Forbidden" });
  await pass(10_000);
  await world.simulation.complete(ended);
  assert.deepEqual(heard, ["other list", "other list"]);
  assert.ok(configs.hasSynced && !configs.connected && !refused.hasSynced);
  assert.match(refused.status.lastFailure?.message ?? "", /cannot list secrets.*403 Forbidden/);
});
