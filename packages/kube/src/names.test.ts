import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  generatedName,
  utf8Length,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateFinalizerName,
  validateLabelValue,
  validatePathSegmentName,
  validateQualifiedName,
  validateWildcardDns1123Subdomain,
} from "./names.ts";

const cases: readonly [
  rule: (text: string) => string[],
  valid: readonly string[],
  invalid: readonly string[],
][] = [
  [
    validateDns1123Label,
    ["a", "a-b", "1a", "a".repeat(63)],
    ["", "A", "-a", "a-", "a.b", "a".repeat(64), "a_b", "ä"],
  ],
  [validateDns1123Subdomain, ["a", "a.b-c.d1"], ["", "a..b", ".a", "a.", "A.b", "a".repeat(254)]],
  [validateDns1035Label, ["a", "a-1"], ["1a", "a.b", ""]],
  [validateWildcardDns1123Subdomain, ["*.a.com"], ["*", "*.*.a", "a.com", "*a.com"]],
  [validateQualifiedName, ["a", "k8gb.io/Host_1", "A.b-c"], ["", "/a", "a/", "a/b/c", "-a", "a b", "A.io/x"]],
  [validateLabelValue, ["", "a", "A.b_c-1"], ["-a", "a/b", "a".repeat(64), " "]],
  [
    validateFinalizerName,
    ["k8gb.io/cleanup", "orphan", "foregroundDeletion", "kubernetes"],
    ["cleanup", "a b"],
  ],
  [validatePathSegmentName, ["a:b", "A B"], [".", "..", "a/b", "a%b"]],
];

for (const [rule, valid, invalid] of cases) {
  for (const text of valid) test(`${rule.name} takes "${text}"`, () => assert.deepEqual(rule(text), []));
  for (const text of invalid) test(`${rule.name} refuses "${text}"`, () => assert.ok(rule(text).length > 0));
}

test("texts are those of kube-apiserver", () => {
  assert.deepEqual(validateDns1123Label("Web"), [
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ]);
  assert.deepEqual(validateDns1123Label("a.b"), ["must not contain dots"]);
  assert.deepEqual(validateDns1123Label("a".repeat(64)), ["must be no more than 63 bytes"]);
});

test("a generated name keeps the prefix and is never longer than a label", () => {
  assert.equal(
    generatedName("web-", () => 0),
    "web-bbbbb",
  );
  assert.equal(
    generatedName("web-", () => 0.9999),
    "web-99999",
  );
  assert.equal(generatedName("p".repeat(80), () => 0).length, 63);
});

test("the length in UTF-8 is that of the encoder", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.equal(utf8Length(text), Buffer.byteLength(text));
    }),
  );
});
