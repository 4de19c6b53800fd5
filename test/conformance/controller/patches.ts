import assert from "node:assert/strict";
import { configMapType, podType, type ConfigMap, type Json } from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { configMap, pod, type PodObject } from "./objects.ts";
import { refusal } from "./refusal.ts";

/** The three patches that change what is there; server-side apply is a subject of its own. */
export const patches: ConformanceGroup = {
  subject: "patches",
  cases: {
    "a merge patch changes what it names and removes what it names null": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      await client.create(configMapType, configMap(ref, { keep: "1", change: "1", remove: "1" }));
      const body = { data: { change: "2", remove: null, add: "3" } };
      const patched = await client.patch<ConfigMap>(configMapType, ref, { type: "merge", body });
      assert.deepEqual(patched.data, { keep: "1", change: "2", add: "3" });
    },

    "a merge patch that names an old version is a conflict": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      const { metadata } = await client.create(configMapType, configMap(ref, { a: "1" }));
      await client.patch(configMapType, ref, { type: "merge", body: { data: { a: "2" } } });
      const body = { metadata: { resourceVersion: metadata.resourceVersion! }, data: { a: "3" } };
      const expected = { code: 409, reason: "Conflict", says: /the object has been modified/ };
      await refusal(client.patch(configMapType, ref, { type: "merge", body }), expected);
    },

    "a JSON patch runs its operations in order, and all of them or none": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      await client.create(configMapType, configMap(ref, { a: "1", b: "2" }));
      const body: Json = [
        { op: "test", path: "/data/a", value: "1" },
        { op: "replace", path: "/data/a", value: "9" },
        { op: "move", from: "/data/b", path: "/data/z" },
        { op: "add", path: "/metadata/annotations", value: {} },
        { op: "copy", from: "/data/z", path: "/metadata/annotations/example.com~1z" },
      ];
      const patched = await client.patch<ConfigMap>(configMapType, ref, { type: "json", body });
      assert.deepEqual(patched.data, { a: "9", z: "2" });
      assert.deepEqual(patched.metadata.annotations, { "example.com/z": "2" });
      const failing: Json = [
        { op: "replace", path: "/data/a", value: "0" },
        { op: "test", path: "/data/z", value: "something else" },
      ];
      await refusal(client.patch(configMapType, ref, { type: "json", body: failing }), {
        ...{ code: 422, reason: "Invalid" },
      });
      assert.deepEqual((await client.get<ConfigMap>(configMapType, ref)).data, patched.data);
    },

    "a strategic patch merges lists by their keys": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      await client.create(podType, pod(ref, { main: "example.com/a:1", side: "example.com/b:1" }));
      const body = { spec: { containers: [{ name: "side", image: "example.com/b:2" }] } };
      const patched = await client.patch<PodObject>(podType, ref, { type: "strategic", body });
      assert.deepEqual(patched.spec.containers.map(({ name, image }) => `${name}=${image}`).sort(), [
        "main=example.com/a:1",
        "side=example.com/b:2",
      ]);
    },

    "a strategic patch removes from a list what it is told to": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      const body = configMap(ref);
      const finalizers = ["example.com/a", "example.com/b"];
      await client.create(configMapType, { ...body, metadata: { ...body.metadata, finalizers } });
      const patch = { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/a"] } };
      const patched = await client.patch(configMapType, ref, { type: "strategic", body: patch });
      assert.deepEqual(patched.metadata.finalizers, ["example.com/b"]);
    },

    "a patch that changes nothing keeps the version": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      const created = await client.create(configMapType, configMap(ref, { a: "1" }));
      const patched = await client.patch(configMapType, ref, { type: "merge", body: { data: { a: "1" } } });
      assert.equal(patched.metadata.resourceVersion, created.metadata.resourceVersion);
    },

    "a patch of the status changes nothing else": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      await client.create(podType, pod(ref, { main: "example.com/a:1" }));
      const body = { metadata: { labels: { seen: "yes" } }, status: { phase: "Running", message: "well" } };
      await client.patch(podType, ref, { type: "merge", subresource: "status", body });
      const { spec, status } = await client.get<PodObject>(podType, ref);
      assert.deepEqual([status?.phase, status?.message], ["Running", "well"]);
      assert.equal(spec.containers[0]?.image, "example.com/a:1");
      const whole = { status: { message: "ill" } };
      await client.patch(podType, ref, { type: "merge", body: whole });
      assert.equal((await client.get<PodObject>(podType, ref)).status?.message, "well");
    },
  },
};
