import { createHmac, timingSafeEqual } from "node:crypto";
import { OctetWriter } from "../message/octets.ts";
import { preparedKey } from "./prepared-key.ts";
import type { TsigKey } from "./tsig-key.ts";
import { writeTimers, type TsigFields } from "./tsig-record.ts";

/** What a MAC is made over (RFC 8945 §4.3 and §5.3). */
export interface MacInput {
  /** The MAC that came before: the request's for an answer, the last message's within a transfer. */
  readonly priorMac?: Uint8Array | undefined;
  /** Messages without TSIG, the ids original; several where some before this one went unsigned. */
  readonly messages: readonly Uint8Array[];
  readonly fields: Pick<TsigFields, "timeSigned" | "fudge" | "error" | "otherData">;
  /** Only for the second and later messages of a transfer (RFC 8945 §5.3.1). */
  readonly timersOnly?: boolean;
}

/** The whole MAC. */
export function computeMac(key: TsigKey, { priorMac, messages, fields, timersOnly }: MacInput): Uint8Array {
  const { hash, secret, name, algorithm } = preparedKey(key);
  const hmac = createHmac(hash, secret);
  if (priorMac !== undefined) {
    hmac.update(Uint8Array.of(priorMac.length >>> 8, priorMac.length));
    hmac.update(priorMac);
  }
  for (const message of messages) hmac.update(message);
  const writer = new OctetWriter();
  if (timersOnly !== true) {
    writer.octets(name);
    writer.uint16(255);
    writer.uint32(0);
    writer.octets(algorithm);
  }
  writeTimers(writer, fields);
  if (timersOnly !== true) {
    writer.uint16(fields.error);
    writer.uint16(fields.otherData.length);
    writer.octets(fields.otherData);
  }
  hmac.update(writer.take());
  return new Uint8Array(hmac.digest());
}

/** Whether a MAC that may be truncated is the start of the right one, in a time that does not tell how much of it. */
export function isStartOfMac(received: Uint8Array, whole: Uint8Array): boolean {
  if (received.length === 0 || received.length > whole.length) return false;
  return timingSafeEqual(received, whole.subarray(0, received.length));
}

/** A copy of a message with another id, which the digest is made over (RFC 8945 §5.2.2: the original one). */
export function withId(message: Uint8Array, id: number): Uint8Array {
  const copy = message.slice();
  copy[0] = id >>> 8;
  copy[1] = id;
  return copy;
}
