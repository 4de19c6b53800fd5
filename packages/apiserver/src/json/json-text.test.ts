import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeJson, decodeTrustedJson, encodeJson, JsonTextError } from "./json-text.ts";

test("decoding agrees with the platform on everything that both accept", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const text = JSON.stringify(value);
      if (text.includes("__proto__") || /\d{16}/.test(text)) return;
      assert.deepEqual(decodeJson(text).value, JSON.parse(text));
    }),
  );
});

test("any text decodes or throws its own error", () => {
  const fragments = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    '"a"',
    "1",
    "-",
    ".5",
    "e9",
    "true",
    "nul",
    " ",
    "\\u12",
    "\u0000",
  );
  fc.assert(
    fc.property(fc.array(fragments, { maxLength: 12 }), (parts) => {
      const text = parts.join("");
      let expected: unknown;
      let valid = true;
      try {
        expected = JSON.parse(text);
      } catch {
        valid = false;
      }
      if (valid) assert.deepEqual(decodeJson(text).value, expected);
      else assert.throws(() => decodeJson(text), JsonTextError);
    }),
  );
});

test("texts are never mistaken for marked integers", () => {
  const tricky = fc
    .array(fc.constantFrom("\u0001", "int:", "text:", "5", '"', "\\"), { maxLength: 6 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(tricky, tricky, (key, content) => {
      const value = { big: 2n ** 60n, [`k${key}`]: content };
      assert.deepEqual(decodeJson(encodeJson(value)).value, value);
    }),
  );
});

test("64-bit integers come back as they went", () => {
  for (const integer of ["9007199254740993", "-9223372036854775808", "9223372036854775807"]) {
    const text = `{"a":[${integer}]}`;
    assert.equal(encodeJson(decodeJson(text).value), text);
    assert.equal(encodeJson(decodeTrustedJson(text)), text);
  }
  assert.equal(encodeJson(decodeJson('{"a":12345678901234567890123}').value), '{"a":1.2345678901234568e+22}');
  assert.equal(
    encodeJson({ text: "\u0001int:5", big: 9007199254740993n }),
    '{"text":"\\u0001int:5","big":9007199254740993}',
  );
});

const refused: readonly (readonly [string, string])[] = [
  ["nesting without end", "[".repeat(300)],
  ["a key that changes prototypes", '{"\\u005f_proto__":1}'],
  ["numbers without end", "1e999"],
  ["control characters in a string", '"\n"'],
  ["text after the value", "{} {}"],
];
for (const [name, text] of refused) {
  test(`${name} is refused`, () => {
    assert.throws(() => decodeJson(text), JsonTextError);
  });
}

test("duplicates are named by their path, and the last one counts", () => {
  const { duplicates, value } = decodeJson('{"a":{"b":1,"b":2},"c":[{"d":1,"d":1}]}');
  assert.deepEqual(duplicates, ["a.b", "c[0].d"]);
  assert.deepEqual(value, { a: { b: 2 }, c: [{ d: 1 }] });
});
