import assert from "node:assert/strict";
import { test } from "node:test";
import { LineCutter } from "./line-cutter.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test("lines come whole, however the octets were cut", () => {
  const whole = "one\ntwo and ü\n\nlast";
  const bytes = new TextEncoder().encode(whole);
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
