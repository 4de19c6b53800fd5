import assert from "node:assert/strict";
import { EventRecorder } from "@meridian/controller";
import { configMapType, eventType, type Event } from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { configMap } from "./objects.ts";

/** Events about objects. */
export const events: ConformanceGroup = {
  subject: "events",
  cases: {
    "what a recorder notes is an event about its object, a series where it repeats": async (world) => {
      const { client, namespace, runtime } = world;
      const about = await client.create(configMapType, configMap({ namespace, name: "one" }));
      const recorder = new EventRecorder(runtime, { client, component: "conformance", instance: "a" });
      world.run((signal) => recorder.run(signal));
      for (let count = 0; count < 3; count++)
        recorder.record(about, { type: "Warning", reason: "Odd", message: "it is odd" });
      recorder.record(about, { type: "Normal", reason: "Even", message: "it is even" });
      await world.eventually("both events are there, one of them counted", async () => {
        const { items } = await client.list<Event>(eventType, {
          namespace,
          fieldSelector: `involvedObject.name=one,involvedObject.uid=${about.metadata.uid}`,
        });
        const told = items.map(({ type, reason, message, series }) => [
          type,
          reason,
          message,
          series?.count ?? 1,
        ]);
        assert.deepEqual(told.sort(), [
          ["Normal", "Even", "it is even", 1],
          ["Warning", "Odd", "it is odd", 3],
        ]);
      });
      assert.equal(recorder.dropped, 0);
    },
  },
};
