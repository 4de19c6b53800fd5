import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiObject } from "../resource/definition.ts";
import { compareFields } from "./field-ownership.ts";

test("comparing objects of many fields, all of them others, reads each a few times", () => {
  const count = 300;
  let reads = 0;
  const data = {};
  for (let index = 0; index < count; index += 1) {
    Object.defineProperty(data, `old-${index}`, {
      enumerable: true,
      get: () => {
        reads += 1;
        return "";
      },
    });
  }
  const object = (fields: object): ApiObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "app" },
    data: fields,
  });
  const others = Object.fromEntries(Array.from({ length: count }, (_, index) => [`new-${index}`, ""]));
  const schema = { type: "object", properties: { data: { type: "object" } } } as const;
  const { removed, set } = compareFields(object(data), object(others), schema);
  assert.ok(!removed.isEmpty && !set.isEmpty);
  assert.ok(reads <= 10 * count, `${reads} reads of ${count} fields`);
});
