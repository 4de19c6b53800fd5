import { endOfPlainText, isText, noKey, skipToKey, skipToValue, skipValue, unsure } from "./json-octets.ts";
import { parseDocument } from "./json-stream.ts";
import { jsonFormat } from "./object-format.ts";
import type { ObjectFormat } from "./object-format.ts";
import { readingOf } from "./object-reading.ts";
import type { CompactVersion, JsonSpan, ObjectReading } from "./object-reading.ts";

const quote = 0x22;
const openBrace = 0x7b;

const octetsOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const metadataName: Uint8Array = octetsOf('metadata"');
const kindName: Uint8Array = octetsOf('kind"');
const nameName: Uint8Array = octetsOf('name"');
const namespaceName: Uint8Array = octetsOf('namespace"');
const uidName: Uint8Array = octetsOf('uid"');
const versionName: Uint8Array = octetsOf('resourceVersion"');

const nothing: Buffer = Buffer.alloc(0);
/** Longest key that is put together here: a namespace, a slash and a name, and much room. */
const keyOctetsMax = 512;

/**
 * Reads name, namespace, uid and version out of the octets of objects of one collection, without parsing the rest. It
 * stops at the last of them: of two fields of one name in one object, which no API server sends, it may see the first,
 * and JSON.parse the last; whoever decodes the object later compares them. Where
 * the octets are anything but plain (escapes in one of these fields, a number where a text belongs) the object is
 * parsed as a whole and written anew.
 *
 * It is itself the reading of the last object, so that reading costs no memory.
 */
export class ObjectReader implements ObjectReading {
  octets: Buffer = nothing;
  start = 0;
  end = 0;
  format: ObjectFormat = jsonFormat(true);
  key = "";
  version: CompactVersion = "";
  uidStart = 0;
  uidEnd = 0;
  #nameStart = 0;
  #nameEnd = 0;
  #namespaceStart = 0;
  #namespaceEnd = 0;
  readonly #namespaced: boolean;
  readonly #kind: string | undefined;
  /** With the quote behind it. */
  readonly #kindOctets: Uint8Array;
  /** Octets of the key being made: namespace and name become one text, not two that are joined. */
  readonly #keyOctets: Buffer = Buffer.allocUnsafe(keyOctetsMax);

  /** `kind`: others are no objects of this collection. Absent where objects need not tell theirs, as in lists. */
  constructor(options: { readonly namespaced: boolean; readonly kind?: string }) {
    this.#namespaced = options.namespaced;
    this.#kind = options.kind;
    this.#kindOctets = octetsOf(`${options.kind ?? ""}"`);
  }

  /**
   * Reads the object that stands there; `undefined` if it is of another kind.
   *
   * @throws ControllerError `MalformedResponse` where it is no object of the API
   */
  read(span: JsonSpan): ObjectReading | undefined {
    const { octets, start, end } = span;
    this.octets = octets;
    this.start = start;
    this.end = end;
    this.format = jsonFormat(span.ascii);
    this.version = "";
    this.uidStart = this.uidEnd = 0;
    this.#nameStart = this.#nameEnd = this.#namespaceStart = this.#namespaceEnd = 0;
    const found = this.#readMembers();
    if (found === "other kind") return undefined;
    if (found === "metadata" && this.#nameEnd > this.#nameStart) {
      this.key = this.#readKey();
      return this;
    }
    const value = parseDocument(octets.subarray(start, end));
    const { kind } = value as { readonly kind?: unknown };
    return this.#kind !== undefined && kind !== this.#kind ? undefined : readingOf(value);
  }

