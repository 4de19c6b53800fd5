import assert from "node:assert/strict";
import type { WatchEvent, WatchOptions, WatchStream } from "@meridian/controller";
import { configMapType, isExpired, StatusError, type ConfigMap } from "@meridian/kube";
import type { CaseWorld } from "./case-world.ts";
import type { ConformanceGroup } from "./conformance-group.ts";
import { configMap } from "./objects.ts";

const textOf = ({ type, object }: WatchEvent<ConfigMap>): string =>
  type === "BOOKMARK" || type === "ERROR" ? type : `${type} ${object.metadata.name}`;

/** Opens a watch of this case's ConfigMaps. */
function watch(world: CaseWorld, options: WatchOptions): Promise<WatchStream<ConfigMap>> {
  const { client, namespace, signal } = world;
  return client.watch<ConfigMap>(configMapType, { namespace, signal, ...options });
}

/** Reads to the event that `isLast` accepts. */
async function readTo(
  stream: WatchStream<ConfigMap>,
  isLast: (event: WatchEvent<ConfigMap>) => boolean,
): Promise<WatchEvent<ConfigMap>[]> {
  const events: WatchEvent<ConfigMap>[] = [];
  for await (const event of stream) {
    events.push(event);
    if (isLast(event)) return events;
  }
  return assert.fail(`the watch ended after ${events.map(textOf).join(", ")}`);
}

const isNamed = (name: string) => (event: WatchEvent<ConfigMap>) =>
  event.type === "ADDED" && event.object.metadata.name === name;

async function currentVersion({ client, namespace }: CaseWorld): Promise<string> {
  const { metadata } = await client.list(configMapType, { namespace });
  return metadata.resourceVersion!;
}

