import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../json.ts";
import { compileSchema } from "../compile-schema.ts";
import type { StructuralSchema, ValidationRule } from "../structural-schema.ts";
import { validateStructuralSchema } from "../validate-structural-schema.ts";

const spec: StructuralSchema = {
  type: "object",
  properties: {
    replicas: { type: "integer" },
    max: { type: "integer" },
    ratio: { type: "number" },
    name: { type: "string" },
    on: { type: "boolean" },
    tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    weight: { type: "object", additionalProperties: { type: "integer" } },
    port: { "x-kubernetes-int-or-string": true },
    since: { type: "string", format: "date-time" },
    every: { type: "string", format: "duration" },
    data: { type: "string", format: "byte" },
    maybe: { type: "string", nullable: true },
    "dashed-name": { type: "string" },
    "dotted.name": { type: "string" },
    in: { type: "string" },
    sub: { type: "object", properties: { a: { type: "string" } } },
    items: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string" },
          port: { type: "integer" },
          tags: { type: "array", items: { type: "string" } },
        },
      },
    },
  },
};

const value: Json = {
  replicas: 3,
  max: 5,
  ratio: 1.5,
  name: "web",
  on: true,
  tags: ["a", "b"],
  weight: { eu: 60, us: 40 },
  port: 80,
  since: "2026-01-01T00:00:00Z",
  every: "1h30m",
  data: "YWJj",
  "dashed-name": "d",
  "dotted.name": "e",
  in: "f",
  sub: { a: "x" },
  items: [
    { name: "a", port: 1, tags: [] },
    { name: "b", port: 2, tags: ["x"] },
  ],
};

function schemaWith(...rules: readonly ValidationRule[]): StructuralSchema {
  return { type: "object", properties: { spec: { ...spec, "x-kubernetes-validations": rules } } };
}

function check(
  rule: string | ValidationRule,
  options: { readonly spec?: Json; readonly old?: Json } = {},
): string[] {
  const schema = schemaWith(typeof rule === "string" ? { rule } : rule);
  assert.deepEqual(validateStructuralSchema(schema, "schema"), []);
  const old = options.old === undefined ? undefined : { spec: options.old };
  const causes = compileSchema(schema).validate({ spec: options.spec ?? value }, old);
  return causes.map(({ field, message }) => `${field}: ${message}`);
}

/** Rules as real definitions have them. */
const holding: readonly string[] = [
  "self.replicas <= self.max",
  "self.replicas >= 0 && self.replicas < 100",
  "has(self.name) && !has(self.maybe)",
  "has(self.maybe) == false || self.maybe == 'x'",
  "(has(self.on) ? 1 : 0) + (has(self.maybe) ? 1 : 0) == 1",
  "has(self.items[0].port) && self.items.all(i, has(i.tags) || has(self.items[1].name))",
  "(self.items.size() > 1 ? (has(self.items[1].tags) ? self.items[1].tags.size() : 0) : 0) == 1",
  "!has({'a': {'b': 1}}.a.c) && has({'a': {'b': 1}}.a.b)",
  "self.ratio > 1 && self.ratio < 2.0",
  "self.name.startsWith('w') && self.name.size() == 3",
  "size(self.name) == 3 && size(self.tags) == 2 && size(self.weight) == 2",
  "self.name.matches('^[a-z]{3}$')",
  "matches(self.name, '^w')",
  "self.tags.all(t, t.size() == 1)",
  "self.tags.exists(t, t == 'b') && 'a' in self.tags",
  "self.tags.exists_one(t, t == 'b')",
  "self.weight.all(k, self.weight[k] >= 0)",
  "self.weight.eu == 60 && self.weight['us'] == 40 && 'eu' in self.weight",
  "self.items.all(i, i.port > 0 && i.port < 65536)",
  "self.items.all(x, self.items.exists_one(y, x.name == y.name))",
  "self.items.map(i, i.name) == ['a', 'b']",
  "self.items.filter(i, i.tags.size() > 0).size() == 1",
  "self.items.map(i, i.port).sum() == 3",
  "self.items.map(i, i.port).max() == 2 && self.tags.isSorted()",
  "self.tags.indexOf('b') == 1",
  "self.items[0] == self.items[0] && self.items[0] != self.items[1]",
  "self.items[0] in self.items",
  "self.sub.a == 'x' && self.sub == self.sub",
  "type(self.port) == int ? self.port < 65536 : self.port.matches('^[a-z]+$')",
  "self.since > timestamp('2025-01-01T00:00:00Z')",
  "self.every == duration('90m') && duration('1h') > duration('30m')",
  "self.data == b'abc'",
  "self.dashed__dash__name == 'd' && self.dotted__dot__name == 'e' && self.__in__ == 'f'",
  "self.?sub.?a.orValue('') == 'x'",
  "self.?maybe.hasValue() == false",
  "1 - (2 - 3) == 2 && 8 / (4 / 2) == 4",
  "'x'.replace('x', 'y') == 'y' && 'abc'.charAt(1) == 'b'",
  "'a1b22'.find('[0-9]+') == '1' && 'a1b22'.findAll('[0-9]+') == ['1', '22']",
  "'a,b'.split(',') == ['a', 'b'] && ['a', 'b'].join('-') == 'a-b'",
  "isURL('https://x.example.com:8443/a?b=c') && url('https://x.example.com:8443/a?b=c').getPort() == '8443'",
  "isIP('10.0.0.1') && ip('::1').family() == 6 && cidr('10.0.0.0/8').containsIP('10.1.2.3')",
  "isQuantity('1.5Gi') && quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('500m').compareTo(quantity('0.5')) == 0",
  "sets.contains(self.tags, ['a']) && sets.intersects(self.tags, ['b', 'z']) && sets.equivalent(['a', 'b'], self.tags)",
  "self.name == 'web' || self.replicas / 0 == 1",
  "string(self.replicas) == '3' && int('7') == 7 && double(self.replicas) == 3.0",
  "cel.bind(n, self.replicas, n * 2) == 6",
];

