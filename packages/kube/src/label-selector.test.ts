import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  formatLabelSelector,
  labelSelectorFromSpec,
  matchesLabels,
  parseLabelSelector,
} from "./label-selector.ts";
import type { LabelRequirement } from "./label-selector.ts";

const matching: readonly [selector: string, labels: Record<string, string>, matches: boolean][] = [
  ["", {}, true],
  ["a=b", { a: "b" }, true],
  ["a==b", { a: "b" }, true],
  ["a=b", { a: "c" }, false],
  ["a=b", {}, false],
  ["a!=b", { a: "b" }, false],
  ["a!=b", { a: "c" }, true],
  ["a!=b", {}, true],
  ["a in (b,c)", { a: "c" }, true],
  ["a in (b, c)", { a: "d" }, false],
  ["a notin (b,c)", {}, true],
  ["a notin (b,c)", { a: "b" }, false],
  ["a", { a: "" }, true],
  ["a", {}, false],
  ["!a", {}, true],
  ["! a", { a: "x" }, false],
  ["a>5", { a: "6" }, true],
  ["a>5", { a: "5" }, false],
  ["a<5", { a: "4" }, true],
  ["a<5", { a: "four" }, false],
  ["a=", { a: "" }, true],
  ["a=,b", { a: "", b: "x" }, true],
  ["a in ()", { a: "" }, true],
  ["a in (x,)", { a: "" }, true],
  ["in in (in)", { in: "in" }, true],
  ["notin", { notin: "1" }, true],
  ["k8gb.io/host=a.example.com,app!=x", { "k8gb.io/host": "a.example.com" }, true],
  ["a=b,a!=b", { a: "b" }, false],
  ["toString", {}, false],
];

for (const [selector, labels, matches] of matching) {
  test(`"${selector}" ${matches ? "selects" : "does not select"} ${JSON.stringify(labels)}`, () => {
    assert.equal(matchesLabels(parseLabelSelector(selector), labels), matches);
  });
}

const refused: readonly [selector: string, message: RegExp][] = [
  ["a=b,", /found '', expected: identifier after ','/],
  [",", /found ',', expected: !, identifier, or 'end of string'/],
  ["a in b", /found 'b', expected: '\('/],
  ["a in (b", /found '', expected: ',' or '\)'/],
  ["a ~ b", /found '~', expected: in, notin, =, ==, !=, gt, lt/],
  ["a=b=c", /found '=', expected: ',' or 'end of string'/],
  ["a>x", /the value must be an integer/],
  ["-a=b", /key: Invalid value: "-a": name part must consist of/],
  ["a=b_", /values\[0\]\[a\]: Invalid value: "b_": a valid label must be an empty string or/],
  ["!", /found '', expected: identifier/],
];

for (const [selector, message] of refused) {
  test(`"${selector}" is refused with 400`, () => {
    assert.throws(() => parseLabelSelector(selector), { name: "StatusError", code: 400, message });
  });
}

test("an absent selector spec selects nothing and an empty one everything", () => {
  assert.equal(matchesLabels(labelSelectorFromSpec(undefined), { a: "b" }), false);
  assert.equal(matchesLabels(labelSelectorFromSpec({}), { a: "b" }), true);
});

test("a selector spec means what its text form means", () => {
  const selector = labelSelectorFromSpec({
    matchLabels: { app: "web" },
    matchExpressions: [
      { key: "tier", operator: "NotIn", values: ["db", "cache"] },
      { key: "zone", operator: "Exists" },
      { key: "canary", operator: "DoesNotExist" },
    ],
  });
  assert.equal(formatLabelSelector(selector), "app=web,!canary,tier notin (cache,db),zone");
});

test("a selector spec with an unknown operator or without values is refused", () => {
  const unknown = { matchExpressions: [{ key: "a", operator: "Like", values: ["b"] }] };
  assert.throws(() => labelSelectorFromSpec(unknown), { code: 400, message: /Unsupported value: "Like"/ });
  const empty = { matchExpressions: [{ key: "a", operator: "In" }] };
  assert.throws(() => labelSelectorFromSpec(empty), { code: 400, message: /Required value/ });
});

const word = fc.stringMatching(/^[a-z]([-a-z0-9]{0,6}[a-z0-9])?$/);
const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({ key: word, operator: fc.constantFrom("=" as const, "!=" as const), values: fc.tuple(word) }),
  fc.record({
    key: word,
    operator: fc.constantFrom("in" as const, "notin" as const),
    values: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    key: word,
    operator: fc.constantFrom("exists" as const, "!" as const),
    values: fc.constant([]),
  }),
  fc.record({
    key: word,
    operator: fc.constantFrom(">" as const, "<" as const),
    values: fc.tuple(fc.nat(1000).map(String)),
  }),
);

test("the text form of a selector reads back to one that selects the same", () => {
  const labels = fc.dictionary(word, fc.oneof(word, fc.nat(1000).map(String)), { maxKeys: 4 });
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 4 }), labels, (requirements, object) => {
      const selector = { requirements };
      const again = parseLabelSelector(formatLabelSelector(selector));
      assert.equal(matchesLabels(again, object), matchesLabels(selector, object));
    }),
  );
});

test("any text parses or is refused with 400", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ab=!<>(), in\\\-_/.]*$/), (text) => {
      try {
        parseLabelSelector(text);
      } catch (error) {
        assert.equal((error as { code?: number }).code, 400);
      }
    }),
  );
});
