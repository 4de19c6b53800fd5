import assert from "node:assert/strict";
import {
  Controller,
  EventRecorder,
  Informer,
  LeaderElector,
  createOrUpdate,
  enqueueKeys,
  runControllers,
  setControllerReference,
  watchObjects,
  watchOwned,
  withDesired,
} from "@meridian/controller";
import {
  configMapType,
  eventType,
  leaseType,
  objectKey,
  secretType,
  type ConfigMap,
  type Event,
  type Lease,
  type Secret,
} from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { configMap } from "./objects.ts";

/** Whole controllers: informers, a queue and a reconcile function that writes. */
export const controllers: ConformanceGroup = {
  subject: "controllers",
  cases: {
    "an object has one controller, and is written by no other one": async ({ client, namespace }) => {
      const [first, second] = await Promise.all(
        ["first", "second"].map((name) => client.create(configMapType, configMap({ namespace, name }, {}))),
      );
      const desired: Secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "owned", namespace } };
      const ofFirst = setControllerReference(desired, first!, configMapType);
      const ofSecond = setControllerReference(desired, second!, configMapType);
      const { object } = await createOrUpdate(client, secretType, { desired: ofFirst });
      await assert.rejects(createOrUpdate(client, secretType, { desired: ofSecond }), {
        code: "AlreadyOwned",
      });
      const unchanged = await client.get<Secret>(secretType, { namespace, name: "owned" });
      assert.equal(unchanged.metadata.resourceVersion, object.metadata.resourceVersion);
      await assert.rejects(client.update<Secret>(secretType, withDesired(object, ofSecond)), { code: 422 });
    },

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

    "a program of controllers leads, wakes owners, tells of failures, and frees its lease": async (world) => {
      const { client, namespace, runtime } = world;
      const copy = { client, namespace, ...world.server.copies };
      const sources = new Informer<ConfigMap>(runtime, { ...copy, type: configMapType });
      const made = new Informer<Secret>(runtime, { ...copy, type: secretType });
      const events = new EventRecorder(runtime, { client, component: "conformance" });
      const controller = new Controller(runtime, {
        name: "program",
        events,
        sources: [watchObjects(sources), watchOwned(made, { owner: configMapType })],
        async reconcile(key, signal) {
          const source = sources.lister.get(key);
          const value = source?.data?.["value"];
          if (source === undefined || source.metadata.name?.startsWith("case-") !== true) return;
          if (value === undefined) throw new Error("there is no value");
          const { name = "", uid = "" } = source.metadata;
          const owner = { apiVersion: "v1", kind: "ConfigMap", name, uid, controller: true };
          const desired: Secret = {
            apiVersion: "v1",
            kind: "Secret",
            metadata: { name, namespace, ownerReferences: [owner] },
            data: { value: btoa(value) },
          };
          await createOrUpdate(client, secretType, { desired, current: made.lister.get(key), signal });
        },
      });
      const election = new LeaderElector(runtime, { client, namespace, name: "program", candidate: "one" });
      const stopping = new AbortController();
      const running = runControllers(
        runtime,
        { controllers: [controller], events, election },
        stopping.signal,
      );
      world.run(async (signal) => {
        signal.addEventListener("abort", () => stopping.abort(signal.reason));
        await running;
      });

      await client.create(configMapType, configMap({ namespace, name: "case-a" }, { value: "1" }));
      const bad = await client.create(configMapType, configMap({ namespace, name: "case-bad" }));
      const isMade = (): Promise<void> =>
        world.eventually("the secret is there", async () => {
          const secret = await client.get<Secret>(secretType, { namespace, name: "case-a" });
          assert.equal(secret.data?.["value"], btoa("1"));
        });
      await isMade();
      await client.delete(secretType, { namespace, name: "case-a" });
      await isMade();
      await world.eventually("the failure is told", async () => {
        const { items } = await client.list<Event>(eventType, {
          namespace,
          fieldSelector: `involvedObject.uid=${bad.metadata.uid}`,
        });
        const told = items.map(({ type, reason, message }) => [type, reason, message]);
        assert.deepEqual(told, [["Warning", "ReconcileFailed", "program: there is no value"]]);
      });
      const lease = (): Promise<Lease> => client.get<Lease>(leaseType, { namespace, name: "program" });
      assert.equal((await lease()).spec?.holderIdentity, election.identity);
      stopping.abort(new Error("stop"));
      await running;
      assert.equal((await lease()).spec?.holderIdentity ?? "", "");
    },
  },
};