for (const rule of holding) test(`holds: ${rule}`, () => assert.deepEqual(check(rule), []));

test("a failed rule shows the type of objects and the value of scalars", () => {
  assert.deepEqual(check({ rule: "self.replicas > self.max", message: "too many" }), [
    'spec: Invalid value: "object": too many',
  ]);
  assert.deepEqual(check("self.replicas > self.max"), [
    'spec: Invalid value: "object": failed rule: self.replicas > self.max',
  ]);
});

test("a message expression speaks of the value, and a failing one gives way to the message", () => {
  const rule = { rule: "self.replicas > self.max", message: "fallback" };
  assert.deepEqual(check({ ...rule, messageExpression: "string(self.replicas) + ' is too few'" }), [
    "spec: Invalid value: 3 is too few",
  ]);
  assert.deepEqual(check({ ...rule, messageExpression: "self.maybe + ''" }), [
    'spec: Invalid value: "object": fallback',
  ]);
});

test("reason and field path are those of the rule", () => {
  const rule = { rule: "false", message: "no", fieldPath: ".sub.a" };
  assert.deepEqual(check({ ...rule, reason: "FieldValueForbidden" }), ["spec.sub.a: Forbidden: no"]);
  assert.deepEqual(check({ ...rule, reason: "FieldValueRequired" }), ["spec.sub.a: Required value: no"]);
});

test("transition rules run on updates only", () => {
  const rule = { rule: "self.replicas >= oldSelf.replicas", message: "may not shrink" };
  assert.deepEqual(check(rule), []);
  assert.deepEqual(check(rule, { spec: { replicas: 2 }, old: { replicas: 3 } }), [
    'spec: Invalid value: "object": may not shrink',
  ]);
  assert.deepEqual(check(rule, { spec: { replicas: 4 }, old: { replicas: 3 } }), []);
});

test("with optionalOldSelf a transition rule runs on creation too", () => {
  const rule = {
    rule: "oldSelf.hasValue() || self.replicas == 1",
    optionalOldSelf: true,
    message: "start with one",
  };
  assert.deepEqual(check(rule, { spec: { replicas: 2 } }), ['spec: Invalid value: "object": start with one']);
  assert.deepEqual(check(rule, { spec: { replicas: 2 }, old: { replicas: 1 } }), []);
});

test("a broken rule of an unchanged value is forgiven", () => {
  assert.deepEqual(check("self.replicas > 5", { spec: { replicas: 3 }, old: { replicas: 3 } }), []);
  assert.equal(check("self.replicas > 5", { spec: { replicas: 4 }, old: { replicas: 3 } }).length, 1);
});

