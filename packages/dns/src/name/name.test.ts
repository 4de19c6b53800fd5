import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { DnsError } from "../dns-error.ts";
import { LookupName } from "./lookup-name.ts";
import {
  countLabels,
  equalNames,
  foldName,
  foldNameText,
  isAtOrBelow,
  nameFromText,
  nameToText,
  parentName,
} from "./name.ts";

const octets = (...values: (number | string)[]): Uint8Array =>
  Uint8Array.from(
    values.flatMap((value) =>
      typeof value === "number" ? [value] : Array.from(value, (c) => c.charCodeAt(0)),
    ),
  );

const forms: readonly (readonly [text: string, wire: Uint8Array, out?: string])[] = [
  [".", octets(0)],
  ["example", octets(7, "example", 0)],
  ["www.Example.com.", octets(3, "www", 7, "Example", 3, "com", 0), "www.Example.com"],
  ["a\\.b.c", octets(3, "a.b", 1, "c", 0)],
  ["a\\000\\255.c", octets(3, "a", 0, 255, 1, "c", 0)],
  ["\\@.c", octets(1, "@", 1, "c", 0)],
  ["*.c", octets(1, "*", 1, "c", 0)],
  ["\\097", octets(1, "a", 0), "a"],
];
for (const [text, wire, out] of forms) {
  test(`${text} is read and written`, () => {
    assert.deepEqual(nameFromText(text), wire);
    assert.equal(nameToText(wire), out ?? text);
  });
}

test("relative names get the origin, absolute ones and names with an escaped final dot are told apart", () => {
  const origin = nameFromText("example.com");
  assert.equal(nameToText(nameFromText("www", origin)), "www.example.com");
  assert.equal(nameToText(nameFromText("www.", origin)), "www");
  assert.equal(nameToText(nameFromText("www\\.", origin)), "www\\..example.com");
  assert.equal(nameFromText("@", origin), origin);
  assert.equal(nameToText(nameFromText(".", origin)), ".");
});

const longest = [63, 63, 63, 61].map((length) => "x".repeat(length)).join(".");
test("255 octets are a name, 256 are not; 63 a label, 64 not", () => {
  assert.equal(nameFromText(longest).length, 255);
  assert.throws(() => nameFromText(`${longest}x`), { code: "BadName" });
  assert.throws(() => nameFromText("x".repeat(64)), { code: "BadName" });
  assert.throws(() => nameFromText("a", nameFromText(longest)), { code: "BadName" });
});

for (const text of ["", ".a", "a..b", "a b", "ä", "a\\25", "a\\256", "a\\"]) {
  test(`${JSON.stringify(text)} is no name`, () => {
    assert.throws(() => nameFromText(text), { code: "BadName" });
  });
}

test("only A to Z fold; octets beyond ASCII do not", () => {
  assert.equal(foldNameText("AZ[\\192\\222.C."), "az[\\192\\222.c");
  assert.ok(equalNames(nameFromText("a.B"), nameFromText("A.b")));
  assert.ok(!equalNames(nameFromText("\\192"), nameFromText("\\224")));
  assert.ok(!equalNames(nameFromText("@"), nameFromText("`")));
});

test("below means whole labels", () => {
  const origin = nameFromText("cloud.example.com");
  assert.ok(isAtOrBelow(nameFromText("a.CLOUD.example.com"), origin));
  assert.ok(isAtOrBelow(origin, origin));
  assert.ok(!isAtOrBelow(nameFromText("mycloud.example.com"), origin));
  assert.ok(!isAtOrBelow(nameFromText("example.com"), origin));
  assert.ok(!isAtOrBelow(nameFromText("x\\005cloud.example.com"), origin));
  assert.ok(isAtOrBelow(origin, nameFromText(".")));
});

test("labels and parents", () => {
  assert.equal(countLabels(nameFromText("a.b.c")), 3);
  assert.equal(nameToText(parentName(nameFromText("a.b.c"))!), "b.c");
  assert.equal(parentName(nameFromText(".")), undefined);
});

test("property: any labels survive text and back; any text gives a name or a DnsError", () => {
  const label = fc.uint8Array({ minLength: 1, maxLength: 63 });
  fc.assert(
    fc.property(fc.array(label, { maxLength: 3 }), (labels) => {
      const wire = Uint8Array.from([...labels.flatMap((part) => [part.length, ...part]), 0]);
      assert.deepEqual(nameFromText(nameToText(wire)), wire);
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      try {
        nameFromText(text);
      } catch (error) {
        if (!(error instanceof DnsError)) throw error;
      }
    }),
  );
});

test("property: a lookup name's suffixes hash like the same names alone", () => {
  const label = fc.uint8Array({ minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 6 }), fc.integer(), (labels, seed) => {
      const wire = Uint8Array.from([...labels.flatMap((part) => [part.length, ...part]), 0]);
      const whole = new LookupName(seed | 0);
      whole.set(wire);
      assert.equal(whole.labels, labels.length);
      assert.deepEqual(whole.octets.subarray(0, whole.length), foldName(wire));
      for (let index = 0; index <= whole.labels; index++) {
        const alone = new LookupName(seed | 0);
        alone.set(wire.subarray(whole.starts[index]));
        assert.equal(alone.hashes[0], whole.hashes[index]);
      }
    }),
  );
});

test("property: a lookup name read four octets at once, from any place of a buffer, is that read one by one", () => {
  const label = fc.uint8Array({ minLength: 1, maxLength: 63 });
  fc.assert(
    fc.property(fc.array(label, { maxLength: 4 }), fc.nat(7), fc.nat(4), (labels, before, behind) => {
      const wire = Uint8Array.from([...labels.flatMap((part) => [part.length, ...part]), 0]);
      fc.pre(wire.length <= 255);
      const input = new Uint8Array(before + wire.length + behind).fill(0x5a);
      input.set(wire, before);
      const [once, often] = [new LookupName(1), new LookupName(1)];
      once.set(wire);
      const end = often.read(input, before, input.length, new DataView(input.buffer));
      assert.equal(end, before + wire.length);
      const { octets, hashes, length } = once;
      assert.deepEqual(often.octets.subarray(0, often.length), octets.subarray(0, length));
      assert.deepEqual(often.hashes.subarray(0, often.labels + 1), hashes.subarray(0, labels.length + 1));
      for (const start of once.starts.subarray(0, labels.length))
        assert.ok(often.isSuffixAt(start, wordsOf(octets.subarray(start, length)), 0));
    }),
  );
});

function wordsOf(octets: Uint8Array): Int32Array {
  const words = new Int32Array(64);
  new Uint8Array(words.buffer).set(octets);
  return words;
}
