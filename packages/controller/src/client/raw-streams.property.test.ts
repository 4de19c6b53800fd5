import assert from "node:assert/strict";
import { test } from "node:test";
import { objectKey } from "@meridian/kube";
import type { KubeObject } from "@meridian/kube";
import fc from "fast-check";
import { ContainerScanner } from "./container-scanner.ts";
import { documentStart } from "./json-stream.ts";
import { readListStream } from "./list-stream.ts";
import { jsonFormat } from "./object-format.ts";
import { ObjectReader } from "./object-reader.ts";
import { compactVersion } from "./object-reading.ts";
import type { ObjectReading } from "./object-reading.ts";
import { WatchEventReader } from "./watch-event-reader.ts";

const numRuns = Number(process.env["MERIDIAN_RUNS"] ?? 300);

/** Cuts octets anywhere; a reader may reuse its buffer as soon as the next chunk is asked for. */
async function* chunksOf(octets: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const cut of [...new Set(cuts)].sort((a, b) => a - b)) {
    if (cut <= from || cut >= octets.length) continue;
    const chunk = octets.slice(from, cut);
    yield chunk;
    chunk.fill(0x7b);
    from = cut;
  }
  yield octets.slice(from);
}

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom('"', "\\", '\\"', "}},{", '"items":[', "metadata", "é".repeat(40), "x".repeat(70)),
);
const value = fc.oneof(
  fc.json({ maxDepth: 3 }).map((json) => JSON.parse(json) as unknown),
  text,
  fc.constantFrom([{ metadata: { name: "inner", uid: "inner" } }], { items: [{}, {}] }, null, 1e300, true),
);
const fields = fc.dictionary(
  text.filter((key) => key !== "metadata" && key !== "kind" && key !== "__proto__"),
  value,
  { maxKeys: 4 },
);

/** Fields in any order: an API server may write them so. */
const shuffled = (object: object, order: readonly number[]): object => {
  const entries = Object.entries(object).map((entry, at) => [order[at % order.length] ?? 0, entry] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => a - b).map(([, entry]) => entry));
};

const named = fc
  .record({
    before: fields,
    after: fields,
    metadata: fc.record(
      {
        name: fc.oneof(
          fc.constantFrom("a", "b-1", "x".repeat(253)),
          text.filter((name) => name !== ""),
        ),
        namespace: fc.oneof(fc.constantFrom("n", "kube-system"), text),
        uid: fc.oneof(fc.uuid(), text),
        resourceVersion: fc.oneof(
          fc.nat().map(String),
          fc.constantFrom("0", "007", "12345678901234567890", "x"),
        ),
        labels: fields,
        managedFields: fc.array(fields, { maxLength: 2 }),
      },
      { requiredKeys: ["name"] },
    ),
    order: fc.array(fc.nat(9), { minLength: 1, maxLength: 9 }),
    apart: fc.boolean(),
  })
  .map(({ before, after, metadata, order, apart }): KubeObject => {
    const kinds = { apiVersion: "v1", kind: "Thing" };
    const object = { ...before, metadata: shuffled(metadata, order), ...after };
    return apart ? { ...object, ...kinds } : { ...kinds, ...object };
  });

const spacing = fc.constantFrom(undefined, 1, "\t", "\r\n ");
const cuts = fc.array(fc.nat(3000), { maxLength: 40 });

/** What is to be found in the octets of an object. */
function checkReading(reading: ObjectReading, object: KubeObject): void {
  const octets = reading.octets.subarray(reading.start, reading.end);
  assert.deepEqual(JSON.parse(octets.toString()), JSON.parse(JSON.stringify(object)));
  assert.equal(reading.format, jsonFormat(octets.every((octet) => octet < 0x80)));
  const { uid = "", resourceVersion = "" } = object.metadata;
  assert.equal(reading.key, objectKey(object.metadata));
  assert.equal(reading.version, compactVersion(resourceVersion));
  assert.equal(JSON.parse(`"${reading.octets.toString("utf8", reading.uidStart, reading.uidEnd)}"`), uid);
}

