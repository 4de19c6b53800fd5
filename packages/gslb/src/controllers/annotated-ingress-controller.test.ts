import assert from "node:assert/strict";
import { test } from "node:test";
import { notFound, unprocessable, type KubeObject } from "@meridian/kube";
import { gslbType } from "../resources/resource-types.ts";
import { openGslbWorld } from "../testdata/gslb-world.ts";
import { AnnotatedIngressController } from "./annotated-ingress-controller.ts";

test("a Gslb that the API server refuses is made when it takes it, also where nothing here changes", async () => {
  const world = openGslbWorld();
  world.truth.put({
    ...{ apiVersion: "networking.k8s.io/v1", kind: "Ingress" },
    metadata: {
      ...{ namespace: "demo", name: "app", uid: "1" },
      annotations: { "k8gb.io/strategy": "roundRobin" },
    },
    spec: { rules: [{ host: "app.cloud.example.com" }] },
  });
  await world.start();
  const told: string[] = [];
  let tries = 0;
  const annotated = new AnnotatedIngressController(world.runtime, {
    client: {
      get: async () => {
        throw notFound(gslbType, "app");
      },
      apply: async <T extends KubeObject>(_type: unknown, object: KubeObject): Promise<T> => {
        tries += 1;
        if (tries === 1) throw unprocessable("a quota");
        return object as T;
      },
      delete: async (_type, { name }) => ({ apiVersion: "v1", kind: "Status", metadata: { name } }),
    },
    copies: world.copies,
    events: { record: (_about, { reason, message }) => void told.push(`${reason}: ${message}`) },
  });
  const stop = new AbortController();
  const running = annotated.controller.run(stop.signal);
  await world.clock.advance(1_000);
  assert.equal(tries, 1);
  assert.match(told.join(), /^AnnotationRefused: the API server refuses the Gslb .*: a quota$/);
  await world.clock.advance(61_000);
  assert.equal(tries, 2);
  stop.abort();
  await world.clock.outcome(running);
  await world.close();
});
