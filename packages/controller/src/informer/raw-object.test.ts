import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@meridian/kube";
import { ObjectReader } from "../client/object-reader.ts";
import { OctetArena } from "./octet-arena.ts";
import type { RawObject } from "./raw-object.ts";
import { freezeTree } from "./raw-object.ts";

function rawObject(text: string): RawObject<KubeObject> {
  const octets = Buffer.from(text);
  const span = { octets, start: 0, end: octets.length, ascii: octets.length === text.length };
  const reading = new ObjectReader({ namespaced: true, kind: "Pod" }).read(span);
  assert.ok(reading !== undefined);
  return new OctetArena<KubeObject>((value) => value).put(reading, reading.key);
}

const metadata = `"name":"a","namespace":"n","uid":"u","resourceVersion":"5"`;

test("an object that says twice and differently which one it is, or of which state, is never taken for either", () => {
  const hostile = [
    `{"kind":"Pod","metadata":{${metadata}},"metadata":{"name":"b","namespace":"n"}}`,
    `{"kind":"Pod","metadata":{${metadata}},"metadata":null}`,
    `{"kind":"Pod","metadata":{${metadata}},"meta\\u0064ata":{"name":"b","namespace":"n"}}`,
    `{"kind":"Pod","metadata":{${metadata},"name":"b"}}`,
    `{"kind":"Pod","metadata":{${metadata},"na\\u006de":"b"}}`,
    `{"kind":"Pod","metadata":{"uid":"u","uid":"v",${metadata},"namespace":"kube-system"}}`,
    `{"kind":"Pod","metadata":{${metadata},"uid":"v"}}`,
    `{"kind":"Pod","metadata":{${metadata},"u\\u0069d":"v"}}`,
    `{"kind":"Pod","metadata":{"uid":"v",${metadata}}}`,
    `{"kind":"Pod","metadata":{${metadata},"uid":null}}`,
    `{"kind":"Pod","metadata":{${metadata},"resourceVersion":"6"}}`,
    `{"kind":"Pod","metadata":{"resourceVersion":"6",${metadata}}}`,
    `{"kind":"Pod","metadata":{${metadata}},"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"6"}}`,
    `{"kind":"Pod","metadata":{${metadata}},"metadata":{"name":"a","namespace":"n"}}`,
  ];
  for (const text of hostile) {
    assert.throws(() => rawObject(text).decode(), { code: "MalformedResponse" }, text);
  }
});

test("an object may name itself twice and alike, and have fields that are called as those of all objects", () => {
  const text = `{"kind":"Pod","metadata":{${metadata},"name":"a","uid":"u","resourceVersion":"5","labels":{"__proto__":"x","constructor":"y"}},"__proto__":{"z":1}}`;
  const value = rawObject(text).decode();
  assert.equal(JSON.stringify(value.metadata.labels), `{"__proto__":"x","constructor":"y"}`);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal(Object.isFrozen(Object.getOwnPropertyDescriptor(value, "__proto__")?.value), true);
});

test("an object is read whole whatever its uid and its version look like, and without them", () => {
  const plain = [
    `"uid":"u","resourceVersion":"007"`,
    `"uid":"","resourceVersion":""`,
    `"resourceVersion":"x"`,
  ];
  const odd = [`"uid":"a\\"b\\u00e9","resourceVersion":"5"`, `"uid":7,"resourceVersion":5`, `"uid":null`];
  for (const fields of [...plain, ...odd]) {
    const text = `{"kind":"Pod","metadata":{"name":"a","namespace":"n",${fields}}}`;
    assert.deepEqual(rawObject(text).decode(), JSON.parse(text), text);
  }
});

test("an object that is nested as deep as an API server lets it be is decoded and frozen to its bottom", () => {
  for (const [open, close] of [
    [`{"a":`, "}"],
    ["[", "]"],
  ] as const) {
    const depth = 50_000;
    const deep = `${open.repeat(depth)}{}${close.repeat(depth)}`;
    let part: unknown = rawObject(`{"kind":"Pod","metadata":{${metadata}},"spec":${deep}}`).decode();
    for (let level = 0; level <= depth; level++) {
      assert.equal(Object.isFrozen(part), true);
      part = Object.values(part as object).at(-1);
    }
    assert.deepEqual(part, {});
    assert.equal(Object.isFrozen(part), true);
  }
});

test("what goes wrong while freezing is not taken for depth", () => {
  const broken = Object.defineProperty({}, "x", {
    enumerable: true,
    get: () => assert.fail("it cannot be read"),
  });
  assert.throws(() => freezeTree(broken), /cannot be read/);
});