test("items of any list are found, whatever they hold, however the list is laid out, wherever it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(named, { maxLength: 5 }),
      fc.record({
        cuts,
        spacing,
        order: fc.array(fc.nat(9), { minLength: 1 }),
        frame: fields,
        none: fc.boolean(),
      }),
      async (objects, { cuts, spacing, order, frame, none }) => {
        const items = none && objects.length === 0 ? null : objects;
        const metadata = { resourceVersion: "7", continue: 'c"{[' };
        const { items: _, ...rest } = frame as { items?: unknown };
        const list = shuffled({ kind: "ThingList", ...rest, metadata, items }, order);
        const octets = Buffer.from(JSON.stringify(list, undefined, spacing));
        const reader = new ObjectReader({ namespaced: true });
        let at = 0;
        const found = await readListStream(chunksOf(octets, cuts), (span) => {
          checkReading(reader.read(span) as ObjectReading, objects[at++] as KubeObject);
        });
        assert.equal(at, objects.length);
        assert.deepEqual(found, metadata);
      },
    ),
    { numRuns },
  );
});

test("events of any watch are found, whatever they hold, however they are laid out, wherever they are cut", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          object: named,
          type: fc.constantFrom("ADDED", "MODIFIED", "DELETED"),
          turned: fc.boolean(),
          extra: fields,
        }),
        {
          maxLength: 5,
        },
      ),
      fc.record({ cuts, spacing }),
      async (events, { cuts, spacing }) => {
        const texts = events.map(({ object, type, turned, extra }) => {
          const { type: _, object: __, ...rest } = extra;
          const event = turned ? { object, ...rest, type } : { type, object };
          return JSON.stringify(event, undefined, spacing);
        });
        const reader = new WatchEventReader({ kind: "Thing", namespaced: true });
        let at = 0;
        const scanner = new ContainerScanner({
          containerBytesMax: 1e6,
          between: documentStart,
          onContainer: (span) => {
            const event = reader.read(span);
            const expected = events[at++];
            assert.ok(event !== undefined && "reading" in event);
            assert.equal(event.type, expected?.type);
            checkReading(event.reading, expected?.object as KubeObject);
          },
        });
        for await (const chunk of chunksOf(Buffer.from(texts.join("\n")), cuts)) scanner.push(chunk);
        scanner.finish();
        assert.equal(at, events.length);
      },
    ),
    { numRuns },
  );
});

test("what is no list is told from a list without items", async () => {
  const read = (json: string): Promise<unknown> =>
    readListStream(chunksOf(Buffer.from(json), []), () => assert.fail("there is no item"));
  for (const json of [
    '{"metadata":{"resourceVersion":"1"},"items":[]}',
    '{"items":null,"metadata":{"resourceVersion":"1"}}',
  ]) {
    assert.deepEqual(await read(json), { resourceVersion: "1" });
  }
  for (const json of [
    '{"kind":"Status","metadata":{}}',
    '{"items":[]}',
    '{"items":{},"metadata":{}}',
    "[]",
    "",
    "<html>",
    '{"items":[1],"metadata":{}}',
  ]) {
    await assert.rejects(read(json), { code: "MalformedResponse" }, json);
  }
  for (const json of [
    '{"items":[',
    '{"items":[{"metadata":{',
    '{"metadata":{"resourceVersion":"1"},"items":[]',
  ]) {
    await assert.rejects(read(json), { code: "TruncatedResponse" }, json);
  }
});

test("objects of other kinds are skipped, and those without a name refused", () => {
  const read = (object: unknown): unknown => {
    const octets = Buffer.from(JSON.stringify(object));
    const reader = new ObjectReader({ namespaced: false, kind: "Thing" });
    return reader.read({ octets, start: 0, end: octets.length, ascii: true })?.key;
  };
  const metadata = { name: "a" };
  assert.equal(read({ kind: "Thing", metadata }), "a");
  assert.equal(read({ metadata, kind: "Thing" }), "a");
  assert.equal(read({ kind: "Things", metadata }), undefined);
  assert.equal(read({ kind: "Thin", metadata }), undefined);
  assert.equal(read({ metadata, kind: "Table" }), undefined);
  assert.equal(read({ metadata }), undefined);
  for (const metadata of [{}, { name: 1 }, null, [], "a"]) {
    assert.throws(() => read({ kind: "Thing", metadata }), { code: "MalformedResponse" });
  }
});
