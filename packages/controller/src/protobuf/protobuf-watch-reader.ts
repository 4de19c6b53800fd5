import type { KubeObject, Status } from "@meridian/kube";
import { ControllerError } from "../controller-error.ts";
import { documentBytesMaxDefault } from "../client/json-stream.ts";
import type { RawWatchEvent } from "../client/watch-event-reader.ts";
import type { WireReader } from "../client/wire-format.ts";
import { CutMessages, checkLength } from "./cut-messages.ts";
import type { MessageParser } from "./cut-messages.ts";
import type { ProtobufReading } from "./protobuf-reading.ts";
import { EnvelopeReader } from "./envelope-reader.ts";
import { WireCursor, hasOctets } from "./wire-cursor.ts";

/** Tags of `WatchEvent`, and of the `RawExtension` in it. */
const typeTag = 0x0a;
const objectTag = 0x12;
const rawTag = 0x0a;
/** Before each event stands how long it is, as a number of four octets, the highest first. */
const frameHeadBytes = 4;

/** What a watch is read with. */
export interface ProtobufWatchOptions {
  /** Of the objects: others are skipped. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly reading: ProtobufReading;
  readonly onEvent: (event: RawWatchEvent | undefined) => "stop" | void;
  readonly readObject: (octets: Buffer, start: number, end: number) => KubeObject;
  readonly readStatus: (octets: Buffer, start: number, end: number) => Status;
}

/** Reads the events of a watch out of the chunks of its body. */
export class ProtobufWatchReader implements WireReader<void>, MessageParser {
  readonly #options: ProtobufWatchOptions;
  readonly #cut = new CutMessages(this);
  readonly #cursor = new WireCursor();
  readonly #envelope: EnvelopeReader;
  #stopped = false;
  wanted = 0;

  constructor(options: ProtobufWatchOptions) {
    this.#options = options;
    this.#envelope = new EnvelopeReader(options);
  }

  push(chunk: Uint8Array): void {
    if (!this.#stopped) this.#cut.push(chunk);
  }

  finish(): void {
    if (this.#cut.rest === 0) return;
    const message = `a stream ended after ${this.#cut.rest} octets of an event`;
    throw new ControllerError("TruncatedResponse", message);
  }

  parse(octets: Buffer, start: number, end: number): number {
    this.wanted = frameHeadBytes;
    let at = start;
    while (at + frameHeadBytes <= end) {
      const length = octets.readUInt32BE(at);
      checkLength(length, documentBytesMaxDefault);
      const next = at + frameHeadBytes + length;
      if (next > end) {
        this.wanted = next - at;
        break;
      }
      const event = this.#event(octets, at + frameHeadBytes, next);
      if (this.#options.onEvent(event) === "stop") {
        this.#stopped = true;
        return end;
      }
      at = next;
      this.wanted = frameHeadBytes;
    }
    return at;
  }

  /** The event that stands there; `undefined` for an unknown type, and for an object of another kind. */
  #event(octets: Buffer, start: number, end: number): RawWatchEvent | undefined {
    const cursor = this.#cursor;
    cursor.reset(octets, start, end);
    let type: string | undefined;
    let found = false;
    while (cursor.at < end) {
      const tag = cursor.size();
      if (tag === typeTag) type = readType(cursor);
      else if (tag === objectTag) found = this.#readExtension(cursor) || found;
      else cursor.skip(tag);
    }
    if (!found) throw cursor.broken("an event has no object");
    const { reading, readObject, readStatus } = this.#options;
    const { isOfKind, start: from, end: to } = this.#envelope;
    if (type === "ERROR") return { type, object: readStatus(octets, from, to) };
    if (!isOfKind) return undefined;
    switch (type) {
      case "ADDED":
      case "MODIFIED":
      case "DELETED":
        return { type, reading: reading.read(octets, from, to) };
      case "BOOKMARK":
        return { type, object: readObject(octets, from, to) };
      case undefined:
      default:
        return undefined;
    }
  }

  /** Opens the document in a `RawExtension`; false where there is none. */
  #readExtension(cursor: WireCursor): boolean {
    const outer = cursor.end;
    const end = cursor.delimited();
    let found = false;
    cursor.end = end;
    while (cursor.at < end) {
      const tag = cursor.size();
      if (tag !== rawTag) {
        cursor.skip(tag);
        continue;
      }
      cursor.end = cursor.delimited();
      this.#envelope.open(cursor);
      cursor.end = end;
      found = true;
    }
    cursor.end = outer;
    return found;
  }
}

const eventTypes: readonly (readonly [string, Buffer])[] = [
  "MODIFIED",
  "ADDED",
  "DELETED",
  "BOOKMARK",
  "ERROR",
].map((type) => [type, Buffer.from(type)]);

/** The type that the cursor is at; `undefined` for one that a newer server may have. */
function readType(cursor: WireCursor): string | undefined {
  const { octets } = cursor;
  const end = cursor.delimited();
  const start = cursor.at;
  cursor.at = end;
  return eventTypes.find(([, text]) => end - start === text.length && hasOctets(octets, start, text))?.[0];
}
