import type { KubeObject } from "@meridian/kube";
import {
  endOfPlainText,
  isText,
  isWhiteSpace,
  noKey,
  skipToKey,
  skipToValue,
  skipValue,
  unsure,
} from "../client/json-octets.ts";
import type { ObjectReading } from "../client/object-reading.ts";

/**
 * A transform that leaves out who owns which field: a third of a typical object, and of use only to whoever applies. An
 * object that is written back without them keeps those that the server has. An informer cuts them out of the JSON, so
 * that of all transforms this one costs next to nothing.
 */
export function dropManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

const comma = 0x2c;
const openBrace = 0x7b;
const octetsOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const metadataName: Uint8Array = octetsOf('metadata"');
const managedFieldsName: Uint8Array = octetsOf('managedFields"');

/** Cuts `metadata.managedFields` out of objects. The reading that it returns is valid until the next cut. */
export class ManagedFieldsCutter {
  #octets: Buffer = Buffer.alloc(0);

  /** The reading without the field; `undefined` where its octets are not plain, so that the object must be decoded for it. */
  cut(reading: ObjectReading): ObjectReading | undefined {
    const span = managedFieldsOf(reading);
    if (span === "none") return reading;
    if (span === undefined) return undefined;
    const { octets, start, end } = reading;
    const removed = span.end - span.start;
    const length = end - start - removed;
    if (this.#octets.length < length) this.#octets = Buffer.allocUnsafeSlow(2 * length);
    octets.copy(this.#octets, 0, start, span.start);
    octets.copy(this.#octets, span.start - start, span.end, end);
    const moved = (at: number): number => at - start - (at >= span.end ? removed : 0);
    return {
      octets: this.#octets,
      start: 0,
      end: length,
      format: reading.format,
      key: reading.key,
      version: reading.version,
      uidStart: moved(reading.uidStart),
      uidEnd: moved(reading.uidEnd),
    };
  }
}

/** Where the field stands, with one of the commas beside it. */
function managedFieldsOf({
  octets,
  start,
}: ObjectReading): { readonly start: number; readonly end: number } | "none" | undefined {
  const metadata = memberOf(octets, start + 1, metadataName);
  if (metadata === "none" || metadata === undefined || octets[metadata.value] !== openBrace) return undefined;
  const member = memberOf(octets, metadata.value + 1, managedFieldsName);
  if (member === "none" || member === undefined) return member;
  let end = skipValue(octets, member.value);
  if (end === unsure) return undefined;
  if (member.isFirst) while (isWhiteSpace(octets[end] as number) || octets[end] === comma) end++;
  return { start: member.start, end };
}

interface Member {
  /** Where the member before it ends, or the first octet of the object. */
  readonly start: number;
  readonly isFirst: boolean;
  readonly value: number;
}

function memberOf(octets: Buffer, from: number, name: Uint8Array): Member | "none" | undefined {
  for (let at = from; ;) {
    const key = skipToKey(octets, at);
    if (key === noKey) return "none";
    const keyEnd = key === unsure ? unsure : endOfPlainText(octets, key);
    const value = keyEnd === unsure ? unsure : skipToValue(octets, keyEnd);
    if (value === unsure) return undefined;
    if (isText(octets, key, name)) return { start: at, isFirst: at === from, value };
    at = skipValue(octets, value);
    if (at === unsure) return undefined;
  }
}
