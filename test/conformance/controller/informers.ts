import assert from "node:assert/strict";
import { configMapType, type ConfigMap } from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { configMap } from "./objects.ts";
import { followThroughProxy } from "./proxied-copy.ts";
import { writeSome } from "./write-some.ts";

/** Informers, held against the server while network and server fail. */
export const informers: ConformanceGroup = {
  subject: "informers",
  cases: {
    "a copy is whole before it has synced, and follows": async (world) => {
      const { client, namespace } = world;
      for (const name of ["a", "b", "c"]) await client.create(configMapType, configMap({ namespace, name }));
      const copy = world.follow();
      await copy.informer.synced;
      // A server may answer a first list with a state that is a moment old.
      await copy.checkAtItsVersion();
      await writeSome(client, namespace, 0);
      await copy.catchUp();
    },

    "a copy of many objects is whole, read in pages or as a stream": async (world) => {
      const { client, namespace } = world;
      const count = 600;
      const value = "x".repeat(1_000);
      for (let index = 0; index < count; index += 20) {
        const names = Array.from({ length: 20 }, (_, offset) => `item-${index + offset}`);
        await Promise.all(
          names.map((name) => client.create(configMapType, configMap({ namespace, name }, { value }))),
        );
      }
      const copies = [world.follow({ pageSize: 50 }), world.follow({ watchList: true }), world.follow()];
      for (const copy of copies) {
        await copy.informer.synced;
        await copy.checkAtItsVersion();
        await copy.catchUp();
        assert.equal(copy.informer.lister.list().length, count);
      }
    },

    "a copy that falls behind is at each moment what the server held at its version": async (world) => {
      const { client, namespace } = world;
      const copy = world.follow();
      await copy.informer.synced;
      for (let round = 0; round < 5; round++) {
        const writing = writeSome(client, namespace, round);
        for (let look = 0; look < 4; look++) await copy.checkAtItsVersion();
        await writing;
      }
      await copy.catchUp();
    },

    "a copy of nothing has synced": async (world) => {
      const copy = world.follow();
      await copy.informer.synced;
      assert.deepEqual(copy.informer.lister.list(), []);
      assert.match(copy.informer.version, /^[1-9]\d*$/);
    },

    "a copy that takes its first state as a stream is the same": async (world) => {
      const { client, namespace } = world;
      for (const name of ["a", "b", "c"]) await client.create(configMapType, configMap({ namespace, name }));
      const copy = world.follow({ watchList: true });
      await copy.informer.synced;
      await copy.checkAtItsVersion();
      await writeSome(client, namespace, 0);
      await copy.catchUp();
    },

    "connections that are cut and reset leave no gap, and nothing is listed again": async (world) => {
      const { proxy, copy } = await followThroughProxy(world);
      for (let round = 0; round < 8; round++) {
        const writing = writeSome(world.client, world.namespace, round);
        if (round % 2 === 0) proxy.cut();
        else proxy.reset();
        await writing;
        if (round % 4 === 3) await copy.catchUp();
      }
      await copy.catchUp();
      assert.ok(proxy.accepted > 1);
    },

    "a server that cannot be reached for a while is found again, with all that happened": async (world) => {
      const { proxy, copy } = await followThroughProxy(world);
      proxy.refuse();
      await writeSome(world.client, world.namespace, 0);
      await world.eventually("the copy knows that it is alone", () => assert.ok(!copy.informer.connected));
      proxy.restore();
      await copy.catchUp();
    },

    "a cut-off copy whose version is forgotten reads everything again, and tells of the difference": async (
      world,
    ) => {
      const { client, namespace, server } = world;
      await client.create(configMapType, configMap({ namespace, name: "stays" }));
      await client.create(configMapType, configMap({ namespace, name: "goes" }));
      await client.create(configMapType, configMap({ namespace, name: "changes" }));
      const { proxy, copy } = await followThroughProxy(world);
      const told: string[] = [];
      copy.informer.addHandler({
        onAdd: ({ metadata }) => void told.push(`add ${metadata.name}`),
        onUpdate: (_, { metadata }) => void told.push(`update ${metadata.name}`),
        onDelete: ({ metadata }) => void told.push(`delete ${metadata.name}`),
      });
      await world.eventually("the present state is told", () => assert.equal(told.length, 3));
      told.length = 0;
      proxy.refuse();
      await client.delete(configMapType, { namespace, name: "goes" });
      await client.patch(
        configMapType,
        { namespace, name: "changes" },
        { type: "merge", body: { data: { a: "1" } } },
      );
      await client.create(configMapType, configMap({ namespace, name: "comes" }));
      await server.forgetHistory();
      proxy.restore();
      await copy.catchUp();
      await world.eventually("the difference is told", () => assert.equal(told.length, 3));
      assert.deepEqual(told.toSorted(), ["add comes", "delete goes", "update changes"]);
    },

    "an object that was replaced while nobody watched is a deletion and another object": async (world) => {
      const { client, namespace } = world;
      const ref = { namespace, name: "one" };
      const first = await client.create(configMapType, configMap(ref));
      const { proxy, copy } = await followThroughProxy(world);
      const told: string[] = [];
      copy.informer.addHandler({
        onAdd: ({ metadata }) => void told.push(`add ${metadata.uid}`),
        onDelete: ({ metadata }) => void told.push(`delete ${metadata.uid}`),
      });
      proxy.refuse();
      await client.delete(configMapType, ref);
      const second = await client.create(configMapType, configMap(ref));
      proxy.restore();
      await copy.catchUp();
      const uids = [first.metadata.uid, second.metadata.uid];
      await world.eventually("all is told", () =>
        assert.deepEqual(told, [`add ${uids[0]}`, `delete ${uids[0]}`, `add ${uids[1]}`]),
      );
    },

    "a server that restarts in order is followed on": async (world) => {
      const copy = world.follow();
      await copy.informer.synced;
      await writeSome(world.client, world.namespace, 0);
      await world.server.restart("in order");
      await writeSome(world.client, world.namespace, 1);
      await copy.catchUp();
    },

    "a server that is killed in the middle of writes is followed on": async (world) => {
      const copy = world.follow();
      await copy.informer.synced;
      const writer = await world.newClient({ deadlineMs: 5_000 });
      await writeSome(writer, world.namespace, 0);
      // What was under way happened or not; the copy shows what the restarted server says.
      const cutShort = writeSome(writer, world.namespace, 1).catch(() => {});
      await world.server.restart("killed");
      await cutShort;
      await copy.catchUp();
      await writeSome(world.client, world.namespace, 2);
      await copy.catchUp();
    },

    "whatever happens to network, history and server, every copy ends as the truth": async (world) => {
      const { server, client, namespace } = world;
      const proxy = await server.proxy();
      const through = await world.newClient({ url: proxy.url, deadlineMs: 10_000 });
      const copies = [
        world.follow({ client: through, pageSize: 2 }),
        world.follow({ client: through, watchList: true }),
        world.follow({ client: through, fieldSelector: "metadata.name!=item-0" }),
      ];
      // What is written through the proxy happened or not; nobody knows.
      const write = (round: number): Promise<void> => writeSome(through, namespace, round).catch(() => {});
      const acts: readonly (() => Promise<void> | void)[] = [
        () => proxy.cut(),
        () => proxy.reset(),
        () => server.forgetHistory(),
        async () => {
          proxy.refuse();
          await world.runtime.clock.sleep(300);
          proxy.restore();
        },
        () => server.restart("killed"),
      ];
      for (let round = 0; round < 15; round++) {
        const writing = write(round);
        await world.runtime.clock.sleep(world.runtime.random.float() * 60);
        await acts[round % acts.length]!();
        await writing;
        await writeSome(client, namespace, round).catch(() => {});
      }
      await writeSome(client, namespace, 99);
      for (const copy of copies) await copy.catchUp();
    },

    "a watch whose time is over is opened again without another list": async (world) => {
      const { client, namespace } = world;
      const requests = { list: 0, watch: 0 };
      const copy = world.follow({
        client: {
          listRaw: (type, options, onItem) => {
            requests.list++;
            return client.listRaw(type, options, onItem);
          },
          watchRaw: (type, options) => {
            requests.watch++;
            return client.watchRaw(type, { ...options, timeoutSeconds: 2 });
          },
        },
      });
      await copy.informer.synced;
      await world.eventually("three watches", () => assert.ok(requests.watch >= 3));
      await writeSome(client, namespace, 0);
      await copy.catchUp();
      assert.equal(requests.list, 1);
    },

    "informers of several namespaces hold each its own": async (world) => {
      const { client, namespace } = world;
      const namespaces = [namespace, `${namespace}-b`, `${namespace}-c`];
      for (const name of namespaces.slice(1)) await world.makeNamespace(name);
      const copies = namespaces.map((name) => world.follow({ namespace: name }));
      await Promise.all(copies.map((copy) => copy.informer.synced));
      for (const [round, name] of namespaces.entries()) await writeSome(client, name, round);
      for (const copy of copies) await copy.catchUp();
      for (const [index, copy] of copies.entries()) {
        const homes = new Set(copy.informer.lister.list().map(({ metadata }) => metadata.namespace));
        assert.deepEqual([...homes], [namespaces[index]]);
      }
    },

    "an informer of all namespaces holds all": async (world) => {
      const { client, namespace } = world;
      const other = `${namespace}-b`;
      await world.makeNamespace(other);
      const labelSelector = `case=${namespace}`;
      const informer = world.inform<ConfigMap>({ type: configMapType, labelSelector });
      await informer.synced;
      for (const home of [namespace, other]) {
        const labels = { case: namespace };
        await client.create(configMapType, configMap({ namespace: home, name: "one", labels }));
      }
      await world.eventually("both are there", () => {
        const homes = informer.lister.list().map(({ metadata }) => metadata.namespace);
        assert.deepEqual(homes.sort(), [namespace, other]);
      });
    },
  },
};
