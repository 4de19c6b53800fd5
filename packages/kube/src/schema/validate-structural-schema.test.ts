import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { StructuralSchema } from "./structural-schema.ts";
import { validateStructuralSchema } from "./validate-structural-schema.ts";

const object = (properties: Record<string, unknown>, more: Record<string, unknown> = {}): unknown => ({
  type: "object",
  properties,
  ...more,
});

const faults: readonly [name: string, schema: unknown, expected: string][] = [
  ["no type at the root", {}, "s.type: Required value: must not be empty at the root"],
  [
    "a list at the root",
    { type: "array", items: { type: "string" } },
    's.type: Invalid value: "array": must be object at the root',
  ],
  [
    "a field without type",
    object({ a: {} }),
    "s.properties[a].type: Required value: must not be empty for specified object fields",
  ],
  [
    "items without type",
    object({ a: { type: "array", items: {} } }),
    "s.properties[a].items.type: Required value: must not be empty for specified array items",
  ],
  [
    "a list without items",
    object({ a: { type: "array" } }),
    "s.properties[a].items: Required value: must be specified",
  ],
  [
    "an unknown type",
    object({ a: { type: "text" } }),
    's.properties[a].type: Unsupported value: "text": supported values: "object", "array", "string", "integer", "number", "boolean"',
  ],
  [
    "a reference",
    object({ a: { type: "object", $ref: "#/x" } }),
    "s.properties[a].$ref: Forbidden: $ref is not supported",
  ],
  [
    "uniqueItems",
    object({ a: { type: "array", uniqueItems: true, items: { type: "string" } } }),
    "s.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
  ],
  [
    "additionalProperties at the root",
    { type: "object", additionalProperties: { type: "string" } },
    "s.additionalProperties: Forbidden: must not be used at the root",
  ],
  [
    "additionalProperties: false",
    object({ a: { type: "object", additionalProperties: false } }),
    "s.properties[a].additionalProperties: Forbidden: additionalProperties cannot be set to false",
  ],
  [
    "additionalProperties beside properties",
    object({ a: object({ b: { type: "string" } }, { additionalProperties: { type: "string" } }) }),
    "s.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
  ],
  [
    "a bad pattern",
    object({ a: { type: "string", pattern: "(" } }),
    's.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
  ],
  [
    "a look-ahead",
    object({ a: { type: "string", pattern: "(?=x)" } }),
    's.properties[a].pattern: Invalid value: "(?=x)": must be a valid regular expression, but isn\'t: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
  ],
  [
    "a type inside anyOf",
    object({ a: { type: "string", anyOf: [{ type: "string" }] } }),
    "s.properties[a].anyOf[0].type: Forbidden: must be empty to be structural",
  ],
  [
    "a field only inside oneOf",
    object({ a: object({}, { oneOf: [{ required: ["b"], properties: { b: { minimum: 1 } } }] }) }),
    "s.properties[a].properties[b]: Required value: because it is defined in s.properties[a].oneOf[0].properties[b]",
  ],
  [
    "a default inside allOf",
    object({ a: { type: "string", allOf: [{ default: "x" }] } }),
    "s.properties[a].allOf[0].default: Forbidden: must be undefined to be structural",
  ],
  [
    "more than names in metadata",
    object({ metadata: object({ labels: { type: "object" } }) }),
    "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified",
  ],
  [
    "a default in metadata",
    object({ metadata: object({ name: { type: "string", default: "x" } }) }),
    "s.properties[metadata].default: Forbidden: must not be set in top-level metadata",
  ],
  [
    "a default of the wrong type",
    object({ a: { type: "integer", default: "x" } }),
    's.properties[a].default: Invalid value: "string": s.properties[a].default in body must be of type integer: "string"',
  ],
  [
    "a default with unknown fields",
    object({ a: object({ b: { type: "string" } }, { default: { c: 1 } }) }),
    's.properties[a].default: Invalid value: {"c":1}: must not have unknown fields',
  ],
  [
    "a default out of range",
    object({ a: object({ b: { type: "integer", minimum: 5 } }, { default: { b: 1 } }) }),
    "s.properties[a].default.b: Invalid value: 1: s.properties[a].default.b in body should be greater than or equal to 5",
  ],
  [
    "a list type on an object",
    object({ a: { type: "object", "x-kubernetes-list-type": "set" } }),
    's.properties[a].type: Invalid value: "object": must be array if x-kubernetes-list-type is specified',
  ],
  [
    "an unknown list type",
    object({ a: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "bag" } }),
    's.properties[a].x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"',
  ],
  [
    "a list map without keys",
    object({ a: { type: "array", "x-kubernetes-list-type": "map", items: object({}) } }),
    "s.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
  ],
  [
    "a list map key that is optional",
    object({
      a: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        items: object({ k: { type: "string" } }),
      },
    }),
    "s.properties[a].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
  ],
  [
    "a set of mergeable objects",
    object({ a: { type: "array", "x-kubernetes-list-type": "set", items: object({}) } }),
    's.properties[a].items.x-kubernetes-map-type: Invalid value: "": must be atomic as item of a list with x-kubernetes-list-type=set',
  ],
  [
    "an embedded resource without fields",
    object({ a: { type: "object", "x-kubernetes-embedded-resource": true } }),
    "s.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
  ],
  [
    "a rule without text",
    object({ a: { type: "string", "x-kubernetes-validations": [{ rule: " " }] } }),
    "s.properties[a].x-kubernetes-validations[0].rule: Required value: rule is not specified",
  ],
  [
    "a rule that does not parse",
    object({ a: { type: "string", "x-kubernetes-validations": [{ rule: "self ==" }] } }),
    's.properties[a].x-kubernetes-validations[0].rule: Invalid value: "self ==": compilation failed: Unexpected token: EOF',
  ],
  [
    "a rule on a field that does not exist",
    object({
      a: object({ b: { type: "string" } }, { "x-kubernetes-validations": [{ rule: "self.c == ''" }] }),
    }),
    "s.properties[a].x-kubernetes-validations[0].rule: Invalid value: \"self.c == ''\": compilation failed: No such key: c",
  ],
  [
    "a rule that compares types",
    object({ a: { type: "string", "x-kubernetes-validations": [{ rule: "self == 1" }] } }),
    's.properties[a].x-kubernetes-validations[0].rule: Invalid value: "self == 1": compilation failed: no such overload: string == int',
  ],
  [
    "a rule that is no bool",
    object({ a: { type: "string", "x-kubernetes-validations": [{ rule: "self" }] } }),
    's.properties[a].x-kubernetes-validations[0].rule: Invalid value: "self": cel expression must evaluate to a bool',
  ],
  [
    "a message with line breaks",
    object({ a: { type: "string", "x-kubernetes-validations": [{ rule: "true", message: "a\nb" }] } }),
    's.properties[a].x-kubernetes-validations[0].message: Invalid value: "a\\nb": message must not contain line breaks',
  ],
  [
    "a field path to nothing",
    object({ a: object({}, { "x-kubernetes-validations": [{ rule: "true", fieldPath: ".b" }] }) }),
    's.properties[a].x-kubernetes-validations[0].fieldPath: Invalid value: ".b": fieldPath must be a valid path: does not refer to a valid field',
  ],
  [
    "a transition rule in an atomic list",
    object({
      a: {
        type: "array",
        items: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf" }] },
      },
    }),
    's.properties[a].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within s.properties[a].items',
  ],
  [
    "a malformed keyword",
    object({ a: { type: "string", maxLength: "5" } }),
    's.properties[a].maxLength: Invalid value: "string": must be of type non-negative integer',
  ],
  [
    "properties that are no object",
    { type: "object", properties: [] },
    's.properties: Invalid value: "array": must be of type object',
  ],
];

