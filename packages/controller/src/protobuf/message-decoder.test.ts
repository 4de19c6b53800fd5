import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageDecoder } from "./message-decoder.ts";
import { SchemaSet } from "./message-schema.ts";
import { WireCursor } from "./wire-cursor.ts";

const schemas = new SchemaSet(`
v1 Thing demo/v1.Thing

demo/v1.Empty
demo/v1.Inner 1?text:string 2=always:string
demo/v1.Inlined 7?inlined:string 8=inlinedAlways:int
demo/v1.Thing 1?text:string 2=number:int 3*pointer:int 4!nullable:string 5?list:[]int 6=rows:[].Inner 9<:.Inlined 10?flags:{}bool 11?inners:{}.Inner 12=inner:.Inner 13?octets:{}bytes 14*port:IntOrString 15?at:Time 16*micro:MicroTime 17?sizes:{}Quantity 18*json:Json 19?lists:{}Strings 20?raw:bytes
`);

/** A field: a number and a text, a whole number, or the fields of a message. */
type Field = readonly [number, string | number | bigint | Uint8Array | readonly Field[]];

const varint = (value: bigint): number[] => {
  const octets: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 0x7fn; rest >>= 7n) octets.push(Number(rest & 0x7fn) | 0x80);
  return [...octets, Number(rest)];
};

function encoded(fields: readonly Field[]): number[] {
  return fields.flatMap(([number, value]) => {
    if (typeof value === "number" || typeof value === "bigint") {
      return [...varint(BigInt(number << 3)), ...varint(BigInt(value))];
    }
    const body =
      typeof value === "string"
        ? [...Buffer.from(value)]
        : value instanceof Uint8Array
          ? [...value]
          : encoded(value);
    return [...varint(BigInt((number << 3) | 2)), ...varint(BigInt(body.length)), ...body];
  });
}

function decode(fields: readonly Field[]): { readonly value: object; readonly unknownFields: number } {
  const octets = Buffer.from(encoded(fields));
  const cursor = new WireCursor();
  cursor.reset(octets, 0, octets.length);
  const schema = schemas.ofKind("v1", "Thing");
  assert.ok(schema !== undefined);
  return new MessageDecoder().decode(schema, cursor);
}

/** What JSON always shows. */
const bare = {
  ...{ number: 0, nullable: null, rows: null, inlinedAlways: 0, inner: { always: "" } },
};

const cases: Readonly<Record<string, { readonly fields: readonly Field[]; readonly value: object }>> = {
  "nothing on the wire": { fields: [], value: bare },
  "zeros of fields that are left out if they are empty": {
    fields: [
      [1, ""],
      [2, 0],
      [9, [[7, ""]]],
      [15, []],
    ],
    value: bare,
  },
  "zeros behind pointers": {
    fields: [
      [3, 0],
      [4, ""],
      [14, [[1, 0]]],
      [16, []],
    ],
    value: { ...bare, pointer: 0, nullable: "", port: 0, micro: null },
  },
  "whole numbers of either sign, to the precision of JSON": {
    fields: [
      [2, -1n],
      [3, 9_223_372_036_854_775_807n],
      [5, 1],
      [5, -70_000n],
      [5, 4_294_967_296n],
    ],
    value: {
      ...bare,
      number: -1,
      pointer: JSON.parse("9223372036854775807") as number,
      list: [1, -70_000, 4_294_967_296],
    },
  },
  "whole numbers that stand together behind one tag": {
    fields: [[5, new Uint8Array([1, 0x80, 1, 3])]],
    value: { ...bare, list: [1, 128, 3] },
  },
  "fields of a message within another": {
    fields: [[9, [[7, "in"]]]],
    value: { ...bare, inlined: "in" },
  },
  "maps without keys and values, and a key that means something else in JavaScript": {
    fields: [
      [10, []],
      [10, [[1, "a"], [2, 1]]], // prettier-ignore
      [11, [[1, "__proto__"]]],
      [11, [[1, "b"], [2, [[1, "x"]]]]], // prettier-ignore
      [13, [[1, "none"]]],
      [13, [[1, "some"], [2, new Uint8Array([0, 255])]]], // prettier-ignore
      [17, [[1, "cpu"], [2, [[1, "100m"]]]]], // prettier-ignore
      [19, [[1, "k"], [2, [[1, "x"], [1, ""]]]]], // prettier-ignore
    ],
    value: {
      ...bare,
      flags: { "": false, a: true },
      inners: JSON.parse(`{"__proto__":{"always":""},"b":{"text":"x","always":""}}`) as object,
      octets: { none: "", some: "AP8=" },
      sizes: { cpu: "100m" },
      lists: { k: ["x", ""] },
    },
  },
  "lists of messages": {
    fields: [
      [6, []],
      [6, [[1, "größer 🗼"]]],
    ],
    value: { ...bare, rows: [{ always: "" }, { text: "größer 🗼", always: "" }] },
  },
  "times, ports and JSON": {
    fields: [
      [14, [[1, 1], [2, 7], [3, "http"]]], // prettier-ignore
      [15, [[1, 1_767_225_600], [2, 5]]], // prettier-ignore
      [16, [[1, 1_767_225_600], [2, 120_000_999]]], // prettier-ignore
      [18, [[1, `{"f:a":{}}`]]],
      [20, new Uint8Array([255])],
    ],
    value: {
      ...bare,
      port: "http",
      at: "2026-01-01T00:00:00Z",
      micro: "2026-01-01T00:00:00.120000Z",
      json: { "f:a": {} },
      raw: "/w==",
    },
  },
};

for (const [name, { fields, value }] of Object.entries(cases)) {
  test(`decoding: ${name}`, () => assert.deepEqual(decode(fields), { value, unknownFields: 0 }));
}

test("decoding: an object in another says its kind", () => {
  const sets = new SchemaSet(`
demo/v1 Claim demo/v1.Claim
demo/v1 Set demo/v1.Set

demo/v1.Claim 1?name:string
demo/v1.Set 1?claims:[].Claim
`);
  const octets = Buffer.from(encoded([[1, [[1, "data"]]]]));
  const cursor = new WireCursor();
  cursor.reset(octets, 0, octets.length);
  const { value } = new MessageDecoder().decode(sets.message("demo/v1.Set"), cursor);
  assert.deepEqual(value, { claims: [{ kind: "Claim", apiVersion: "demo/v1", name: "data" }] });
});

test("fields that the schema does not know are left out and counted, in messages, too", () => {
  const decoded = decode([
    [1, "a"],
    [99, "new"],
    [12, [[98, 5]]],
    [6, [[97, []]]],
  ]);
  assert.deepEqual(decoded, {
    value: { ...bare, text: "a", rows: [{ always: "" }] },
    unknownFields: 3,
  });
});

const broken: Readonly<Record<string, readonly Field[]>> = {
  "a number where a text belongs": [[1, 5]],
  "a text where a number belongs": [[2, "five"]],
  "a text among messages": [[6, 5]],
  "a message where flags stand together": [[5, new Uint8Array([0x80])]],
  "what is not JSON": [[18, [[1, "{"]]]],
  "a time beyond all calendars": [[15, [[1, 9_000_000_000_000_000n]]]],
};

for (const [name, fields] of Object.entries(broken)) {
  test(`refused: ${name}`, () => assert.throws(() => decode(fields), { code: "MalformedResponse" }));
}