test("items of a list map are compared with the old item of the same key", () => {
  const schema: StructuralSchema = structuredClone(schemaWith());
  const items = schema.properties?.["spec"]?.properties?.["items"]?.items as {
    "x-kubernetes-validations"?: ValidationRule[];
  };
  items["x-kubernetes-validations"] = [{ rule: "self.port == oldSelf.port", message: "port is immutable" }];
  assert.deepEqual(validateStructuralSchema(schema, "schema"), []);
  const { validate } = compileSchema(schema);
  const old = {
    spec: {
      items: [
        { name: "a", port: 1 },
        { name: "b", port: 2 },
      ],
    },
  };
  const moved = {
    spec: {
      items: [
        { name: "b", port: 2 },
        { name: "c", port: 9 },
        { name: "a", port: 7 },
      ],
    },
  };
  assert.deepEqual(
    validate(moved, old).map(({ field, message }) => `${field}: ${message}`),
    ['spec.items[2]: Invalid value: "object": port is immutable'],
  );
});

test("an error while a rule runs is told with the rule", () => {
  assert.deepEqual(check("self.maybe == 'x'"), [
    "spec: Invalid value: \"object\": No such key: maybe evaluating rule: self.maybe == 'x'",
  ]);
});

test("rules are skipped, and it is said, when the schema is broken already", () => {
  assert.deepEqual(check("false", { spec: { replicas: "x" } }), [
    'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
  ]);
});

test("the root sees the object's type and name", () => {
  const schema: StructuralSchema = {
    type: "object",
    properties: {},
    "x-kubernetes-validations": [
      { rule: "self.metadata.name.size() < 5 && self.kind == 'X'", message: "bad" },
    ],
  };
  assert.deepEqual(validateStructuralSchema(schema, "schema"), []);
  const { validate } = compileSchema(schema);
  assert.deepEqual(validate({ apiVersion: "v1", kind: "X", metadata: { name: "a" } }), []);
  assert.equal(validate({ apiVersion: "v1", kind: "X", metadata: { name: "abcdef" } }).length, 1);
});

/** Each of these would run for minutes or fill the memory if nothing stopped it. */
const expensive: readonly string[] = [
  "self.l.all(a, self.l.all(b, self.l.all(c, self.l.all(d, a + b + c + d >= 0))))",
  "self.l.exists(a, self.l.exists(b, self.l.exists(c, a + b + c < 0)))",
  "self.l.map(x, self.l + self.l).size() > 0",
  "self.l.all(x, self.l.map(y, self.s + self.s + self.s).size() > 0)",
  "self.l.all(x, self.l.all(y, self.l == self.l))",
  "self.l.all(x, self.s.matches('^(a+)+$'))",
  "self.l.all(x, !self.s.contains('b'))",
  [
    "cel.bind(a, self.l + self.l,",
    ..."abcdefghijklmnopqrst"
      .split("")
      .slice(0, -1)
      .map((c, i, all) => `cel.bind(${all[i + 1] ?? "z"}, ${c} + ${c},`),
    "true",
    ")".repeat(20),
  ].join(" "),
  "duration(self.digits) > duration('1s')",
];

for (const rule of expensive) {
  test(`is stopped: ${rule.slice(0, 70)}`, () => {
    const schema: StructuralSchema = {
      type: "object",
      properties: {
        l: { type: "array", items: { type: "integer" } },
        s: { type: "string" },
        digits: { type: "string" },
      },
      "x-kubernetes-validations": [{ rule }],
    };
    assert.deepEqual(validateStructuralSchema(schema, "schema"), []);
    const { validate } = compileSchema(schema, { root: "value" });
    const causes = validate({
      l: Array.from({ length: 3000 }, (_, index) => index),
      s: "a".repeat(20_000),
      digits: "1".repeat(200_000),
    });
    assert.match(causes[0]?.message ?? "", /cost|budget|invalid duration/);
  });
}

test("names of the meter cannot be called by a rule", () => {
  for (const rule of ["meteredRead(self.l) == self.l", "self.meteredSize == 1"]) {
    const schema: StructuralSchema = {
      type: "object",
      properties: { l: { type: "array", items: { type: "integer" } } },
      "x-kubernetes-validations": [{ rule }],
    };
    assert.equal(validateStructuralSchema(schema, "schema").length, 1);
  }
});

test("a small list is walked in a triple loop without complaint", () => {
  const rule = "self.tags.all(a, self.tags.all(b, self.tags.all(c, a + b + c != '')))";
  assert.deepEqual(check(rule, { spec: { tags: Array.from({ length: 30 }, (_, i) => `t${i}`) } }), []);
});
