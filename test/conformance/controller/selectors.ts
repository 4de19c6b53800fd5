import assert from "node:assert/strict";
import { configMapType, podType, type ConfigMap } from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { configMap, pod } from "./objects.ts";
import { refusal } from "./refusal.ts";

/** Label selectors, by what they select of the objects below. */
const labelled: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  a: { app: "web", tier: "front" },
  b: { app: "web" },
  c: { app: "mail", tier: "back" },
  d: {},
};

const selections: Readonly<Record<string, string>> = {
  "app=web": "a b",
  "app==web,tier=front": "a",
  "app!=web": "c d",
  "app in (web, mail)": "a b c",
  "app notin (web)": "c d",
  tier: "a c",
  "!tier": "b d",
  "app,tier notin (front)": "b c",
};

/** Selectors of labels and fields, in lists and copies. */
export const selectors: ConformanceGroup = {
  subject: "selectors",
  cases: {
    "a label selector selects": async ({ client, namespace }) => {
      for (const [name, labels] of Object.entries(labelled))
        await client.create(configMapType, configMap({ namespace, name, labels }));
      for (const [labelSelector, expected] of Object.entries(selections)) {
        const { items } = await client.list(configMapType, { namespace, labelSelector });
        assert.equal(
          items
            .map(({ metadata }) => metadata.name)
            .sort()
            .join(" "),
          expected,
          labelSelector,
        );
      }
    },

    "a malformed selector is refused": async ({ client, namespace }) => {
      const listing = client.list(configMapType, { namespace, labelSelector: "app in (web" });
      await refusal(listing, { code: 400, reason: "BadRequest" });
    },

    "a field selector selects by name, and of Pods by phase and node": async ({ client, namespace }) => {
      for (const name of ["a", "b"]) await client.create(podType, pod({ namespace, name }, { main: "x" }));
      const status = { status: { phase: "Running" } };
      const at = { namespace, name: "b" };
      await client.patch(podType, at, { type: "merge", subresource: "status", body: status });
      const select = async (fieldSelector: string): Promise<string> => {
        const { items } = await client.list(podType, { namespace, fieldSelector });
        return items.map(({ metadata }) => metadata.name).join(" ");
      };
      assert.equal(await select("metadata.name=a"), "a");
      assert.equal(await select("status.phase=Running"), "b");
      assert.equal(await select("spec.nodeName=,status.phase!=Running"), "a");
      const wrong = client.list(podType, { namespace, fieldSelector: "spec.colour=blue" });
      await refusal(wrong, { code: 400, reason: "BadRequest", says: /spec\.colour/ });
    },

    "what leaves the selector leaves the copy, and its handlers are told of a deletion": async (world) => {
      const { client, namespace } = world;
      const copy = world.follow({ labelSelector: "shown=yes" });
      const told: string[] = [];
      copy.informer.addHandler({
        onAdd: ({ metadata }) => void told.push(`add ${metadata.name}`),
        onDelete: ({ metadata }) => void told.push(`delete ${metadata.name}`),
      });
      await copy.informer.synced;
      const relabel = (shown: string): Promise<ConfigMap> =>
        client.patch<ConfigMap>(
          configMapType,
          { namespace, name: "one" },
          { type: "merge", body: { metadata: { labels: { shown } } } },
        );
      await client.create(configMapType, configMap({ namespace, name: "one", labels: { shown: "no" } }));
      await client.create(configMapType, configMap({ namespace, name: "two", labels: { shown: "yes" } }));
      await relabel("yes");
      await copy.catchUp();
      await relabel("no");
      await copy.catchUp();
      await relabel("yes");
      await copy.catchUp();
      await world.eventually("all steps are told", () => assert.equal(told.length, 4));
      assert.deepEqual(told, ["add two", "add one", "delete one", "add one"]);
    },
  },
};
