import assert from "node:assert/strict";
import { createOrUpdate, retryOnConflict } from "@meridian/controller";
import { configMapType, type ConfigMap } from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { configMap } from "./objects.ts";
import { refusal } from "./refusal.ts";

/** Several writers of one object. */
export const concurrentWriters: ConformanceGroup = {
  subject: "concurrent writers",
  cases: {
    "an update that saw an older state is refused": async ({ client, namespace }) => {
      const seen = await client.create(configMapType, configMap({ namespace, name: "one" }, { a: "1" }));
      await client.update(configMapType, { ...seen, data: { a: "2" } });
      await refusal(client.update(configMapType, { ...seen, data: { a: "3" } }), {
        ...{ code: 409, reason: "Conflict" },
        says: /the object has been modified/,
      });
      const now = await client.get<ConfigMap>(configMapType, { namespace, name: "one" });
      assert.deepEqual(now.data, { a: "2" });
    },

    "an update of a deleted object does not bring it back": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      const first = await client.create(configMapType, configMap(ref));
      await client.delete(configMapType, ref);
      await refusal(client.update(configMapType, first), { code: 404, reason: "NotFound" });
      await client.create(configMapType, configMap(ref));
      // Another object of the name: its uid tells.
      await refusal(client.update(configMapType, first), { code: 409, reason: "Conflict" });
    },

    "writers that read again on a conflict lose nothing": async ({ client, namespace, runtime }) => {
      const ref = { namespace, name: "counter" };
      await client.create(configMapType, configMap(ref, { count: "0" }));
      const countUp = (): Promise<ConfigMap> =>
        retryOnConflict(
          runtime,
          async () => {
            const current = await client.get<ConfigMap>(configMapType, ref);
            const count = String(Number(current.data?.["count"]) + 1);
            return client.update<ConfigMap>(configMapType, { ...current, data: { count } });
          },
          { attemptsMax: 100 },
        );
      await Promise.all(
        Array.from({ length: 5 }, async () => {
          for (let round = 0; round < 4; round++) await countUp();
        }),
      );
      assert.equal((await client.get<ConfigMap>(configMapType, ref)).data?.["count"], "20");
    },

    "createOrUpdate creates, then writes only where something differs": async ({ client, namespace }) => {
      const desired = configMap({ namespace, name: "one", labels: { app: "web" } }, { a: "1" });
      const created = await createOrUpdate(client, configMapType, { desired });
      assert.equal(created.outcome, "created");
      const again = await createOrUpdate(client, configMapType, { desired });
      assert.equal(again.outcome, "unchanged");
      assert.equal(again.object.metadata.resourceVersion, created.object.metadata.resourceVersion);
      const changed = await createOrUpdate(client, configMapType, {
        desired: { ...desired, data: { a: "2" } },
      });
      assert.equal(changed.outcome, "updated");
      assert.deepEqual(changed.object.data, { a: "2" });
    },

    "of many createOrUpdate at once one creates, and none fails": async ({ client, namespace }) => {
      const desired = configMap({ namespace, name: "one" }, { a: "1" });
      const results = await Promise.all(
        Array.from({ length: 8 }, () => createOrUpdate(client, configMapType, { desired })),
      );
      assert.equal(results.filter(({ outcome }) => outcome === "created").length, 1);
      assert.equal(new Set(results.map(({ object }) => object.metadata.uid)).size, 1);
    },
  },
};