  /** Goes over the fields of the object up to its metadata; `kind`, where it matters, stands before them. */
  #readMembers(): "metadata" | "other kind" | "unsure" {
    const octets = this.octets;
    let kindSeen = this.#kind === undefined;
    for (let at = this.start + 1; ;) {
      const key = skipToKey(octets, at);
      if (key === unsure || key === noKey) return "unsure";
      const keyEnd = endOfPlainText(octets, key);
      if (keyEnd === unsure) return "unsure";
      at = skipToValue(octets, keyEnd);
      if (at === unsure) return "unsure";
      if (isText(octets, key, metadataName)) {
        return kindSeen && octets[at] === openBrace && this.#readMetadata(at + 1) ? "metadata" : "unsure";
      }
      if (!kindSeen && isText(octets, key, kindName)) {
        if (octets[at] !== quote) return "unsure";
        if (!isText(octets, at + 1, this.#kindOctets)) {
          return endOfPlainText(octets, at + 1) === unsure ? "unsure" : "other kind";
        }
        kindSeen = true;
      }
      at = skipValue(octets, at);
      if (at === unsure) return "unsure";
    }
  }

  /** Goes over the fields of the metadata until all were seen, or they end; false where they are not plain. */
  #readMetadata(from: number): boolean {
    const octets = this.octets;
    let missing = this.#namespaced ? 4 : 3;
    for (let at = from; missing > 0;) {
      const key = skipToKey(octets, at);
      if (key === unsure) return false;
      if (key === noKey) return true;
      const keyEnd = endOfPlainText(octets, key);
      if (keyEnd === unsure) return false;
      at = skipToValue(octets, keyEnd);
      if (at === unsure) return false;
      const field = metadataField(octets, key, keyEnd);
      if (field === undefined) {
        at = skipValue(octets, at);
        if (at === unsure) return false;
        continue;
      }
      const start = at + 1;
      const end = octets[at] === quote ? endOfPlainText(octets, start) : unsure;
      if (end === unsure) return false;
      this.#keep(field, start, end);
      missing--;
      at = end + 1;
    }
    return true;
  }

  #keep(field: MetadataField, start: number, end: number): void {
    switch (field) {
      case "name":
        this.#nameStart = start;
        this.#nameEnd = end;
        break;
      case "namespace":
        this.#namespaceStart = start;
        this.#namespaceEnd = end;
        break;
      case "uid":
        this.uidStart = start;
        this.uidEnd = end;
        break;
      case "version":
        this.version = versionAt(this.octets, start, end);
    }
  }

  #readKey(): string {
    const octets = this.octets;
    const namespace = this.#namespaceEnd - this.#namespaceStart;
    if (namespace === 0) return octets.toString("latin1", this.#nameStart, this.#nameEnd);
    const length = namespace + 1 + this.#nameEnd - this.#nameStart;
    const key = length <= keyOctetsMax ? this.#keyOctets : Buffer.allocUnsafe(length);
    let to = 0;
    for (let at = this.#namespaceStart; at < this.#namespaceEnd; at++) key[to++] = octets[at] as number;
    key[to++] = 0x2f;
    for (let at = this.#nameStart; at < this.#nameEnd; at++) key[to++] = octets[at] as number;
    return key.toString("latin1", 0, length);
  }
}

type MetadataField = "name" | "namespace" | "uid" | "version";

function metadataField(octets: Uint8Array, from: number, end: number): MetadataField | undefined {
  switch (end - from) {
    case 3:
      return isText(octets, from, uidName) ? "uid" : undefined;
    case 4:
      return isText(octets, from, nameName) ? "name" : undefined;
    case 9:
      return isText(octets, from, namespaceName) ? "namespace" : undefined;
    case 15:
      return isText(octets, from, versionName) ? "version" : undefined;
    default:
      return undefined;
  }
}

/** Decimals that a number holds exactly as a number, anything else as its text. */
function versionAt(octets: Buffer, start: number, end: number): CompactVersion {
  let version = 0;
  for (let at = start; at < end; at++) {
    const digit = (octets[at] as number) - 0x30;
    if (digit < 0 || digit > 9 || (digit === 0 && at === start)) return octets.toString("latin1", start, end);
    version = version * 10 + digit;
  }
  const exact = end > start && end - start <= 16 && version <= Number.MAX_SAFE_INTEGER;
  return exact ? version : octets.toString("latin1", start, end);
}
