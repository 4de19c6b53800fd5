import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { deepEqual } from "../deep-equal.ts";
import type { Json } from "../json.ts";
import { countedItems } from "../testdata/counted-items.ts";
import { compileSchema } from "./compile-schema.ts";
import type { StructuralSchema } from "./structural-schema.ts";

const shown = (causes: readonly { readonly field?: string; readonly message?: string }[]): string[] =>
  causes.map(({ field, message }) => `${field}: ${message}`);

const endpoints: StructuralSchema = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["dnsName"],
  items: {
    type: "object",
    required: ["dnsName"],
    properties: {
      dnsName: { type: "string" },
      recordTTL: { type: "integer", format: "int64", default: 30 },
      labels: { type: "object", additionalProperties: { type: "string" } },
    },
  },
};

const schema: StructuralSchema = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer", minimum: 1, maximum: 10 },
        ratio: { type: "number", exclusiveMinimum: true, minimum: 0, multipleOf: 0.1 },
        count: { type: "integer", format: "int32" },
        name: { type: "string", minLength: 2, maxLength: 5, pattern: "^[a-z]+$" },
        mode: { type: "string", enum: ["roundRobin", "failover"] },
        hosts: {
          type: "array",
          minItems: 1,
          maxItems: 3,
          "x-kubernetes-list-type": "set",
          items: { type: "string" },
        },
        weight: {
          type: "object",
          minProperties: 1,
          maxProperties: 2,
          additionalProperties: { type: "integer" },
        },
        port: { "x-kubernetes-int-or-string": true },
        since: { type: "string", format: "date-time", nullable: true },
        flag: { type: "boolean" },
        anything: {
          type: "object",
          "x-kubernetes-preserve-unknown-fields": true,
          properties: { known: { type: "object", properties: { a: { type: "string" } } } },
        },
        template: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
        endpoints,
      },
    },
    status: { type: "object", properties: { phase: { type: "string", enum: ["Up"] } } },
  },
};

const compiled = compileSchema(schema);

