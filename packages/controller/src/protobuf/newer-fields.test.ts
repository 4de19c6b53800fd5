import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType } from "@meridian/kube";
import type { ConfigMap, KubeObject } from "@meridian/kube";
import { KubeClient } from "../client/kube-client.ts";
import { unknownFields, unknownFieldsOf } from "../client/unknown-fields.ts";
import { recordedAnswers } from "../testdata/recorded-answers.ts";
import { json, scriptedWorld } from "../testdata/scripted-http.ts";
import { createOrUpdate } from "../writing/create-or-update.ts";
import { writeStatus } from "../writing/write-status.ts";
import { protobuf } from "./protobuf.ts";

/** A field of number 100, as a newer server may write it. */
const newerField: Buffer = Buffer.from([0xa2, 0x06, 1, 0x78]);

/** The first recorded ConfigMap as a copy shows it where its server has one field more. */
function partlySeen(): ConfigMap {
  let object: unknown;
  const reader = protobuf.of(configMapType)?.listReader(({ octets, start, end, format }) => {
    const newer = Buffer.concat([octets.subarray(start, end), newerField]);
    object = format.decode(newer, 0, newer.length);
  });
  reader?.push(recordedAnswers.lists.configMaps.protobuf);
  const { metadata, data } = object as ConfigMap;
  return { ...(object as ConfigMap), apiVersion: "v1", kind: "ConfigMap", metadata, data: { ...data } };
}

function clientOf(object: KubeObject): {
  readonly client: KubeClient;
  readonly requests: readonly string[];
} {
  const { runtime, requests } = scriptedWorld(() => json(object));
  const client = new KubeClient(runtime, { origin: "https://10.0.0.2:6443" });
  return {
    client,
    get requests() {
      return requests.map(({ method }) => method);
    },
  };
}

test("an object with a field of a newer server says so, also where it is spread, and nowhere else", () => {
  const object = partlySeen();
  assert.equal(unknownFieldsOf(object), 1);
  assert.equal(unknownFieldsOf({ ...object, data: {} }), 1);
  assert.equal(JSON.stringify(object).includes("left out"), false);
  assert.equal(object[unknownFields as never], 1);
  assert.equal(unknownFieldsOf({ metadata: {} }), 0);
});

test("such an object does not replace the one on the server", async () => {
  const object = partlySeen();
  const server = clientOf(object);
  for (const refused of [
    server.client.update(configMapType, { ...object, data: {} }),
    server.client.updateStatus(configMapType, object),
  ])
    await assert.rejects(refused, { reason: "InvalidRequest", message: /leaves out 1 of its fields/ });
  assert.deepEqual(server.requests, []);
});

test("what writes for a controller reads such an object anew", async () => {
  const current = partlySeen();
  const whole = JSON.parse(JSON.stringify(current)) as ConfigMap;
  const creating = clientOf(whole);
  const desired = { ...whole, data: { wanted: "yes" } };
  await createOrUpdate(creating.client, configMapType, { desired, current });
  assert.deepEqual(creating.requests, ["GET", "PUT"]);

  const writing = clientOf(whole);
  await writeStatus(writing.client, configMapType, { object: current, status: () => ({ ready: true }) });
  assert.deepEqual(writing.requests, ["GET", "PUT"]);
});
