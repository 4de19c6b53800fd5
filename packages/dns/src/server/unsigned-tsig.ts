import { OctetReader } from "../message/octets.ts";
import { readName } from "../message/wire-name.ts";
import type { Query } from "./query.ts";
import type { Response } from "./response.ts";

const badKey = 17;

/**
 * Appends the TSIG record that says "I do not know this key" (RFC 8945 §5.2.1): without a MAC, since there is no key to
 * make one with. Leaves it out where the question's own is malformed or the answer has no room.
 */
export function writeUnknownKey(query: Query, response: Response): void {
  try {
    const message = query.input.subarray(query.start, query.end);
    const key = readName(new OctetReader(message, query.signatureAt - query.start));
    const reader = new OctetReader(message, query.signatureFieldsAt - query.start + 10);
    const algorithm = readName(reader);
    const timeAndFudge = reader.take(8);
    const macLength = reader.uint16();
    reader.take(macLength);
    const originalId = reader.take(2);
    const dataLength = algorithm.length + 16;
    const { output } = response;
    let { at } = response;
    if (at + key.length + 10 + dataLength > response.limit) return;
    output.set(key, at);
    at += key.length;
    for (const half of [250, 255, 0, 0, dataLength]) at = writeHalf(output, at, half);
    output.set(algorithm, at);
    at += algorithm.length;
    output.set(timeAndFudge, at);
    at = writeHalf(output, at + 8, 0);
    output.set(originalId, at);
    at = writeHalf(output, at + 2, badKey);
    response.at = writeHalf(output, at, 0);
    response.additional++;
  } catch {
    // A malformed TSIG has no key to name.
  }
}

function writeHalf(output: Uint8Array, at: number, value: number): number {
  output[at] = value >>> 8;
  output[at + 1] = value;
  return at + 2;
}