const invalid: readonly [spec: Json, expected: readonly string[]][] = [
  [
    { size: "x" },
    ['spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'],
  ],
  [
    { size: 1.5 },
    ['spec.size: Invalid value: "number": spec.size in body must be of type integer: "number"'],
  ],
  [{ size: null }, ['spec.size: Invalid value: "null": spec.size in body must be of type integer: "null"']],
  [{ size: 0 }, ["spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"]],
  [{ size: 11 }, ["spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10"]],
  [{ ratio: 0 }, ["spec.ratio: Invalid value: 0: spec.ratio in body should be greater than 0"]],
  [{ ratio: 0.25 }, ["spec.ratio: Invalid value: 0.25: spec.ratio in body should be a multiple of 0.1"]],
  [
    { count: 2147483648 },
    ['spec.count: Invalid value: 2147483648: spec.count in body must be of type int32: "2147483648"'],
  ],
  [{ name: "a" }, ['spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long']],
  [{ name: "abcdef" }, ["spec.name: Too long: may not be more than 5 bytes"]],
  [{ name: "AB" }, ["spec.name: Invalid value: \"AB\": spec.name in body should match '^[a-z]+$'"]],
  [{ mode: "z" }, ['spec.mode: Unsupported value: "z": supported values: "roundRobin", "failover"']],
  [{ hosts: [] }, ["spec.hosts: Invalid value: 0: spec.hosts in body should have at least 1 items"]],
  [{ hosts: ["a", "b", "c", "d"] }, ["spec.hosts: Too many: 4: must have at most 3 items"]],
  [{ hosts: ["a", "b", "a"] }, ['spec.hosts[2]: Duplicate value: "a"']],
  [
    { hosts: ["a", 1] },
    ['spec.hosts[1]: Invalid value: "integer": spec.hosts[1] in body must be of type string: "integer"'],
  ],
  [{ weight: {} }, ["spec.weight: Invalid value: 0: spec.weight in body should have at least 1 properties"]],
  [{ weight: { a: 1, b: 2, c: 3 } }, ["spec.weight: Too many: 3: must have at most 2 items"]],
  [
    { weight: { eu: "x" } },
    ['spec.weight.eu: Invalid value: "string": spec.weight.eu in body must be of type integer: "string"'],
  ],
  [
    { port: true },
    ['spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"'],
  ],
  [
    { since: "yesterday" },
    ['spec.since: Invalid value: "yesterday": spec.since in body must be of type date-time: "yesterday"'],
  ],
  [{ endpoints: [{}] }, ["spec.endpoints[0].dnsName: Required value"]],
  [
    { endpoints: [{ dnsName: "a" }, { dnsName: "b" }, { dnsName: "a" }] },
    ['spec.endpoints[2]: Duplicate value: {"dnsName":"a"}'],
  ],
  [{ template: { kind: "X" } }, ["spec.template.apiVersion: Required value: must not be empty"]],
  [
    { template: { apiVersion: "v1", kind: "X", metadata: { labels: { "a b": "c" } } } },
    [
      "spec.template.metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
];

for (const [spec, expected] of invalid) {
  test(`${JSON.stringify(spec).slice(0, 60)} breaks a rule`, () => {
    assert.deepEqual(shown(compiled.validate({ spec })), expected);
  });
}

const valid: readonly Json[] = [
  {},
  { size: 3, ratio: 0.3, name: "abc", mode: "failover", hosts: ["a"], weight: { eu: 1 }, flag: false },
  { port: 80 },
  { port: "http" },
  { since: null },
  { since: "2026-01-01T00:00:00Z" },
  { name: "äöüäö".replace(/./g, "a") },
  { anything: { x: [1, { y: null }] } },
  { template: { apiVersion: "v1", kind: "X", metadata: {}, data: 1 } },
];

for (const spec of valid) {
  test(`${JSON.stringify(spec).slice(0, 60)} is valid`, () => {
    assert.deepEqual(shown(compiled.validate({ spec })), []);
  });
}

test("lengths count code points", () => {
  const text = compileSchema({
    type: "object",
    properties: { x: { type: "string", maxLength: 2, minLength: 2 } },
  });
  assert.deepEqual(text.validate({ x: "\u{1f600}\u{1f600}" }), []);
  assert.equal(text.validate({ x: "\u{1f600}" }).length, 1);
});

test("a missing required field is told by its path", () => {
  assert.deepEqual(shown(compiled.validate({})), ["spec: Required value"]);
});

test("junctors are checked with the texts of kube-apiserver", () => {
  const junctors = compileSchema({
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: { a: { type: "string" }, b: { type: "string" }, n: { type: "integer" } },
        oneOf: [{ required: ["a"] }, { required: ["b"] }],
        anyOf: [{ properties: { n: { minimum: 5 } } }, { properties: { n: { maximum: 1 } } }],
        not: { properties: { a: { enum: ["bad"] } }, required: ["a"] },
      },
    },
  });
  assert.deepEqual(shown(junctors.validate({ spec: { a: "x", n: 7 } })), []);
  assert.deepEqual(shown(junctors.validate({ spec: { n: 7 } })), [
    '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
    "spec.a: Required value",
  ]);
  assert.deepEqual(shown(junctors.validate({ spec: { a: "x", b: "y" } })), [
    '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ]);
  assert.deepEqual(shown(junctors.validate({ spec: { a: "x", n: 3 } })).slice(0, 1), [
    '<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)',
  ]);
  assert.deepEqual(shown(junctors.validate({ spec: { a: "bad" } })), [
    '<nil>: Invalid value: "": "spec" must not validate the schema (not)',
  ]);
});

test("on an update, what did not change is not checked again", () => {
  const old = { spec: { mode: "gone", size: 3, endpoints: [{ dnsName: "a", recordTTL: "x" }] } };
  assert.deepEqual(compiled.validate({ spec: { ...old.spec, size: 4 } }, old), []);
  const moved = { spec: { ...old.spec, endpoints: [{ dnsName: "b" }, ...old.spec.endpoints] } };
  assert.deepEqual(compiled.validate(moved, old), []);
  assert.equal(compiled.validate({ spec: { ...old.spec, mode: "other" } }, old).length, 1);
});

test("only the named fields are checked for the status endpoint", () => {
  const object = { spec: { size: "x" }, status: { phase: "Down" } };
  const causes = compiled.validate(object, undefined, { onlyFields: ["status"] });
  assert.deepEqual(shown(causes), ['status.phase: Unsupported value: "Down": supported values: "Up"']);
});

const messy: Json = {
  apiVersion: "v1",
  kind: "X",
  metadata: { name: "x", typo: 1, labels: { any: "label" }, ownerReferences: [{ name: "o", typo: 1 }] },
  typo: 1,
  spec: {
    size: 1,
    typo: 1,
    weight: { any: 1 },
    endpoints: [{ dnsName: "a", typo: 1 }],
    anything: { free: { x: 1 }, known: { a: "x", typo: 1 } },
    template: { apiVersion: "v1", kind: "Y", metadata: { name: "y", typo: 1 }, free: 1 },
  },
};

test("unknown fields are told by their paths", () => {
  assert.deepEqual(compiled.unknownFields(messy), [
    "metadata.typo",
    "metadata.ownerReferences[0].typo",
    "typo",
    "spec.typo",
    "spec.endpoints[0].typo",
    "spec.anything.known.typo",
    "spec.template.metadata.typo",
  ]);
});

test("pruning drops exactly the unknown fields and copies nothing else", () => {
  const pruned = compiled.prune(messy);
  assert.deepEqual(compiled.unknownFields(pruned), []);
  assert.equal(JSON.stringify(pruned).includes("typo"), false);
  assert.equal(compiled.prune(pruned), pruned);
});

test("fields named like what objects inherit are unknown like any other", () => {
  const value = JSON.parse('{"spec":{"__proto__":{"x":1},"constructor":1,"toString":2}}') as Json;
  assert.deepEqual(compiled.unknownFields(value), ["spec.__proto__", "spec.constructor", "spec.toString"]);
  assert.equal(JSON.stringify(compiled.prune(value)), '{"spec":{}}');
});

const defaulting = compileSchema({
  type: "object",
  properties: {
    spec: {
      type: "object",
      default: {},
      properties: {
        mode: { type: "string", default: "auto" },
        nothing: { type: "string", nullable: true, default: "x" },
        plain: { type: "string" },
        list: {
          type: "array",
          items: { type: "object", properties: { ttl: { type: "integer", default: 30 } } },
        },
        map: {
          type: "object",
          additionalProperties: { type: "object", properties: { on: { type: "boolean", default: true } } },
        },
        free: { "x-kubernetes-preserve-unknown-fields": true },
        deep: { type: "object", properties: { leaf: { type: "string", default: "y" } } },
      },
    },
  },
});

const defaults: readonly [value: Json, result: Json][] = [
  [{}, { spec: { mode: "auto", nothing: "x" } }],
  [{ spec: { mode: "own", nothing: null } }, { spec: { mode: "own", nothing: null } }],
  [{ spec: { mode: null, plain: null, nothing: "n" } }, { spec: { mode: "auto", nothing: "n" } }],
  [
    { spec: { mode: "m", nothing: "n", list: [{}, { ttl: 1 }] } },
    { spec: { mode: "m", nothing: "n", list: [{ ttl: 30 }, { ttl: 1 }] } },
  ],
  [
    { spec: { mode: "m", nothing: "n", map: { a: {}, b: { on: false } } } },
    { spec: { mode: "m", nothing: "n", map: { a: { on: true }, b: { on: false } } } },
  ],
  [{ spec: { mode: "m", nothing: "n", free: null } }, { spec: { mode: "m", nothing: "n", free: null } }],
  [
    { spec: { mode: "m", nothing: "n", deep: {} } },
    { spec: { mode: "m", nothing: "n", deep: { leaf: "y" } } },
  ],
];

for (const [value, result] of defaults) {
  test(`${JSON.stringify(value)} with defaults`, () => {
    const before = structuredClone(value);
    assert.deepEqual(defaulting.applyDefaults(value), result);
    assert.deepEqual(value, before);
  });
}

const objects = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<Json>(null, 1, "x", true),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        "spec",
        "mode",
        "nothing",
        "list",
        "map",
        "ttl",
        "on",
        "free",
        "metadata",
        "name",
        "zzz",
      ),
      tie("value"),
      { maxKeys: 4 },
    ),
  ),
})).value;

test("pruning and defaulting twice is doing it once, and pruning commutes with defaulting", () => {
  fc.assert(
    fc.property(objects, (value) => {
      const pruned = defaulting.prune(value);
      assert.equal(defaulting.prune(pruned), pruned);
      const complete = defaulting.applyDefaults(value);
      assert.equal(defaulting.applyDefaults(complete), complete);
      assert.ok(deepEqual(defaulting.prune(complete), defaulting.applyDefaults(pruned)));
    }),
  );
});

test("any value is checked without a crash", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => void compiled.validate(value as Json)));
});

test("comparing a long list with the old one reads each item of the old one a few times", () => {
  const names = Array.from({ length: 300 }, (_, index) => `${index}.example.com`);
  const { items, reads } = countedItems("dnsName", names);
  const longer = [...names, "more.example.com"].map((dnsName) => ({ dnsName }));
  const compiled = compileSchema(endpoints);
  assert.deepEqual(compiled.validate(longer, items), []);
  assert.ok(reads() <= 20 * names.length, `${reads()} reads of ${names.length} items`);
});
