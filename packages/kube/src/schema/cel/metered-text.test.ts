import assert from "node:assert/strict";
import { test } from "node:test";
import { Environment } from "@marcbachmann/cel-js";
import { meteredText } from "./metered-text.ts";

const env = new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: true });

const cases: readonly [written: string, metered: string][] = [
  ["self.hosts.all(h, h != '')", 'meteredWalk(self.hosts, 4).all(h, (meteredRead(h) != ""))'],
  ["a - (b - c)", "(a - (b - c))"],
  ["a - b - c", "((a - b) - c)"],
  ["a && b && c && d", "(a && b && c && d)"],
  ["a || (b && c)", "(a || (b && c))"],
  ["!(a && b)", "(!(a && b))"],
  ["has(self.x) ? self.x : 'y'", '(has(self.x) ? self.x : "y")'],
  ["has(self[0].a.b)", "cel.bind(meteredElement, self[0], has(meteredElement.a.b))"],
  ["self.s.matches('^a\\\\d$')", 'meteredRead(self.s).meteredMatches("^a\\u005cd$")'],
  ["sets.contains(self.a, ['x'])", 'sets.contains(meteredRead(self.a), meteredRead(["x"]))'],
  [
    "duration(self.d) > duration('1s')",
    '(meteredRead(meteredDuration(meteredRead(self.d))) > meteredRead(meteredDuration("1s")))',
  ],
  ["self.?a[?'k'].orValue(1.0)", 'self.?a[?"k"].orValue(1.0)'],
  ["{'a': 1, 'b': 2u}", '{"a": 1, "b": 2u}'],
  ["b'a\\x00' + b''", '(b"\\x61\\x00" + b"")'],
  ["-x * 2 % 3", "(((-x) * 2) % 3)"],
  ["'a\"b\\n'", '"a\\u0022b\\u000a"'],
  ["1e30 + 0.5", "(1e+30 + 0.5)"],
];

for (const [written, metered] of cases) {
  test(written, () => {
    const text = meteredText(env.parse(written).ast);
    assert.equal(text, metered);
  });
}

test("what is written anew means the same", () => {
  const expressions = [
    "1 - (2 - 3) == 2",
    "7 - 2 - 1 == 4",
    "2 * (3 + 4) == 14 && -2 * 3 == -6",
    "true || false && false",
    "(true || false) && false == false",
    "8 / (4 / 2) == 4 && 8 / 4 / 2 == 1",
    "[1, 2, 3].map(x, x > 1, x * 2) == [4, 6]",
    "'a\"\\\\b\\n\\u00e9' == 'a\"\\\\b\\n\u00e9'",
    "(1 < 2) == true ? 'x' == 'x' : false",
    "1e30 > 1.0 && 0.1 + 0.2 > 0.3",
  ];
  const metering = new Environment({ enableOptionalTypes: true });
  metering.registerFunction("meteredRead(A): A", (value: unknown) => value);
  metering.registerFunction("meteredWalk(list<A>, int): list<A>", (list: unknown) => list);
  for (const expression of expressions) {
    const text = meteredText(env.parse(expression).ast);
    assert.equal(metering.evaluate(text), env.evaluate(expression), expression);
  }
});
