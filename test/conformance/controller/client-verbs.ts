import assert from "node:assert/strict";
import { isApiError } from "@meridian/controller";
import {
  configMapType,
  namespaceType,
  type ConfigMap,
  type KubeObject,
  type ResourceType,
} from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { configMap, deployment, deploymentType } from "./objects.ts";
import type { DeploymentObject, ScaleObject } from "./objects.ts";
import { refusal } from "./refusal.ts";

const nodes: ResourceType = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };

/** Get, list, create, update and delete, and how each is refused. */
export const clientVerbs: ConformanceGroup = {
  subject: "verbs",
  cases: {
    "a created object comes back with what the server added, and is read as it was written": async ({
      client,
      namespace,
    }) => {
      const data = { plain: "value", unicode: "größer als 日本 🎉", lines: "a\nb\tc\u2028d", empty: "" };
      const created = await client.create(configMapType, configMap({ namespace, name: "one" }, data));
      assert.match(created.metadata.uid ?? "", /^[0-9a-f-]{36}$/);
      assert.match(created.metadata.resourceVersion ?? "", /^[1-9]\d*$/);
      assert.match(created.metadata.creationTimestamp ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.deepEqual(created.data, data);
      assert.deepEqual(await client.get(configMapType, { namespace, name: "one" }), created);
    },

    "an update is a new version of the same object": async ({ client, namespace }) => {
      const created = await client.create(configMapType, configMap({ namespace, name: "one" }, { a: "1" }));
      const updated = await client.update(configMapType, { ...created, data: { b: "2" } });
      assert.equal(updated.metadata.uid, created.metadata.uid);
      assert.ok(Number(updated.metadata.resourceVersion) > Number(created.metadata.resourceVersion));
      assert.deepEqual(updated.data, { b: "2" });
    },

    "an update that changes nothing keeps the version": async ({ client, namespace }) => {
      const created = await client.create(configMapType, configMap({ namespace, name: "one" }, { a: "1" }));
      const updated = await client.update(configMapType, created);
      assert.equal(updated.metadata.resourceVersion, created.metadata.resourceVersion);
    },

    "a generated name begins as asked": async ({ client, namespace }) => {
      const body: ConfigMap = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { namespace, generateName: "made-" },
      };
      const [first, second] = [
        await client.create(configMapType, body),
        await client.create(configMapType, body),
      ];
      assert.match(first.metadata.name ?? "", /^made-[a-z0-9]{5}$/);
      assert.notEqual(first.metadata.name, second.metadata.name);
    },

    "items of a list have their kind and version, and the list a version": async ({ client, namespace }) => {
      await client.create(configMapType, configMap({ namespace, name: "one" }));
      const list = await client.list<ConfigMap>(configMapType, { namespace });
      assert.equal(list.kind, "ConfigMapList");
      assert.match(list.metadata.resourceVersion ?? "", /^[1-9]\d*$/);
      assert.deepEqual(
        list.items.map(({ apiVersion, kind, metadata }) => [apiVersion, kind, metadata.name]),
        [["v1", "ConfigMap", "one"]],
      );
    },

    "without a namespace a list holds all namespaces": async (world) => {
      const { client, namespace } = world;
      const other = `${namespace}-b`;
      await world.makeNamespace(other);
      for (const home of [namespace, other]) {
        await client.create(
          configMapType,
          configMap({ namespace: home, name: "one", labels: { case: namespace } }),
        );
      }
      const { items } = await client.list(configMapType, { labelSelector: `case=${namespace}` });
      assert.deepEqual(items.map(({ metadata }) => metadata.namespace).sort(), [namespace, other]);
    },

    "objects without namespaces are read and written too": async ({ client, namespace }) => {
      const name = `node-${namespace}`;
      await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name } });
      assert.equal((await client.get(nodes, { name })).metadata.name, name);
      await client.delete(nodes, { name });
      await refusal(client.get(nodes, { name }), { code: 404, reason: "NotFound" });
    },

    "a deleted object is gone, and a new one of its name has another uid": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      const first = await client.create(configMapType, configMap(ref));
      await client.delete(configMapType, ref);
      await refusal(client.get(configMapType, ref), {
        ...{ code: 404, reason: "NotFound" },
        says: /configmaps "one" not found/,
      });
      const second = await client.create(configMapType, configMap(ref));
      assert.notEqual(second.metadata.uid, first.metadata.uid);
    },

    "a finalizer keeps a deleted object until it is taken off": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      const body = configMap(ref);
      const finalizers = ["example.com/hold"];
      await client.create(configMapType, { ...body, metadata: { ...body.metadata, finalizers } });
      await client.delete(configMapType, ref);
      const kept = await client.get<ConfigMap>(configMapType, ref);
      assert.ok(kept.metadata.deletionTimestamp !== undefined);
      await client.update<ConfigMap>(configMapType, {
        ...kept,
        metadata: { ...kept.metadata, finalizers: [] },
      });
      await refusal(client.get(configMapType, ref), { code: 404, reason: "NotFound" });
    },

    "what is there already is not created": async ({ client, namespace }) => {
      const body = configMap({ namespace, name: "one" });
      await client.create(configMapType, body);
      const expected = { code: 409, reason: "AlreadyExists", says: /configmaps "one" already exists/ };
      await refusal(client.create(configMapType, body), expected);
    },

    "what is not there is not updated, patched or deleted": async ({ client, namespace }) => {
      const ref = { namespace, name: "none" };
      const expected = { code: 404, reason: "NotFound" };
      await refusal(client.update(configMapType, configMap(ref)), expected);
      await refusal(
        client.patch(configMapType, ref, { type: "merge", body: { data: { a: "1" } } }),
        expected,
      );
      await refusal(client.delete(configMapType, ref), expected);
    },

    "nothing is created in a namespace that is not there": async ({ client, namespace }) => {
      const body = configMap({ namespace: `${namespace}-none`, name: "one" });
      await refusal(client.create(configMapType, body), {
        ...{ code: 404, reason: "NotFound" },
        says: /namespaces ".*" not found/,
      });
    },

    "an invalid object is refused with the fields at fault": async ({ client, namespace }) => {
      const body = configMap({ namespace, name: "Not_A_Name", labels: { "bad key!": "x" } });
      const { status } = await refusal(client.create(configMapType, body), { code: 422, reason: "Invalid" });
      const fields = (status.details?.causes ?? []).map(({ field }) => field);
      assert.ok(fields.includes("metadata.name"), JSON.stringify(status));
      assert.ok(fields.includes("metadata.labels"), JSON.stringify(status));
    },

    "strict validation refuses an unknown field, and without it the field is dropped": async ({
      client,
      namespace,
    }) => {
      const body = { ...configMap({ namespace, name: "one" }), colour: "blue" };
      await refusal(client.create(configMapType, body, { fieldValidation: "Strict" }), {
        ...{ code: 400, reason: "BadRequest" },
        says: /unknown field "colour"/,
      });
      const created: KubeObject = await client.create(configMapType, body, { fieldValidation: "Ignore" });
      assert.ok(!("colour" in created));
    },

    "what the server warns of is told": async (world) => {
      const { namespace } = world;
      const warnings: string[] = [];
      const client = await world.newClient({ onWarning: (text) => void warnings.push(text) });
      const body = { ...configMap({ namespace, name: "one" }), colour: "blue" };
      await client.create(configMapType, body);
      assert.deepEqual(warnings, ['unknown field "colour"']);
    },

    "a dry run answers as a write does and stores nothing": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      const dry = await client.create(configMapType, configMap(ref, { a: "1" }), { dryRun: true });
      assert.deepEqual(dry.data, { a: "1" });
      await refusal(client.get(configMapType, ref), { code: 404, reason: "NotFound" });
      const created = await client.create(configMapType, configMap(ref, { a: "1" }));
      await client.delete(configMapType, ref, { dryRun: true });
      assert.deepEqual(await client.get(configMapType, ref), created);
    },

    "a delete with a precondition spares another object of the name": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      const first = await client.create(configMapType, configMap(ref));
      await client.delete(configMapType, ref);
      const second = await client.create(configMapType, configMap(ref));
      const preconditions = { uid: first.metadata.uid! };
      const expected = { code: 409, reason: "Conflict", says: /UID in the precondition .* does not match/ };
      await refusal(client.delete(configMapType, ref, { preconditions }), expected);
      assert.deepEqual(await client.get(configMapType, ref), second);
    },

    "a selection is deleted at once, and the rest stays": async ({ client, namespace }) => {
      for (const name of ["a", "b", "c"]) {
        const labels = { old: name === "b" ? "no" : "yes" };
        await client.create(configMapType, configMap({ namespace, name, labels }));
      }
      await client.deleteCollection(configMapType, { namespace, labelSelector: "old=yes" });
      const { items } = await client.list(configMapType, { namespace });
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name),
        ["b"],
      );
    },

    "the scale of a Deployment is read and written apart": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      await client.create(deploymentType, deployment(ref, { name: "main", image: "example.com/a:1" }));
      const scale = await client.get<ScaleObject>(deploymentType, ref, { subresource: "scale" });
      assert.equal(scale.kind, "Scale");
      assert.equal(scale.spec.replicas, 1);
      const wider = { ...scale, spec: { replicas: 3 } };
      await client.update<ScaleObject>(deploymentType, wider, { subresource: "scale" });
      const { spec } = await client.get<DeploymentObject>(deploymentType, ref);
      assert.equal(spec.replicas, 3);
    },

    "an error says what was asked of whom, and what the server said": async ({ client, namespace }) => {
      const outcome = await client
        .get(configMapType, { namespace, name: "none" })
        .catch((error: unknown) => error);
      assert.ok(isApiError(outcome));
      assert.deepEqual([outcome.verb, outcome.resource, outcome.namespace], ["get", "configmaps", namespace]);
      assert.deepEqual([outcome.objectName, outcome.code, outcome.reason], ["none", 404, "NotFound"]);
      assert.equal(
        outcome.message,
        `cannot get configmaps ${namespace}/none: configmaps "none" not found (404 NotFound)`,
      );
    },

    "a version of the future is waited for in vain, and then said to be too large": async ({
      client,
      namespace,
    }) => {
      const { metadata } = await client.list(configMapType, { namespace });
      const resourceVersion = String(Number(metadata.resourceVersion) + 1_000_000_000);
      const asking = client.list(configMapType, { namespace, resourceVersion, deadlineMs: 20_000 });
      await refusal(asking, { code: 504, reason: "Timeout", says: /Too large resource version/ });
    },

    "the server says its version and its health": async ({ client }) => {
      const version = (await client.getRaw("/version")) as { readonly gitVersion?: string };
      assert.match(version.gitVersion ?? "", /^v1\.\d+\.\d+/);
      assert.equal(await client.getRaw("/readyz"), "ok");
      assert.equal((await client.get(namespaceType, { name: "default" })).metadata.name, "default");
    },

    "a request ends with its signal and with its deadline": async ({ client, namespace }) => {
      const stopping = new AbortController();
      const reason = new Error("no longer wanted");
      const reading = client.list(configMapType, { namespace, signal: stopping.signal });
      stopping.abort(reason);
      await assert.rejects(reading, (error) => error === reason);
      await assert.rejects(client.list(configMapType, { namespace, deadlineMs: 0 }), {
        reason: "DeadlineExceeded",
      });
    },
  },
};
