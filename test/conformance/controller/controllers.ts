import assert from "node:assert/strict";
import { Controller, createOrUpdate, enqueueKeys } from "@meridian/controller";
import { configMapType, objectKey, secretType, type ConfigMap, type Secret } from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { configMap } from "./objects.ts";

/** Whole controllers: informers, a queue and a reconcile function that writes. */
export const controllers: ConformanceGroup = {
  subject: "controllers",
  cases: {
    "a controller makes what should be, and makes it again when somebody spoils it": async (world) => {
      const { client, namespace, runtime } = world;
      const sources = world.inform<ConfigMap>({ type: configMapType, namespace });
      const made = world.inform<Secret>({ type: secretType, namespace });
      const controller = new Controller(runtime, {
        name: "copy",
        concurrency: 2,
        async reconcile(key, signal) {
          const source = sources.lister.get(key);
          if (source === undefined) return;
          const { name = "", uid = "" } = source.metadata;
          const owner = { apiVersion: "v1", kind: "ConfigMap", name, uid, controller: true };
          const desired: Secret = {
            apiVersion: "v1",
            kind: "Secret",
            metadata: { name, namespace, ownerReferences: [owner] },
            data: { value: btoa(source.data?.["value"] ?? "") },
          };
          await createOrUpdate(client, secretType, { desired, current: made.lister.get(key), signal });
        },
      });
      sources.addHandler(enqueueKeys(controller, ({ metadata }) => [objectKey(metadata)]));
      made.addHandler(enqueueKeys(controller, ({ metadata }) => [objectKey(metadata)]));
      await Promise.all([sources.synced, made.synced]);
      world.run((signal) => controller.run(signal));

      const isMade = (name: string, value: string): Promise<void> =>
        world.eventually(`${name} is made of ${value}`, async () => {
          const secret = await client.get<Secret>(secretType, { namespace, name });
          assert.equal(secret.data?.["value"], btoa(value));
        });
      for (const name of ["a", "b", "c"])
        await client.create(configMapType, configMap({ namespace, name }, { value: "1" }));
      for (const name of ["a", "b", "c"]) await isMade(name, "1");
      await client.delete(secretType, { namespace, name: "a" });
      await client.patch(
        secretType,
        { namespace, name: "b" },
        { type: "merge", body: { data: { value: btoa("spoilt") } } },
      );
      await client.patch(
        configMapType,
        { namespace, name: "c" },
        { type: "merge", body: { data: { value: "2" } } },
      );
      await isMade("a", "1");
      await isMade("b", "1");
      await isMade("c", "2");
      await world.server.restart("killed");
      await client.patch(
        configMapType,
        { namespace, name: "a" },
        { type: "merge", body: { data: { value: "3" } } },
      );
      await isMade("a", "3");
    },
  },
};
