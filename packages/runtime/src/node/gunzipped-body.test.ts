import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { readBody } from "../network.ts";
import type { HttpBody, HttpClientResponse } from "../network.ts";
import { gunzipped } from "./gunzipped-body.ts";

const text: Buffer = Buffer.concat([Buffer.from("again and ".repeat(100_000)), randomBytes(200_000)]);
const packed: Buffer = gzipSync(text);

/** An answer whose body comes in pieces, and perhaps breaks at its end. */
function answer(
  octets: Uint8Array,
  options: { readonly encoding?: string; readonly failure?: Error; readonly step?: number } = {},
): { readonly response: HttpClientResponse; readonly ended: () => boolean } {
  const { encoding = "gzip", failure, step = 4096 } = options;
  let ended = false;
  const body: HttpBody = {
    async *[Symbol.asyncIterator]() {
      try {
        for (let at = 0; at < octets.length; at += step) yield octets.subarray(at, at + step);
        if (failure !== undefined) throw failure;
      } finally {
        ended = true;
      }
    },
  };
  const headers = { "content-encoding": encoding, "content-length": String(octets.length), other: "kept" };
  return { response: gunzipped({ status: 200, headers, body }, "cannot read"), ended: () => ended };
}

async function iterated(body: HttpBody): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

async function drained(body: HttpBody): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  await readBody(body, (part) => void parts.push(part));
  return Buffer.concat(parts);
}

for (const read of [iterated, drained]) {
  test(`a packed body is unpacked, ${read.name}`, async () => {
    for (const step of [1000, 50_000, packed.length]) {
      const { response, ended } = answer(packed, { step });
      assert.ok(text.equals(await read(response.body)));
      assert.deepEqual(response.headers, { other: "kept" });
      assert.ok(ended());
    }
  });

  test(`a body that is not packed stays as it is, ${read.name}`, async () => {
    const { response } = answer(text, { encoding: "identity" });
    assert.ok(text.equals(await read(response.body)));
    assert.equal(response.headers["content-length"], String(text.length));
  });

  test(`a body that ends too early, or is damaged, is broken, ${read.name}`, async () => {
    const damaged = Buffer.from(packed);
    damaged.fill(0xff, 300, 400);
    for (const octets of [packed.subarray(0, packed.length - 9), damaged, Buffer.from("plain text")]) {
      const { response, ended } = answer(octets);
      await assert.rejects(read(response.body), { name: "NetworkError", message: /^cannot read/ });
      assert.ok(ended());
    }
  });

  test(`what the exchange breaks with is told, and not what follows from it, ${read.name}`, async () => {
    const failure = new Error("the network is gone");
    const { response, ended } = answer(packed.subarray(0, 50_000), { failure });
    await assert.rejects(read(response.body), failure);
    assert.ok(ended());
  });
}

test("whoever stops reading ends the exchange", async () => {
  const one = answer(packed, { step: 100 });
  for await (const part of one.response.body) {
    assert.ok(part.length > 0);
    break;
  }
  assert.ok(one.ended());
  const other = answer(packed, { step: 100 });
  const reason = new Error("enough");
  let calls = 0;
  const reading = readBody(other.response.body, () => {
    calls++;
    throw reason;
  });
  await assert.rejects(reading, reason);
  assert.deepEqual([calls, other.ended()], [1, true]);
});