/** Watches, below the informer. */
export const watches: ConformanceGroup = {
  subject: "watches",
  cases: {
    "a watch tells everything after its version, in order": async (world) => {
      const { client, namespace } = world;
      const before = await client.create(configMapType, configMap({ namespace, name: "before" }));
      const one = await client.create(configMapType, configMap({ namespace, name: "one" }));
      await client.update(configMapType, { ...one, data: { a: "1" } });
      await client.delete(configMapType, { namespace, name: "one" });
      await client.create(configMapType, configMap({ namespace, name: "last" }));
      const stream = await watch(world, { resourceVersion: before.metadata.resourceVersion! });
      const events = await readTo(stream, isNamed("last"));
      const changes = events.filter(({ type }) => type !== "BOOKMARK");
      assert.deepEqual(changes.map(textOf), ["ADDED one", "MODIFIED one", "DELETED one", "ADDED last"]);
      const versions = changes.map((event) => Number((event.object as ConfigMap).metadata.resourceVersion));
      assert.deepEqual(
        versions,
        [...new Set(versions)].toSorted((a, b) => a - b),
        "each version is newer",
      );
    },

    "an open watch tells what happens": async (world) => {
      const { client, namespace } = world;
      const stream = await watch(world, { resourceVersion: await currentVersion(world) });
      const reading = readTo(stream, isNamed("last"));
      for (const name of ["a", "b", "last"])
        await client.create(configMapType, configMap({ namespace, name }));
      const events = await reading;
      assert.deepEqual(events.filter(({ type }) => type !== "BOOKMARK").map(textOf), [
        "ADDED a",
        "ADDED b",
        "ADDED last",
      ]);
    },

    "a watch of one name tells of nothing else": async (world) => {
      const { client, namespace } = world;
      const resourceVersion = await currentVersion(world);
      for (const name of ["a", "b", "c"]) await client.create(configMapType, configMap({ namespace, name }));
      const stream = await watch(world, { resourceVersion, fieldSelector: "metadata.name=b" });
      const events = await readTo(stream, isNamed("b"));
      assert.deepEqual(events.filter(({ type }) => type !== "BOOKMARK").map(textOf), ["ADDED b"]);
    },

    "a watch whose time is over ends with a bookmark, from which the next one misses nothing": async (
      world,
    ) => {
      const { client, namespace } = world;
      const elsewhere = `${namespace}-b`;
      await world.makeNamespace(elsewhere);
      const resourceVersion = await currentVersion(world);
      const stream = await watch(world, { resourceVersion, timeoutSeconds: 6 });
      const one = await client.create(configMapType, configMap({ namespace, name: "one" }));
      // Progress that no event of the watch tells of.
      const unseen = await client.create(configMapType, configMap({ namespace: elsewhere, name: "unseen" }));
      const events: WatchEvent<ConfigMap>[] = [];
      for await (const event of stream) events.push(event);
      assert.equal(textOf(events[0]!), "ADDED one");
      const bookmark = events.findLast(({ type }) => type === "BOOKMARK");
      assert.ok(bookmark !== undefined, events.map(textOf).join(", "));
      const { metadata } = bookmark.object as ConfigMap;
      assert.ok(Number(metadata.resourceVersion) >= Number(unseen.metadata.resourceVersion));

      await client.update(configMapType, { ...one, data: { a: "1" } });
      await client.create(configMapType, configMap({ namespace, name: "last" }));
      const next = await watch(world, { resourceVersion: metadata.resourceVersion! });
      const changes = (await readTo(next, isNamed("last"))).filter(({ type }) => type !== "BOOKMARK");
      assert.deepEqual(changes.map(textOf), ["MODIFIED one", "ADDED last"]);
    },

    "a watch from a forgotten version is told that it has expired": async (world) => {
      const { client, namespace, server } = world;
      const resourceVersion = await currentVersion(world);
      await client.create(configMapType, configMap({ namespace, name: "one" }));
      await client.create(configMapType, configMap({ namespace, name: "two" }));
      await server.forgetHistory();
      // As an HTTP status, or as an event in the stream of a 200.
      const outcome = await watch(world, { resourceVersion }).then(
        (stream) => readTo(stream, () => true),
        (error: unknown) => error,
      );
      if (!Array.isArray(outcome)) return assert.ok(isExpired(outcome), String(outcome));
      const [event] = outcome as WatchEvent<ConfigMap>[];
      assert.ok(event?.type === "ERROR", JSON.stringify(event));
      assert.ok(isExpired(new StatusError(event.object)), JSON.stringify(event.object));
    },

    "a streaming list tells the whole state, says where it ends, and goes on": async (world) => {
      const { client, namespace } = world;
      for (const name of ["a", "b", "c"]) await client.create(configMapType, configMap({ namespace, name }));
      const stream = await watch(world, {
        sendInitialEvents: true,
        resourceVersionMatch: "NotOlderThan",
        allowWatchBookmarks: true,
      });
      const events: WatchEvent<ConfigMap>[] = [];
      for await (const event of stream) {
        events.push(event);
        if (event.type === "BOOKMARK")
          await client.create(configMapType, configMap({ namespace, name: "last" }));
        if (isNamed("last")(event)) break;
      }
      const ofState = events.findIndex(({ type }) => type === "BOOKMARK");
      assert.deepEqual(events.slice(0, ofState).map(textOf).sort(), ["ADDED a", "ADDED b", "ADDED c"]);
      const { annotations } = (events[ofState]!.object as ConfigMap).metadata;
      assert.equal(annotations?.["k8s.io/initial-events-end"], "true");
      assert.equal(textOf(events.at(-1)!), "ADDED last");
    },

    "a watch that its reader closes ends without an error": async (world) => {
      const stream = await watch(world, { resourceVersion: await currentVersion(world) });
      const reading = (async () => {
        for await (const { type } of stream) assert.equal(type, "BOOKMARK");
      })();
      stream.close();
      await reading;
    },

    "more watches than one connection may take are all open, and requests pass them": async (world) => {
      const { client, namespace } = world;
      const resourceVersion = await currentVersion(world);
      const streams = await Promise.all(Array.from({ length: 60 }, () => watch(world, { resourceVersion })));
      await client.create(configMapType, configMap({ namespace, name: "last" }));
      for (const stream of streams) await readTo(stream, isNamed("last"));
    },

    "many watches share a connection and do not disturb each other": async (world) => {
      const { client, namespace } = world;
      const proxy = await world.server.proxy();
      const shared = await world.newClient({ url: proxy.url });
      const resourceVersion = await currentVersion(world);
      const streams = await Promise.all(
        Array.from({ length: 40 }, () =>
          shared.watch<ConfigMap>(configMapType, { namespace, resourceVersion, signal: world.signal }),
        ),
      );
      assert.equal(proxy.accepted, 1);
      const reading = streams.slice(1).map((stream) => readTo(stream, isNamed("last")));
      streams[0]!.close();
      for (const name of ["a", "b", "last"])
        await client.create(configMapType, configMap({ namespace, name }, { value: "x".repeat(50_000) }));
      for (const events of await Promise.all(reading)) {
        const changes = events.filter(({ type }) => type !== "BOOKMARK").map(textOf);
        assert.deepEqual(changes, ["ADDED a", "ADDED b", "ADDED last"]);
      }
      assert.equal(proxy.accepted, 1);
    },
  },
};
