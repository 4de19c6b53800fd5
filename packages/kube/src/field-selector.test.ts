import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatFieldSelector, matchesFields, parseFieldSelector } from "./field-selector.ts";

const parsed: readonly [text: string, requirements: readonly (readonly [string, string, string])[]][] = [
  ["", []],
  ["metadata.name=a", [["metadata.name", "=", "a"]]],
  ["metadata.name==a", [["metadata.name", "=", "a"]]],
  [
    "status.phase!=Running,spec.nodeName=",
    [
      ["status.phase", "!=", "Running"],
      ["spec.nodeName", "=", ""],
    ],
  ],
  ["a=x\\,y\\=z\\\\", [["a", "=", "x,y=z\\"]]],
  [
    "a=1,,b=2",
    [
      ["a", "=", "1"],
      ["b", "=", "2"],
    ],
  ],
];

for (const [text, requirements] of parsed) {
  test(`"${text}" parses`, () => {
    const { requirements: actual } = parseFieldSelector(text);
    assert.deepEqual(
      actual.map(({ field, operator, value }) => [field, operator, value]),
      requirements,
    );
  });
}

for (const text of ["a", "a=b=c", "a=b\\x", "a in (b)"]) {
  test(`"${text}" is refused with 400`, () => {
    assert.throws(() => parseFieldSelector(text), { name: "StatusError", code: 400 });
  });
}

test("an absent field counts as empty text", () => {
  const selector = parseFieldSelector("spec.nodeName=,status.phase!=Running");
  assert.equal(
    matchesFields(selector, () => undefined),
    true,
  );
  assert.equal(
    matchesFields(selector, (field) => (field === "status.phase" ? "Running" : undefined)),
    false,
  );
});

test("the text form reads back to the same selector", () => {
  const requirement = fc.record({
    field: fc.stringMatching(/^[a-z.]{1,10}$/),
    operator: fc.constantFrom("=" as const, "!=" as const),
    value: fc.string(),
  });
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 4 }), (drawn) => {
      const requirements = drawn.map((each) => ({ ...each }));
      assert.deepEqual(parseFieldSelector(formatFieldSelector({ requirements })), { requirements });
    }),
  );
});
