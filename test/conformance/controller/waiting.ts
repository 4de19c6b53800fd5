import assert from "node:assert/strict";
import { waitFor } from "@meridian/controller";
import { configMapType, type ConfigMap } from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { configMap } from "./objects.ts";

/** Waiting for an object to come to be as wanted. */
export const waiting: ConformanceGroup = {
  subject: "waiting",
  cases: {
    "what is so already is not waited for": async ({ client, runtime, namespace }) => {
      const ref = { namespace, name: "one" };
      const created = await client.create(configMapType, configMap(ref, { a: "1" }));
      const found = await waitFor<ConfigMap>(runtime, client, {
        ...ref,
        type: configMapType,
        until: (object) => object?.data?.["a"] === "1",
      });
      assert.deepEqual(found, created);
    },

    "an object that comes, changes and goes is waited for": async ({ client, runtime, namespace }) => {
      const ref = { namespace, name: "one" };
      const wait = (until: (object: ConfigMap | undefined) => boolean): Promise<ConfigMap | undefined> =>
        waitFor<ConfigMap>(runtime, client, { ...ref, type: configMapType, until });
      const coming = wait((object) => object !== undefined);
      const created = await client.create(configMapType, configMap(ref, { a: "1" }));
      assert.equal((await coming)?.metadata.uid, created.metadata.uid);
      const changing = wait((object) => object?.data?.["a"] === "3");
      for (const a of ["2", "3"]) {
        await client.patch(configMapType, ref, { type: "merge", body: { data: { a } } });
      }
      assert.equal((await changing)?.data?.["a"], "3");
      const going = wait((object) => object === undefined);
      await client.delete(configMapType, ref);
      assert.equal(await going, undefined);
    },

    "an object is waited for although connections break": async (world) => {
      const { runtime, namespace } = world;
      const ref = { namespace, name: "one" };
      await world.client.create(configMapType, configMap(ref, { a: "1" }));
      const proxy = await world.server.proxy();
      const client = await world.newClient({ url: proxy.url });
      let seen: string | undefined;
      const waited = waitFor<ConfigMap>(runtime, client, {
        ...ref,
        type: configMapType,
        until: (object) => (seen = object?.data?.["a"]) === "9",
      });
      waited.catch(() => {}); // awaited below
      for (const [before, a] of [
        ["1", "2"],
        ["2", "5"],
        ["5", "9"],
      ] as const) {
        await world.eventually(`${before} is seen`, () => assert.equal(seen, before));
        proxy.cut();
        await world.client.patch(configMapType, ref, { type: "merge", body: { data: { a } } });
      }
      assert.equal((await waited)?.data?.["a"], "9");
    },

    "waiting ends with its deadline, its signal, and what the condition throws": async (world) => {
      const { client, runtime, namespace } = world;
      const options = { type: configMapType, namespace, name: "none" };
      const never = (): boolean => false;
      await assert.rejects(waitFor(runtime, client, { ...options, until: never, deadlineMs: 300 }), {
        code: "DeadlineExceeded",
      });
      const stopping = new AbortController();
      const reason = new Error("no longer wanted");
      const waited = waitFor(runtime, client, { ...options, until: never, signal: stopping.signal });
      stopping.abort(reason);
      await assert.rejects(waited, (error) => error === reason);
      const thrown = new Error("cannot judge");
      const until = (): boolean => {
        throw thrown;
      };
      await assert.rejects(waitFor(runtime, client, { ...options, until }), (error) => error === thrown);
    },

    "who may not read the object is told so, not left waiting": async (world) => {
      const client = await world.newClient({ user: "restricted" });
      const options = { type: configMapType, namespace: world.namespace, name: "one", until: () => false };
      await assert.rejects(waitFor(world.runtime, client, options), { code: 403, reason: "Forbidden" });
    },
  },
};
