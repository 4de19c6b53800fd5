import type { ListMeta } from "@meridian/kube";
import { ControllerError } from "../controller-error.ts";
import { documentBytesMaxDefault } from "../client/json-stream.ts";
import type { ObjectReading } from "../client/object-reading.ts";
import type { WireReader } from "../client/wire-format.ts";
import { CutMessages, checkLength } from "./cut-messages.ts";
import type { MessageParser } from "./cut-messages.ts";
import { PartHead } from "./part-head.ts";
import type { ProtobufReading } from "./protobuf-reading.ts";
import { magic, readTypeMeta, refuseEncoding, unknownTags } from "./unknown-envelope.ts";
import { WireCursor } from "./wire-cursor.ts";

/** Tags of every list: its metadata, and each of its items. */
const listMetaTag = 0x0a;
const itemTag = 0x12;

/** What a list is read with. */
export interface ProtobufListOptions {
  /** Of the list: others are refused. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly reading: ProtobufReading;
  readonly onItem: (item: ObjectReading) => void;
  readonly readListMeta: (octets: Buffer, start: number, end: number) => ListMeta;
}

/**
 * Reads a list out of the chunks of its body and hands over each item as soon as it is there. Nothing is searched: every
 * part says how long it is.
 *
 *     k8s\0  Unknown { typeMeta, raw: List { metadata, items, items, … }, … }
 *     start  unknown                  list                            unknown
 */
export class ProtobufListReader implements WireReader<ListMeta>, MessageParser {
  readonly #options: ProtobufListOptions;
  readonly #cut = new CutMessages(this);
  readonly #cursor = new WireCursor();
  readonly #head = new PartHead();
  #place: "start" | "unknown" | "list" = "start";
  /** Octets of the list that are still to come. */
  #listRest = 0;
  /** Whether the answer has said that it is the list that was asked for. */
  #typed = false;
  #metadata: ListMeta | undefined;
  wanted = 0;

  constructor(options: ProtobufListOptions) {
    this.#options = options;
  }

  push(chunk: Uint8Array): void {
    this.#cut.push(chunk);
  }

  finish(): ListMeta {
    if (this.#place === "list" || this.#cut.rest > 0 || this.#metadata === undefined) {
      throw new ControllerError("TruncatedResponse", "a list ended before its end");
    }
    return this.#metadata;
  }

  parse(octets: Buffer, start: number, end: number): number {
    this.wanted = 0;
    let at = start;
    while (at < end) {
      const next = this.#part(octets, at, end);
      if (next < 0) break;
      at = next;
    }
    return at;
  }

  /** Takes the part that begins there and returns its end; -1 where it is not whole. */
  #part(octets: Buffer, at: number, end: number): number {
    if (this.#place === "start") return this.#begin(octets, at, end);
    const head = this.#head;
    if (!head.read(octets, at, end)) return -1;
    if (this.#place === "unknown" && head.tag === unknownTags.raw) return this.#enterList(head);
    const next = head.bodyEnd;
    checkLength(next - at, documentBytesMaxDefault);
    if (this.#place === "list" && next - at > this.#listRest)
      throw malformed("a part is longer than its list");
    if (next > end) {
      this.wanted = next - at;
      return -1;
    }
    if (this.#place === "unknown") this.#takeOfEnvelope(octets, head);
    else {
      this.#takeOfList(octets, head);
      this.#listRest -= next - at;
      if (this.#listRest === 0) this.#place = "unknown";
    }
    return next;
  }

  #begin(octets: Buffer, at: number, end: number): number {
    const length = Math.min(magic.length, end - at);
    if (octets.compare(magic, 0, length, at, at + length) !== 0) {
      throw malformed("the answer does not begin as protobuf of Kubernetes");
    }
    this.wanted = magic.length;
    if (length < magic.length) return -1;
    this.#place = "unknown";
    return at + length;
  }

  #enterList({ bodyAt, bodyEnd }: PartHead): number {
    if (!this.#typed) throw malformed("the answer does not say what it is a list of");
    this.#listRest = bodyEnd - bodyAt;
    if (this.#listRest > 0) this.#place = "list";
    return bodyAt;
  }

  #takeOfEnvelope(octets: Buffer, { tag, bodyAt, bodyEnd }: PartHead): void {
    if (tag !== unknownTags.typeMeta && tag !== unknownTags.contentEncoding) return;
    this.#cursor.reset(octets, bodyAt, bodyEnd);
    if (tag === unknownTags.contentEncoding) return refuseEncoding(this.#cursor);
    const { apiVersion, kind } = readTypeMeta(this.#cursor);
    this.#typed = apiVersion === this.#options.apiVersion && kind === this.#options.kind;
    if (!this.#typed) throw malformed(`the answer is ${apiVersion} ${kind}, and no ${this.#options.kind}`);
  }

  #takeOfList(octets: Buffer, { tag, bodyAt, bodyEnd }: PartHead): void {
    const { reading, onItem, readListMeta } = this.#options;
    if (tag === itemTag) onItem(reading.read(octets, bodyAt, bodyEnd));
    else if (tag === listMetaTag) this.#metadata = readListMeta(octets, bodyAt, bodyEnd);
  }
}

const malformed = (message: string): ControllerError => new ControllerError("MalformedResponse", message);
