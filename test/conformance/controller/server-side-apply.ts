import assert from "node:assert/strict";
import { configMapType, type ConfigMap } from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { configMap, deployment, deploymentType, type DeploymentObject } from "./objects.ts";
import { refusal } from "./refusal.ts";

/** Who wrote what, as `managedFields` of an answer says. */
interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
}

/** Server-side apply: fields with owners. */
export const serverSideApply: ConformanceGroup = {
  subject: "apply",
  cases: {
    "an apply creates, changes, and takes back what its manager no longer says": async ({
      client,
      namespace,
    }) => {
      const ref = { namespace, name: "one" };
      const apply = (data: Readonly<Record<string, string>>): Promise<ConfigMap> =>
        client.patch<ConfigMap>(configMapType, ref, {
          ...{ type: "apply", fieldManager: "first" },
          body: configMap(ref, data),
        });
      assert.deepEqual((await apply({ a: "1", b: "1" })).data, { a: "1", b: "1" });
      assert.deepEqual((await apply({ a: "2" })).data, { a: "2" });
    },

    "an apply that changes nothing keeps the version": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      const patch = { type: "apply", fieldManager: "first", body: configMap(ref, { a: "1" }) } as const;
      const first = await client.patch(configMapType, ref, patch);
      const second = await client.patch(configMapType, ref, patch);
      assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
    },

    "what another manager says otherwise is a conflict that names field and manager, and is taken by force":
      async ({ client, namespace }) => {
        const ref = { namespace, name: "one" };
        const apply = (fieldManager: string, options: { readonly a: string; readonly force?: boolean }) =>
          client.patch<ConfigMap>(configMapType, ref, {
            ...{ type: "apply", fieldManager, body: configMap(ref, { a: options.a }) },
            ...(options.force === undefined ? {} : { force: options.force }),
          });
        await apply("first", { a: "1" });
        const { status } = await refusal(apply("second", { a: "2" }), { code: 409, reason: "Conflict" });
        const [cause] = status.details?.causes ?? [];
        assert.equal(cause?.field, ".data.a");
        assert.equal(cause.reason, "FieldManagerConflict");
        assert.match(cause.message ?? "", /"first"/);
        assert.equal((await apply("second", { a: "2", force: true })).data?.["a"], "2");
        await refusal(apply("first", { a: "1" }), { code: 409, reason: "Conflict" });
      },

    "managers that say the same share a field": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      const apply = (fieldManager: string, data: Readonly<Record<string, string>>): Promise<ConfigMap> =>
        client.patch<ConfigMap>(configMapType, ref, {
          ...{ type: "apply", fieldManager },
          body: configMap(ref, data),
        });
      await apply("first", { a: "1", b: "1" });
      await apply("second", { a: "1" });
      // The first gives both up: what nobody else says goes, what the second says too stays.
      assert.deepEqual((await apply("first", {})).data, { a: "1" });
    },

    "lists with keys are merged by them": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      const env = (name: string, value: string): object => ({ name: "main", env: [{ name, value }] });
      const apply = (fieldManager: string, container: object): Promise<DeploymentObject> =>
        client.patch<DeploymentObject>(deploymentType, ref, {
          ...{ type: "apply", fieldManager },
          body: deployment(ref, container),
        });
      const envOf = ({ spec }: DeploymentObject): readonly string[] =>
        (spec.template.spec.containers[0]?.env ?? []).map(({ name, value }) => `${name}=${value}`);
      const first = { name: "main", image: "example.com/a:1", env: [{ name: "A", value: "1" }] };
      await apply("first", first);
      const second = await apply("second", env("B", "2"));
      assert.deepEqual(envOf(second), ["A=1", "B=2"]);
      assert.equal(second.spec.template.spec.containers[0]?.image, "example.com/a:1");
      const { status } = await refusal(apply("second", env("A", "2")), { code: 409, reason: "Conflict" });
      assert.equal(
        status.details?.causes?.[0]?.field,
        '.spec.template.spec.containers[name="main"].env[name="A"].value',
      );
      assert.deepEqual(envOf(await apply("first", { ...first, env: [] })), ["B=2"]);
    },

    "managers and their operations stand in the object": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      await client.create(configMapType, configMap(ref, { a: "1" }), { fieldManager: "creator" });
      const patched = await client.patch(configMapType, ref, {
        ...{ type: "apply", fieldManager: "applier" },
        body: configMap(ref, { b: "1" }),
      });
      const managers = (patched.metadata.managedFields ?? []) as readonly ManagedFields[];
      assert.deepEqual(managers.map(({ manager, operation }) => `${manager} ${operation}`).sort(), [
        "applier Apply",
        "creator Update",
      ]);
    },

    "an apply without a manager is refused": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      const applying = client.patch(configMapType, ref, { type: "apply", body: configMap(ref) });
      const error = await refusal(applying, { code: 422, reason: "Invalid" });
      assert.match(error.message, /fieldManager/);
    },
  },
};
