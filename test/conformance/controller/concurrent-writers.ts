import assert from "node:assert/strict";
import {
  createOrUpdate,
  ensureFinalizer,
  removeFinalizer,
  retryOnConflict,
  writeStatus,
} from "@meridian/controller";
import { configMapType, serviceType, type ConfigMap, type Service } from "@meridian/kube";
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

    "createOrUpdate leaves an object alone to which the server has added defaults": async (world) => {
      const { client, namespace } = world;
      const desired: Service = {
        apiVersion: "v1",
        kind: "Service",
        metadata: { namespace, name: "web" },
        spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
      };
      const outcomeOf = async (wanted: Service): Promise<readonly [string, string | undefined]> => {
        const { outcome, object } = await createOrUpdate(client, serviceType, { desired: wanted });
        return [outcome, object.metadata.resourceVersion];
      };
      const [created, version] = await outcomeOf(desired);
      assert.equal(created, "created");
      assert.deepEqual(await outcomeOf(desired), ["unchanged", version]);
      const other = { ...desired, spec: { ...desired.spec, ports: [{ port: 81 }] } };
      const [updated, newer] = await outcomeOf(other);
      assert.equal(updated, "updated");
      assert.deepEqual(await outcomeOf(other), ["unchanged", newer]);
      // Another process knows nothing of that: it writes once, and the server finds that nothing has changed.
      const { object } = await createOrUpdate(await world.newClient(), serviceType, { desired: other });
      assert.equal(object.metadata.resourceVersion, newer);
    },

    "a status is written where it differs, from the newest state": async ({ client, namespace }) => {
      const object = await client.create<Service>(serviceType, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { namespace, name: "web" },
        spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
      });
      const labels = { metadata: { labels: { app: "web" } } };
      await client.patch(serviceType, { namespace, name: "web" }, { type: "merge", body: labels });
      const status = (): Service["status"] => ({ loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } });
      const written = await writeStatus<Service>(client, serviceType, { object, status });
      assert.equal(written.outcome, "updated");
      assert.equal(written.object?.status?.loadBalancer?.ingress?.[0]?.ip, "192.0.2.1");
      assert.deepEqual(written.object?.metadata.labels, { app: "web" });
      const again = await writeStatus<Service>(client, serviceType, { object: written.object, status });
      assert.equal(again.outcome, "unchanged");
      await client.delete(serviceType, { namespace, name: "web" });
      const { outcome } = await writeStatus<Service>(client, serviceType, { object, status });
      assert.equal(outcome, "gone");
    },

    "a finalizer is put on and taken off beside those of others": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      const finalizer = "example.com/own";
      const seen = await client.create(configMapType, configMap(ref));
      const others = { metadata: { finalizers: ["example.com/other"] } };
      await client.patch(configMapType, ref, { type: "merge", body: others });
      const ensured = await ensureFinalizer(client, configMapType, { object: seen, finalizer });
      assert.deepEqual(ensured?.metadata.finalizers, ["example.com/other", finalizer]);
      await client.delete(configMapType, ref);
      const late = await client.get<ConfigMap>(configMapType, ref);
      const own = await removeFinalizer(client, configMapType, { object: ensured, finalizer });
      assert.deepEqual(own?.metadata.finalizers, ["example.com/other"]);
      const refused = await ensureFinalizer(client, configMapType, { object: own, finalizer });
      assert.equal(refused, own, "none is put on an object that is being deleted");
      const last = { object: late, finalizer: "example.com/other" };
      await removeFinalizer(client, configMapType, last);
      assert.equal(await removeFinalizer(client, configMapType, last), undefined, "it is gone");
    },
  },
};
