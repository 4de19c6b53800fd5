import assert from "node:assert/strict";
import {
  customResourceDefinitionType,
  findCondition,
  isNotFound,
  type CustomResourceDefinition,
  type KubeObject,
  type ResourceType,
} from "@meridian/kube";
import type { CaseWorld } from "./case-world.ts";
import type { ConformanceGroup } from "./conformance-group.ts";
import { refusal } from "./refusal.ts";

/** The custom kind of these cases. */
interface Widget extends KubeObject {
  readonly spec: { readonly size: number; readonly colour?: string };
  readonly status?: { readonly ready?: boolean };
}

const text = { type: "string" } as const;

/** Installs a kind of this case's own and waits until it is served. */
async function installWidgets(world: CaseWorld): Promise<ResourceType<Widget>> {
  const { client, namespace } = world;
  const group = `${namespace}.example.com`;
  const name = `widgets.${group}`;
  const definition: CustomResourceDefinition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: "object",
              required: ["spec"],
              properties: {
                spec: {
                  type: "object",
                  required: ["size"],
                  properties: {
                    size: { type: "integer", minimum: 1 },
                    colour: { ...text, default: "blue", enum: ["blue", "red"] },
                  },
                },
                status: { type: "object", properties: { ready: { type: "boolean" } } },
              },
            },
          },
        },
      ],
    },
  };
  await client.create(customResourceDefinitionType, definition);
  await world.eventually("the kind is established", async () => {
    const { status } = await client.get<CustomResourceDefinition>(customResourceDefinitionType, { name });
    assert.equal(findCondition(status?.conditions, "Established")?.status, "True");
  });
  const type = { group, version: "v1", plural: "widgets", kind: "Widget", namespaced: true } as const;
  // Each server of a cluster begins to serve it at a time of its own.
  await world.eventually("the kind is served", () => client.list(type, { namespace }));
  return type;
}

function widget(world: CaseWorld, name: string, spec: Widget["spec"]): Widget {
  const { namespace } = world;
  return {
    apiVersion: `${namespace}.example.com/v1`,
    kind: "Widget",
    metadata: { name, namespace },
    spec,
  };
}

/** Kinds that a CustomResourceDefinition made. */
export const customResources: ConformanceGroup = {
  subject: "custom resources",
  cases: {
    "an object of a custom kind is written, defaulted, read and deleted": async (world) => {
      const { client, namespace } = world;
      const type = await installWidgets(world);
      const created = await client.create(type, widget(world, "one", { size: 3 }));
      assert.deepEqual(created.spec, { size: 3, colour: "blue" });
      assert.equal(created.metadata.generation, 1);
      const updated = await client.update(type, { ...created, spec: { size: 4, colour: "red" } });
      assert.equal(updated.metadata.generation, 2);
      assert.deepEqual(await client.get<Widget>(type, { namespace, name: "one" }), updated);
      await client.delete(type, { namespace, name: "one" });
      assert.deepEqual((await client.list(type, { namespace })).items, []);
    },

    "what its schema forbids is refused with the fields at fault": async (world) => {
      const type = await installWidgets(world);
      const wrong = { size: 0, colour: "green" };
      const { status } = await refusal(world.client.create(type, widget(world, "one", wrong)), {
        ...{ code: 422, reason: "Invalid" },
      });
      const fields = (status.details?.causes ?? []).map(({ field }) => field).sort();
      assert.deepEqual(fields, ["spec.colour", "spec.size"]);
    },

    "status and spec are written apart, and only the spec counts generations": async (world) => {
      const { client } = world;
      const type = await installWidgets(world);
      const body = { ...widget(world, "one", { size: 3 }), status: { ready: true } };
      const created = await client.create<Widget>(type, body);
      assert.equal(created.status, undefined, "a create cannot set the status");
      const ready = await client.updateStatus<Widget>(type, {
        ...created,
        spec: { size: 9 },
        status: { ready: true },
      });
      assert.deepEqual([ready.spec.size, ready.status?.ready], [3, true]);
      assert.equal(ready.metadata.generation, 1);
      const grown = await client.update<Widget>(type, {
        ...ready,
        spec: { size: 5 },
        status: { ready: false },
      });
      assert.deepEqual([grown.spec.size, grown.status?.ready], [5, true]);
      assert.equal(grown.metadata.generation, 2);
    },

    "merge patches and applies change it, a strategic patch does not": async (world) => {
      const { client, namespace } = world;
      const type = await installWidgets(world);
      const ref = { namespace, name: "one" };
      const apply = { type: "apply", fieldManager: "first" } as const;
      await client.patch(type, ref, { ...apply, body: widget(world, "one", { size: 1 }) });
      const patched = await client.patch<Widget>(type, ref, { type: "merge", body: { spec: { size: 2 } } });
      assert.equal(patched.spec.size, 2);
      const strategic = client.patch(type, ref, { type: "strategic", body: { spec: { size: 3 } } });
      await refusal(strategic, { code: 415, reason: "UnsupportedMediaType" });
    },

    "a copy of a custom kind follows, with its indexes": async (world) => {
      const { client, namespace } = world;
      const type = await installWidgets(world);
      await client.create(type, widget(world, "early", { size: 1, colour: "red" }));
      const informer = world.inform<Widget>({ type, namespace });
      informer.addIndex("colour", ({ spec }) => [spec.colour ?? ""]);
      await informer.synced;
      const late = await client.create(type, widget(world, "late", { size: 2, colour: "red" }));
      const namesOf = (colour: string): string =>
        informer.lister
          .byIndex("colour", colour)
          .map(({ metadata }) => metadata.name)
          .sort()
          .join(" ");
      await world.eventually("both are red", () => assert.equal(namesOf("red"), "early late"));
      await client.update(type, { ...late, spec: { size: 2, colour: "blue" } });
      await world.eventually("one is blue", () =>
        assert.deepEqual([namesOf("red"), namesOf("blue")], ["early", "late"]),
      );
    },

    "a copy of a kind that comes later is complete once it is there": async (world) => {
      const { client, namespace } = world;
      const type = { group: `${namespace}.example.com`, version: "v1", plural: "widgets", kind: "Widget" };
      const informer = world.inform<Widget>({ type: { ...type, namespaced: true }, namespace });
      await assert.rejects(client.list({ ...type, namespaced: true }, { namespace }), isNotFound);
      await client.create(await installWidgets(world), widget(world, "one", { size: 1 }));
      await world.eventually("the copy is complete", () =>
        assert.deepEqual(
          informer.lister.list().map(({ metadata }) => metadata.name),
          ["one"],
        ),
      );
    },
  },
};
