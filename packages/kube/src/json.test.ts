import assert from "node:assert/strict";
import test from "node:test";
import { applyJsonPatch } from "./json-patch.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";
import { invalidValue } from "./field-error.ts";
import { jsonText } from "./json.ts";
import type { Json } from "./json.ts";
import { StatusError } from "./status.ts";

const big = 9_007_199_254_740_993n as unknown as Json;

test("the text of a value keeps the digits of integers beyond 2^53", () => {
  const value: Json = { a: [big, { b: big, "\u2028": "\n" }], c: null, d: 1.5 };
  assert.equal(
    jsonText(value),
    '{"a":[9007199254740993,{"b":9007199254740993,"\u2028":"\\n"}],"c":null,"d":1.5}',
  );
  assert.equal(jsonText(big), "9007199254740993");
});

test("messages about integers beyond 2^53 say so, and fail in no other way", () => {
  assert.match(invalidValue("spec.a", big, "no").message ?? "", /9007199254740993/);
  const operations: Json = [{ op: "copy", from: "/a", path: "/b" }];
  assert.deepEqual(applyJsonPatch({ a: big }, operations), { a: big, b: big });
  assert.throws(() => applyJsonPatch({}, [{ op: big, path: "/a" }]), StatusError);
  assert.throws(() => applyStrategicMergePatch({}, { $patch: big }, {}), StatusError);
});
