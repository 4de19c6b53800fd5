import assert from "node:assert/strict";
import type { KubeClient } from "@meridian/controller";
import { configMapType, type ConfigMap } from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { configMap } from "./objects.ts";
import { refusal } from "./refusal.ts";

const namesOf = (objects: readonly ConfigMap[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.name ?? "").sort();

async function createMany(client: KubeClient, namespace: string, count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `item-${String(index).padStart(3, "0")}`);
  for (const name of names) await client.create(configMapType, configMap({ namespace, name }));
  return names;
}

/** Lists in pages. */
export const paging: ConformanceGroup = {
  subject: "paging",
  cases: {
    "the pages of a list are one state, whatever is written meanwhile": async ({ client, namespace }) => {
      const names = await createMany(client, namespace, 7);
      const first = await client.list<ConfigMap>(configMapType, { namespace, limit: 3 });
      assert.equal(first.items.length, 3);
      assert.equal(first.metadata.remainingItemCount, 4);
      await client.create(configMapType, configMap({ namespace, name: "item-999" }));
      await client.delete(configMapType, { namespace, name: "item-005" });
      const found = [...first.items];
      let { continue: token = "" } = first.metadata;
      while (token !== "") {
        const page = await client.list<ConfigMap>(configMapType, {
          namespace,
          limit: 3,
          continueToken: token,
        });
        assert.equal(page.metadata.resourceVersion, first.metadata.resourceVersion);
        found.push(...page.items);
        token = page.metadata.continue ?? "";
      }
      assert.deepEqual(namesOf(found), names);
    },

    "pages with a selector hold all that it selects": async ({ client, namespace }) => {
      for (let index = 0; index < 9; index++) {
        const labels = { odd: index % 2 === 1 ? "yes" : "no" };
        await client.create(configMapType, configMap({ namespace, name: `item-${index}`, labels }));
      }
      const found: ConfigMap[] = [];
      let token = "";
      do {
        const page = await client.list<ConfigMap>(configMapType, {
          ...{ namespace, limit: 2, labelSelector: "odd=no" },
          ...(token === "" ? {} : { continueToken: token }),
        });
        found.push(...page.items);
        token = page.metadata.continue ?? "";
      } while (token !== "");
      assert.deepEqual(namesOf(found), ["item-0", "item-2", "item-4", "item-6", "item-8"]);
    },

    "the rest of a list whose state is forgotten is refused as expired": async (world) => {
      const { client, namespace, server } = world;
      await createMany(client, namespace, 4);
      const first = await client.list<ConfigMap>(configMapType, { namespace, limit: 2 });
      await client.create(configMapType, configMap({ namespace, name: "later" }));
      await server.forgetHistory();
      const continueToken = first.metadata.continue!;
      // A server may take a moment to notice.
      await world.eventually("the token has expired", () =>
        refusal(client.list(configMapType, { namespace, limit: 2, continueToken }), {
          ...{ code: 410, reason: "Expired" },
        }),
      );
    },

    "a copy that is read in pages is whole": async (world) => {
      await createMany(world.client, world.namespace, 11);
      const copy = world.follow({ pageSize: 3 });
      await copy.informer.synced;
      await copy.catchUp();
    },
  },
};
