import type { KubeObject, Status } from "@meridian/kube";
import { ControllerError } from "../controller-error.ts";
import { documentBytesMaxDefault } from "../client/json-stream.ts";
import type { RawWatchEvent } from "../client/watch-event-reader.ts";
import type { WireReader } from "../client/wire-format.ts";
import { CutMessages, checkLength } from "./cut-messages.ts";
import type { MessageParser } from "./cut-messages.ts";
import type { ProtobufReading } from "./protobuf-reading.ts";
import { openEnvelope } from "./unknown-envelope.ts";
import type { Envelope } from "./unknown-envelope.ts";
import { WireCursor } from "./wire-cursor.ts";

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
  #stopped = false;
  wanted = 0;

  constructor(options: ProtobufWatchOptions) {
    this.#options = options;
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
    let type = "";
    let envelope: Envelope | undefined;
    while (cursor.at < end) {
      const tag = cursor.size();
      if (tag === typeTag) type = cursor.text(cursor.delimited());
      else if (tag === objectTag) envelope = cursor.within(readExtension);
      else cursor.skip(tag);
    }
    if (envelope === undefined) throw cursor.broken("an event has no object");
    const { reading, apiVersion, kind, readObject, readStatus } = this.#options;
    if (type === "ERROR") return { type, object: readStatus(octets, envelope.start, envelope.end) };
    if (envelope.kind !== kind || envelope.apiVersion !== apiVersion) return undefined;
    switch (type) {
      case "ADDED":
      case "MODIFIED":
      case "DELETED":
        return { type, reading: reading.read(octets, envelope.start, envelope.end) };
      case "BOOKMARK":
        return { type, object: readObject(octets, envelope.start, envelope.end) };
      default:
        return undefined;
    }
  }
}

/** The document in a `RawExtension`. */
function readExtension(cursor: WireCursor): Envelope | undefined {
  let envelope: Envelope | undefined;
  while (cursor.at < cursor.end) {
    const tag = cursor.size();
    if (tag === rawTag) envelope = cursor.within(openEnvelope);
    else cursor.skip(tag);
  }
  return envelope;
}
