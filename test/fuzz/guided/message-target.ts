import assert from "node:assert/strict";
import { composeMessage, DnsError, parseMessage, type Message } from "@meridian/dns";

/** What the parser reads it can write, and reads again as the same; what it refuses, it refuses with its own error. */
export function fuzz(given: Uint8Array): void {
  let message: Message;
  let again: Uint8Array;
  try {
    message = parseMessage(Uint8Array.from(given));
    again = composeMessage(message);
  } catch (error) {
    if (error instanceof DnsError) return;
    throw error;
  }
  assert.deepEqual(parseMessage(again), message);
}
