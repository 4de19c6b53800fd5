import assert from "node:assert/strict";
import { test } from "node:test";
import { LineCutter, parseEventLine } from "./event-line.ts";

const octets = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const pod = { kind: "Pod", metadata: { name: "web-1", resourceVersion: "7" } };

const lines: readonly (readonly [line: string, change: string | undefined])[] = [
  [JSON.stringify({ type: "ADDED", object: pod }), "created"],
  [JSON.stringify({ type: "MODIFIED", object: pod }), "changed"],
  [JSON.stringify({ type: "DELETED", object: pod }), "deleted"],
  [JSON.stringify({ type: "BOOKMARK", object: pod }), undefined],
  [JSON.stringify({ type: "ERROR", object: { code: 410 } }), undefined],
  [JSON.stringify({ type: "ADDED", object: { metadata: {} } }), undefined],
  [JSON.stringify({ type: "ADDED" }), undefined],
  ["null", undefined],
  ['{"type":"ADD', undefined],
];
for (const [line, change] of lines) {
  test(`${line} tells ${change ?? "no event"}`, () => {
    const event = parseEventLine(octets(`${line}\n`));
    assert.deepEqual(
      event,
      change === undefined ? undefined : { change, name: "web-1", resourceVersion: "7" },
    );
  });
}

test("lines come whole, however the octets were cut", () => {
  const whole = "one\ntwo and ü\n\nlast";
  const bytes = octets(whole);
  for (let size = 1; size <= bytes.length; size++) {
    const cutter = new LineCutter();
    const found: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      const portion = bytes.slice(at, at + size);
      found.push(...cutter.push(portion).map(text));
      portion.fill(0); // a reader may reuse its octets
    }
    assert.deepEqual(found, ["one\n", "two and ü\n", "\n"], `in portions of ${size}`);
    assert.equal(text(cutter.rest), "last");
  }
});
