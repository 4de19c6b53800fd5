import assert from "node:assert/strict";
import type { ConformanceGroup } from "./conformance-group.ts";
import { followThroughProxy } from "./proxied-copy.ts";
import { writeSome } from "./write-some.ts";

/** Connections that nobody closes and nothing comes through. Each case takes as long as a silence may last. */
export const silentNetworks: ConformanceGroup = {
  subject: "silent networks",
  cases: {
    "a connection that has gone silent is noticed, and nothing is missed": async (world) => {
      const { proxy, copy } = await followThroughProxy(world);
      proxy.stall();
      await writeSome(world.client, world.namespace, 0);
      await copy.catchUp();
    },

    "a network that swallows everything for a while is found again, and nothing is missed": async (world) => {
      const { proxy, copy } = await followThroughProxy(world);
      proxy.blackHole();
      await writeSome(world.client, world.namespace, 0);
      await world.eventually("the copy knows that it is alone", () => assert.ok(!copy.informer.connected));
      await world.eventually("it has tried a new connection", () => assert.ok(proxy.accepted > 1));
      proxy.restore();
      await copy.catchUp();
    },
  },
};
