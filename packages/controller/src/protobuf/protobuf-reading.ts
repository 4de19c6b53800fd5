import { ControllerError } from "../controller-error.ts";
import type { ObjectFormat } from "../client/object-format.ts";
import { compactVersion } from "../client/object-reading.ts";
import type { CompactVersion, ObjectReading } from "../client/object-reading.ts";
import { WireCursor } from "./wire-cursor.ts";

/** Tags of the fields that are read, of every object and of its metadata. All are delimited. */
const metadataTag = 0x0a;
const nameTag = 0x0a;
const namespaceTag = 0x1a;
const uidTag = 0x2a;
const versionTag = 0x32;

const slash = 0x2f;
/** Longest key that is put together here: a namespace, a slash and a name, and much room. */
const keyOctetsMax = 512;
/** So many digits fit into a number exactly. */
const versionDigitsMax = 15;

/**
 * Reads name, namespace, uid and version out of the octets of objects, and passes over the rest. It stops at the last of
 * them: of two fields of one number, which no API server sends, it sees the first.
 *
 * It is itself the reading of the last object, so that reading costs no memory.
 */
export class ProtobufReading implements ObjectReading {
  readonly format: ObjectFormat;
  octets: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;
  key = "";
  version: CompactVersion = "";
  uidStart = 0;
  uidEnd = 0;
  readonly #namespaced: boolean;
  readonly #cursor = new WireCursor();
  readonly #keyOctets: Buffer = Buffer.allocUnsafe(keyOctetsMax);

  constructor(format: ObjectFormat, options: { readonly namespaced: boolean }) {
    this.format = format;
    this.#namespaced = options.namespaced;
  }

  /** Reads the object that stands there. @throws ControllerError `MalformedResponse` where it is no object of the API */
  read(octets: Buffer, start: number, end: number): this {
    this.octets = octets;
    this.start = start;
    this.end = end;
    const cursor = this.#cursor;
    cursor.reset(octets, start, end);
    while (cursor.at < end) {
      const tag = cursor.size();
      if (tag !== metadataTag) {
        cursor.skip(tag);
        continue;
      }
      cursor.end = cursor.delimited();
      this.#readMetadata(cursor);
      return this;
    }
    throw noName();
  }

  #readMetadata(cursor: WireCursor): void {
    let nameStart = 0;
    let nameEnd = 0;
    let namespaceStart = 0;
    let namespaceEnd = 0;
    this.version = "";
    this.uidStart = this.uidEnd = 0;
    for (let missing = this.#namespaced ? 4 : 3; missing > 0 && cursor.at < cursor.end;) {
      const tag = cursor.size();
      if (tag !== nameTag && tag !== namespaceTag && tag !== uidTag && tag !== versionTag) {
        cursor.skip(tag);
        continue;
      }
      const end = cursor.delimited();
      const start = cursor.at;
      cursor.at = end;
      if (tag === nameTag) {
        nameStart = start;
        nameEnd = end;
      } else if (tag === uidTag) {
        this.uidStart = start;
        this.uidEnd = end;
      } else if (tag === versionTag) this.version = versionOf(cursor.octets, start, end);
      else if (this.#namespaced) {
        namespaceStart = start;
        namespaceEnd = end;
      } else continue; // it is written, and empty
      missing--;
    }
    if (nameEnd === nameStart) throw noName();
    this.key = this.#keyOf({ nameStart, nameEnd, namespaceStart, namespaceEnd });
  }

  /** Namespace and name become one text, not two that are joined. */
  #keyOf(at: {
    readonly nameStart: number;
    readonly nameEnd: number;
    readonly namespaceStart: number;
    readonly namespaceEnd: number;
  }): string {
    const { octets } = this;
    const namespaceLength = at.namespaceEnd - at.namespaceStart;
    if (namespaceLength === 0) return octets.toString("utf8", at.nameStart, at.nameEnd);
    const length = namespaceLength + 1 + at.nameEnd - at.nameStart;
    const key = length <= keyOctetsMax ? this.#keyOctets : Buffer.allocUnsafe(length);
    let filled = 0;
    let seen = 0;
    for (let from = at.namespaceStart; from < at.namespaceEnd; from++)
      seen |= key[filled++] = octets[from] as number;
    key[filled++] = slash;
    for (let from = at.nameStart; from < at.nameEnd; from++) seen |= key[filled++] = octets[from] as number;
    return key.toString(seen < 0x80 ? "latin1" : "utf8", 0, length);
  }
}

/** The version in its shortest form, mostly without its text. */
function versionOf(octets: Buffer, start: number, end: number): CompactVersion {
  let value = 0;
  let at = start;
  for (; at < end && at - start < versionDigitsMax; at++) {
    const digit = (octets[at] as number) - 0x30;
    if (digit < 0 || digit > 9 || (digit === 0 && at === start)) break;
    value = value * 10 + digit;
  }
  return at === end && value > 0 ? value : compactVersion(octets.toString("utf8", start, end));
}

const noName = (): ControllerError =>
  new ControllerError("MalformedResponse", "an object of a collection has no metadata with a name");
