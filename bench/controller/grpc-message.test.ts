import assert from "node:assert/strict";
import { test } from "node:test";
import { grpcMessage } from "./grpc-message.ts";

test("a message is framed with its length, its fields with number, type and length", () => {
  assert.deepEqual([...grpcMessage(["k", "é"])], [0, 0, 0, 0, 7, 0x0a, 1, 0x6b, 0x12, 2, 0xc3, 0xa9]);
});

test("a length of more than seven bits takes the next octet", () => {
  const message = grpcMessage(["x".repeat(300)]);
  assert.deepEqual([...message.subarray(0, 8)], [0, 0, 0, 1, 47, 0x0a, 0xac, 0x02]);
  assert.equal(message.length, 5 + 3 + 300);
});
