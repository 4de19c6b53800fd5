import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap } from "@meridian/kube";
import { HandlerHistory } from "../testing/programs/handler-history.ts";
import { fleet } from "../testdata/fleet.ts";

test("a slow handler is told of the end of the object it knows, not of a successor's that came and went meanwhile", async () => {
  const { truth, informer, start, pass, runtime } = await fleet();
  const told: string[] = [];
  const history = new HandlerHistory<ConfigMap>({
    async onAdd({ metadata }) {
      told.push(`add ${metadata.uid}`);
      await runtime.clock.sleep(10_000);
    },
    onDelete: ({ metadata }, { missed }) =>
      void told.push(`delete ${metadata.uid}${missed ? " missed" : ""}`),
  });
  informer.addHandler(history.handler);
  truth.put("a", { v: "1" });
  const uid = truth.objects.get("n/a")?.metadata.uid;
  start();
  await pass(5_000);
  truth.remove("a");
  truth.put("a", { v: "2" });
  truth.remove("a");
  await pass(20_000);
  assert.deepEqual(told, [`add ${uid}`, `delete ${uid}`]);
  history.check([]);
});
