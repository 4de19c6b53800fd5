import assert from "node:assert/strict";
import { KubeClient, TokenFile, connectionFromKubeconfig } from "@meridian/controller";
import { configMapType, secretType } from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { configMap } from "./objects.ts";
import { refusal } from "./refusal.ts";

const forbidden = { code: 403, reason: "Forbidden" } as const;
const reading = ["get", "list", "watch"] as const;

/** Who may do what, and how one proves who one is. */
export const access: ConformanceGroup = {
  subject: "access",
  cases: {
    "a certificate and a token both prove who one is": async (world) => {
      const { namespace } = world;
      for (const by of ["certificate", "token"] as const) {
        const client = await world.newClient({ by });
        assert.deepEqual((await client.list(configMapType, { namespace })).items, []);
      }
    },

    "a wrong token is refused": async (world) => {
      const { tls, origin } = connectionFromKubeconfig(
        world.runtime,
        world.server.kubeconfig("admin", { by: "token" }),
      );
      const client = world.use(
        new KubeClient(world.runtime, { origin, token: "wrong", ...(tls === undefined ? {} : { tls }) }),
      );
      const { namespace } = world;
      await refusal(client.list(configMapType, { namespace }), { code: 401, reason: "Unauthorized" });
    },

    "who may do nothing is told so, with user, verb and resource": async (world) => {
      const client = await world.newClient({ user: "restricted" });
      const { namespace } = world;
      const refused = await refusal(client.list(secretType, { namespace }), forbidden);
      assert.match(refused.message, /User "restricted" cannot list resource "secrets"/);
      await refusal(client.create(configMapType, configMap({ namespace, name: "one" })), forbidden);
      const watching = client.watch(configMapType, { namespace, resourceVersion: "1" });
      await refusal(watching, forbidden);
    },

    "who may read one namespace has a copy of it": async (world) => {
      const { namespace } = world;
      await world.client.create(configMapType, configMap({ namespace, name: "one" }));
      await world.server.allow({ namespace, group: "", resource: "configmaps", verbs: reading });
      for (const by of ["certificate", "token"] as const) {
        const client = await world.newClient({ user: "restricted", by });
        await world.eventually("the right counts", () => client.list(configMapType, { namespace }));
        const copy = world.follow({ client });
        await copy.informer.synced;
        await copy.catchUp();
        await refusal(client.list(configMapType, {}), forbidden);
        await refusal(client.delete(configMapType, { namespace, name: "one" }), forbidden);
      }
    },

    "who acts for another has the other's rights": async (world) => {
      const { namespace } = world;
      const client = await world.newClient({ impersonate: { user: "restricted" } });
      const refused = await refusal(client.list(configMapType, { namespace }), forbidden);
      assert.match(refused.message, /User "restricted"/);
      await world.server.allow({ namespace, group: "", resource: "configmaps", verbs: reading });
      await world.eventually("the right counts", () => client.list(configMapType, { namespace }));
      await refusal(client.create(configMapType, configMap({ namespace, name: "one" })), forbidden);
    },

    "a token that is refused is read again from its file, and the copy goes on": async (world) => {
      const { runtime, namespace, server } = world;
      await world.client.create(configMapType, configMap({ namespace, name: "one" }));
      const connection = connectionFromKubeconfig(runtime, server.kubeconfig("admin", { by: "token" }));
      const right = await connection.credentials?.current(world.signal);
      let token = "outdated";
      const readFile = (): Promise<Uint8Array> => Promise.resolve(new TextEncoder().encode(token));
      const credentials = new TokenFile(runtime.clock, { readFile }, "token");
      const client = world.use(new KubeClient(runtime, { ...connection, credentials }));
      await refusal(client.list(configMapType, { namespace }), { code: 401, reason: "Unauthorized" });
      const copy = world.follow({ client });
      token = (right?.authorization ?? `Bearer ${connection.token}`).slice("Bearer ".length);
      await copy.informer.synced;
      await copy.catchUp();
    },

    "a copy that its user may not read yet is complete once the user may": async (world) => {
      const { namespace } = world;
      await world.client.create(configMapType, configMap({ namespace, name: "one" }));
      const client = await world.newClient({ user: "restricted" });
      await refusal(client.list(configMapType, { namespace }), forbidden);
      const copy = world.follow({ client });
      await world.server.allow({ namespace, group: "", resource: "configmaps", verbs: reading });
      await copy.informer.synced;
      await copy.catchUp();
    },
  },
};
