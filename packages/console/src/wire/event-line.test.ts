import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEventLine } from "./event-line.ts";

const octets = (text: string): Uint8Array => new TextEncoder().encode(text);
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