for (const [name, schema, expected] of faults) {
  test(`${name} is no structural schema`, () => {
    const causes = validateStructuralSchema(schema as StructuralSchema, "s");
    assert.deepEqual(
      causes.map(({ field, message }) => `${field}: ${message}`),
      [expected],
    );
  });
}

const sound: readonly [name: string, schema: unknown][] = [
  ["an empty object", { type: "object" }],
  ["free content", object({ a: { "x-kubernetes-preserve-unknown-fields": true } })],
  [
    "int-or-string with its idiom",
    object({ a: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] } }),
  ],
  [
    "int-or-string with its idiom in allOf",
    object({
      a: {
        "x-kubernetes-int-or-string": true,
        allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { pattern: "x" }],
      },
    }),
  ],
  [
    "a narrowed name",
    object({ metadata: { type: "object", properties: { name: { type: "string", maxLength: 5 } } } }),
  ],
  [
    "junctors over specified fields",
    object({
      a: object(
        { b: { type: "string" } },
        { oneOf: [{ required: ["b"] }, { not: { properties: { b: { pattern: "x" } } } }] },
      ),
    }),
  ],
];

for (const [name, schema] of sound) {
  test(`${name} is a structural schema`, () => {
    assert.deepEqual(validateStructuralSchema(schema as StructuralSchema, "s"), []);
  });
}

test("a schema nested beyond the limit is refused", () => {
  let schema: unknown = { type: "string" };
  for (let depth = 0; depth < 200; depth++) schema = object({ a: schema });
  const [cause] = validateStructuralSchema(schema as StructuralSchema, "s");
  assert.match(cause?.message ?? "", /must not be nested deeper than/);
});

test("any value is checked without a crash", () => {
  const keyword = fc.constantFrom(
    "type",
    "properties",
    "items",
    "anyOf",
    "not",
    "pattern",
    "default",
    "x-kubernetes-validations",
    "x-kubernetes-list-type",
    "required",
    "a",
  );
  const anything = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(null, 1, "object", "array", "string", true, [], "("),
      fc.array(tie("value"), { maxLength: 2 }),
      fc.dictionary(keyword, tie("value"), { maxKeys: 5 }),
    ),
  })).value;
  fc.assert(
    fc.property(anything, (schema) => void validateStructuralSchema(schema as StructuralSchema, "s")),
  );
});
