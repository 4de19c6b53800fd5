import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compileJsonPath } from "./json-path.ts";
import type { Json } from "./json.ts";
import { tableCell } from "./table-cell.ts";

const object: Json = {
  metadata: { name: "app", labels: { "app.kubernetes.io/name": "web" } },
  spec: { hosts: ["a.example.com", "b.example.com", "c.example.com"], weight: { eu: 60, us: 40 } },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Synced", status: "False", count: 3 },
    ],
  },
};

const cases: readonly [path: string, values: readonly Json[]][] = [
  [".metadata.name", ["app"]],
  ["$.metadata.name", ["app"]],
  ["{.metadata.name}", ["app"]],
  ["metadata.name", ["app"]],
  [".metadata['name']", ["app"]],
  [".metadata.labels['app.kubernetes.io/name']", ["web"]],
  [".metadata.labels.app\\.kubernetes\\.io/name", ["web"]],
  [".spec.hosts[0]", ["a.example.com"]],
  [".spec.hosts[-1]", ["c.example.com"]],
  [".spec.hosts[0,2]", ["a.example.com", "c.example.com"]],
  [".spec.hosts[1:]", ["b.example.com", "c.example.com"]],
  [".spec.hosts[:2]", ["a.example.com", "b.example.com"]],
  [".spec.hosts[0:3:2]", ["a.example.com", "c.example.com"]],
  [".spec.hosts[*]", ["a.example.com", "b.example.com", "c.example.com"]],
  [".spec.weight.*", [60, 40]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type == 'Synced')].status", ["False"]],
  [".status.conditions[?(@.count>2)].type", ["Synced"]],
  [".status.conditions[?(@.count)].type", ["Synced"]],
  ['.status.conditions[?(@.type!="Ready")].type', ["Synced"]],
  ["..type", ["Ready", "Synced"]],
  [".spec.missing.deep", []],
  [".spec.hosts.name", []],
  [".spec.hosts[7]", []],
  [".constructor", []],
];

for (const [path, values] of cases) {
  test(`${path} selects ${JSON.stringify(values)}`, () => {
    assert.deepEqual(compileJsonPath(path)(object), values);
  });
}

for (const path of [
  ".a[",
  ".a[x]",
  ".a[?(@.b==)]",
  ".a[?(@.b=='c']",
  ".a b",
  ".a.[",
  "." + "a".repeat(5000),
]) {
  test(`${path.slice(0, 20)} is refused with 400`, () => {
    assert.throws(() => compileJsonPath(path)(object), { name: "StatusError", code: 400 });
  });
}

test("a path that would visit too much is stopped", () => {
  const wide: Json = Array.from({ length: 1000 }, () => Array.from({ length: 200 }, () => 1));
  assert.throws(() => compileJsonPath("[*][*]")(wide), { code: 400 });
});

test("any text is parsed or refused with 400", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ab.[\]*?(@='"),:0\-1 $\\]*$/), (text) => {
      try {
        compileJsonPath(text)(object);
      } catch (error) {
        assert.equal((error as { code?: number }).code, 400);
      }
    }),
    { numRuns: 2000 },
  );
});

const now = Date.parse("2026-01-02T00:00:00Z");
const cells: readonly [type: string, value: Json, cell: Json][] = [
  ["string", "x", "x"],
  ["string", 3, "3"],
  ["string", true, "true"],
  ["string", ["a", 1], '["a",1]'],
  ["integer", 3, 3],
  ["integer", 3.7, 3],
  ["integer", "3", null],
  ["number", 3.5, 3.5],
  ["boolean", false, false],
  ["boolean", "false", null],
  ["date", "2026-01-01T23:55:00Z", "5m"],
  ["date", "2025-12-30T21:00:00Z", "2d3h"],
  ["date", "tomorrow", "<invalid>"],
  ["date", "2026-01-03T00:00:00Z", "<invalid>"],
  ["date", "", "<unknown>"],
];

for (const [type, value, cell] of cells) {
  test(`a ${type} column shows ${JSON.stringify(value)} as ${JSON.stringify(cell)}`, () => {
    assert.deepEqual(tableCell({ type, jsonPath: ".x" }, { x: value }, now), cell);
  });
}

test("a column whose path leads nowhere is null, and the first of several values counts", () => {
  assert.equal(tableCell({ type: "string", jsonPath: ".nothing" }, object, now), null);
  assert.equal(tableCell({ type: "string", jsonPath: ".spec.hosts[*]" }, object, now), "a.example.com");
});
