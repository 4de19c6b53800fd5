import assert from "node:assert/strict";
import { RestMapper, discover, readScale, scaleTo, waitFor } from "@meridian/controller";
import type { UntypedObject } from "@meridian/controller";
import { configMapType, isConditionTrue } from "@meridian/kube";
import type { Condition, ConfigMap, CustomResourceDefinition } from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { configMap } from "./objects.ts";
import { refusal } from "./refusal.ts";

/** What the server says that it serves, objects of kinds that the program does not know, and whole collections. */
export const discovery: ConformanceGroup = {
  subject: "discovery",
  cases: {
    "the server tells its resources with their verbs and subresources": async ({ client }) => {
      const { resources } = await discover(client);
      const namespaces = resources.find(({ group, kind }) => group === "" && kind === "Namespace");
      assert.equal(namespaces?.plural, "namespaces");
      assert.equal(namespaces.namespaced, false);
      for (const verb of ["create", "delete", "get", "list", "patch", "update", "watch"]) {
        assert.ok(namespaces.verbs.includes(verb), verb);
      }
      assert.ok(namespaces.subresources.some(({ name }) => name === "status"));
      const leases = resources.find(({ group, kind }) => group === "coordination.k8s.io" && kind === "Lease");
      assert.deepEqual([leases?.version, leases?.plural, leases?.namespaced], ["v1", "leases", true]);
    },

    "words of people are found as kubectl finds them": async ({ client, runtime }) => {
      const mapper = new RestMapper(runtime, client);
      for (const word of ["cm", "configmap", "configmaps", "ConfigMap"]) {
        const { group, version, plural } = await mapper.typeOfWord(word);
        assert.deepEqual([group, version, plural], ["", "v1", "configmaps"], word);
      }
      await assert.rejects(mapper.typeOfWord("nonsense"), { code: "UnknownKind" });
    },

    "objects of all kinds are applied as they stand in a manifest": async ({
      client,
      runtime,
      namespace,
    }) => {
      const mapper = new RestMapper(runtime, client);
      const manifest: readonly UntypedObject[] = [
        configMap({ namespace, name: "one" }, { a: "1" }) as ConfigMap & UntypedObject,
        { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "two" }, stringData: { b: "2" } },
        {
          apiVersion: "coordination.k8s.io/v1",
          kind: "Lease",
          metadata: { namespace, name: "three" },
          spec: {},
        },
      ];
      for (const object of manifest) {
        const type = await mapper.typeOf(object);
        const applied = await client.apply<UntypedObject>(type, object, { fieldManager: "setup" });
        assert.equal(applied.kind, object.kind);
        const read = await client.get<UntypedObject>(type, { namespace, name: object.metadata.name ?? "" });
        assert.equal(read.metadata.uid, applied.metadata.uid);
      }
    },

    "a kind that has just been defined is found, and scaled": async (world) => {
      const { client, runtime, namespace } = world;
      const mapper = new RestMapper(runtime, client);
      const group = `${namespace}.example.com`;
      const gadget: UntypedObject = {
        apiVersion: `${group}/v1`,
        kind: "Gadget",
        metadata: { namespace, name: "one" },
        spec: { replicas: 1 },
      };
      await assert.rejects(mapper.typeOf(gadget), { code: "UnknownKind" });
      const definition = gadgetDefinition(group);
      const definitions = await mapper.typeOf(definition);
      await client.create(definitions, definition);
      await waitFor<CustomResourceDefinition>(runtime, client, {
        type: definitions,
        name: definition.metadata.name ?? "",
        until: (made) => isConditionTrue(made?.status?.conditions as readonly Condition[], "Established"),
      });
      const type = await world.eventually("the kind in discovery", () => mapper.typeOf(gadget));
      await world.eventually("the kind served", () => client.create(type, gadget));
      const scaled = await scaleTo(client, type, { namespace, name: "one", replicas: 5 });
      assert.equal(scaled.spec?.replicas, 5);
      assert.equal((await readScale(client, type, { namespace, name: "one" })).spec?.replicas, 5);
      const read = await client.get<UntypedObject>(type, { namespace, name: "one" });
      assert.deepEqual(read["spec"], { replicas: 5 });
      await client.delete(definitions, { name: `gadgets.${group}` });
    },

    "a selection of objects is deleted at once, and the others stay": async ({ client, namespace }) => {
      for (const [name, app] of Object.entries({ one: "web", two: "web", three: "db" })) {
        await client.create(configMapType, configMap({ namespace, name, labels: { app } }));
      }
      const selection = { namespace, labelSelector: "app=web" };
      await client.deleteCollection(configMapType, { ...selection, dryRun: true });
      assert.equal((await client.list(configMapType, selection)).items.length, 2);
      await client.deleteCollection(configMapType, selection);
      const { items } = await client.list(configMapType, { namespace, labelSelector: "app" });
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name),
        ["three"],
      );
    },

    "what the server warns of is handed over": async (world) => {
      const { client, namespace } = world;
      const warned: string[] = [];
      const warning = await world.newClient({ onWarning: (text) => warned.push(text) });
      const body = { ...configMap({ namespace, name: "one" }), colour: "blue" };
      await warning.create(configMapType, body, { fieldValidation: "Warn", dryRun: true });
      assert.deepEqual(warned, ['unknown field "colour"']);
      await client.create(configMapType, configMap({ namespace, name: "one" }));
    },

    "who acts for another is that other": async (world) => {
      const { namespace } = world;
      const other = await world.newClient({ impersonate: { user: "restricted", groups: ["one", "two"] } });
      await refusal(other.list(configMapType, { namespace }), {
        ...{ code: 403, reason: "Forbidden" },
        says: /User "restricted" cannot list/,
      });
    },
  },
};

function gadgetDefinition(group: string): UntypedObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
        },
      ],
    },
  };
}
