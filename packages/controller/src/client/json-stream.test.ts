import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ControllerErrorCode } from "../controller-error.ts";
import { decodeJsonStream } from "./json-stream.ts";

async function* chunksOf(octets: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const cut of [...new Set(cuts)].sort((a, b) => a - b)) {
    if (cut <= from || cut >= octets.length) continue;
    // A reader may reuse its buffer as soon as the next chunk is asked for.
    const buffer = octets.slice(from, cut);
    yield buffer;
    buffer.fill(0x7b);
    from = cut;
  }
  yield octets.slice(from);
}

async function decode(
  text: string,
  cuts: readonly number[] = [],
  documentBytesMax?: number,
): Promise<unknown[]> {
  const documents: unknown[] = [];
  const options = documentBytesMax === undefined ? {} : { documentBytesMax };
  for await (const document of decodeJsonStream(chunksOf(new TextEncoder().encode(text), cuts), options)) {
    documents.push(document);
  }
  return documents;
}

test("documents cut at any octet, also inside a character, come out whole and in order", async () => {
  const documents = [{ a: 'ü€😀"\\' }, { nested: [{ b: "}{][" }, []] }, {}, { "": "\\\\" }];
  for (const gap of ["", "\n", " \r\n\t"]) {
    const text = documents.map((document) => JSON.stringify(document)).join(gap);
    const { length } = new TextEncoder().encode(text);
    for (let cut = 0; cut <= length; cut++) assert.deepEqual(await decode(text, [cut]), documents);
    assert.deepEqual(
      await decode(
        text,
        Array.from({ length }, (_, index) => index),
      ),
      documents,
    );
  }
});

test("any objects survive any cuts", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.dictionary(
          fc.string({ unit: "binary" }),
          fc.json().map((text) => JSON.parse(text)),
        ),
      ),
      fc.array(fc.nat(400)),
      async (documents, cuts) => {
        const texts = documents.map((document) => JSON.stringify(document));
        assert.deepEqual(
          await decode(texts.join("\n"), cuts),
          texts.map((text) => JSON.parse(text)),
        );
      },
    ),
    { numRuns: 200 },
  );
});

const failures: readonly (readonly [string, string, ControllerErrorCode])[] = [
  ["a stream that ends inside a document", '{"a":1}{"b":', "TruncatedResponse"],
  ["a stream that ends inside a string", '{"a":"}', "TruncatedResponse"],
  ["something else between documents", '{"a":1},{"b":2}', "MalformedResponse"],
  ["an array instead of objects", "[1]", "MalformedResponse"],
  ["a web page", "<html></html>", "MalformedResponse"],
  ["a document that only looks like one", '{"a":nope}', "MalformedResponse"],
  ["a control character in a text", '{"a":"\u0000"}', "MalformedResponse"],
  ["a document over the limit", `{"a":"${"x".repeat(200)}"}`, "ResponseTooLarge"],
];
for (const [name, text, code] of failures) {
  test(`${name} is ${code}`, async () => {
    await assert.rejects(decode(text, [3, 5], 100), { code });
  });
}

test("what came before a fault is delivered, also from the same chunk", async () => {
  const stream = decodeJsonStream(chunksOf(new TextEncoder().encode('{"a":1}{"b":2} oops'), []));
  assert.deepEqual([(await stream.next()).value, (await stream.next()).value], [{ a: 1 }, { b: 2 }]);
  await assert.rejects(stream.next(), { code: "MalformedResponse" });
});

test("what came before a broken end is delivered", async () => {
  const seen: unknown[] = [];
  const reading = async (): Promise<void> => {
    for await (const document of decodeJsonStream(chunksOf(new TextEncoder().encode('{"a":1}{"b'), [])))
      seen.push(document);
  };
  await assert.rejects(reading(), { code: "TruncatedResponse" });
  assert.deepEqual(seen, [{ a: 1 }]);
});

test("octets that are no UTF-8 are MalformedResponse", async () => {
  const octets = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
  await assert.rejects(decodeJsonStream(chunksOf(octets, [])).next(), { code: "MalformedResponse" });
});
