import { DnsError } from "../dns-error.ts";

/** Kinds of values in a data section; the first is followed by an octet with the kind less 7. */
const kind = {
  extended: 0,
  pointer: 1,
  text: 2,
  uint16: 5,
  uint32: 6,
  map: 7,
  uint64: 9,
  array: 11,
  boolean: 14,
} as const;
const metadataMarker = Uint8Array.from("\xab\xcd\xefMaxMind.com", (character) => character.charCodeAt(0));
const metadataOctetsMax = 128 * 1024;
const separatorOctets = 16;
/** What a pointer's value starts at, by its size. */
const pointerBases = [0, 2048, 526_336, 0] as const;

/**
 * A MaxMind DB (file format 2.0) read in place: the search tree node by node, and of a record only the fields asked for.
 *
 * Every offset is checked and nothing recurses, so that a damaged file ends in an error, never in a crash or a loop.
 */
export class MmdbFile {
  readonly nodeCount: number;
  readonly ipVersion: 4 | 6;
  readonly databaseType: string;
  /** When the database was made, in seconds since the epoch. */
  readonly buildEpochSeconds: number;
  readonly #view: DataView;
  readonly #octets: Uint8Array;
  readonly #recordBits: number;
  readonly #dataAt: number;
  readonly #dataEnd: number;

  /** @throws DnsError `BadGeoData` where the octets are no MaxMind DB, or only part of one */
  constructor(octets: Uint8Array) {
    this.#octets = octets;
    this.#view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
    const metadataAt = findMetadata(octets);
    if (metadataAt < 0)
      throw damaged("there is no MaxMind DB metadata at the end of the file; it may be half written");
    this.#dataAt = metadataAt;
    this.#dataEnd = octets.length;
    // To its end, so that a file cut off within the metadata is not taken for whole.
    this.#skip(metadataAt);
    const read = (key: string): string | undefined => this.field(metadataAt, [key]);
    this.nodeCount = readNumber(read, "node_count");
    this.#recordBits = readNumber(read, "record_size");
    const version = readNumber(read, "ip_version");
    this.databaseType = read("database_type") ?? "";
    this.buildEpochSeconds = readNumber(read, "build_epoch");
    if (version !== 4 && version !== 6) throw damaged(`ip_version is ${version}, not 4 or 6`);
    if (![24, 28, 32].includes(this.#recordBits))
      throw damaged(`record_size is ${this.#recordBits}, not 24, 28 or 32`);
    this.ipVersion = version;
    this.#dataAt = (this.nodeCount * this.#recordBits) / 4 + separatorOctets;
    this.#dataEnd = metadataAt - metadataMarker.length;
    if (this.nodeCount < 1 || this.#dataAt > this.#dataEnd)
      throw damaged(`a search tree of ${this.nodeCount} nodes does not fit into the file`);
  }

  /**
   * What a bit leads to from a node: below `nodeCount` a node, `nodeCount` nothing, above it a record, see `recordAt`.
   */
  child(node: number, bit: 0 | 1): number {
    const view = this.#view;
    switch (this.#recordBits) {
      case 24: {
        const at = node * 6 + bit * 3;
        return (view.getUint16(at) << 8) | view.getUint8(at + 2);
      }
      case 28: {
        const middle = view.getUint8(node * 7 + 3);
        return bit === 0
          ? ((middle & 0xf0) << 20) | (view.getUint32(node * 7) >>> 8)
          : view.getUint32(node * 7 + 3) & 0x0fff_ffff;
      }
      default:
        return view.getUint32(node * 8 + bit * 4);
    }
  }

  /** Where the record is that `child` leads to. @throws DnsError `BadGeoData` outside the data */
  recordAt(child: number): number {
    const at = child - this.nodeCount - separatorOctets + this.#dataAt;
    if (at < this.#dataAt || at >= this.#dataEnd) throw damaged("the search tree leads out of the data");
    return at;
  }

  /**
   * The text or number at a path of keys and indexes, as text; `undefined` where there is none.
   *
   * @throws DnsError `BadGeoData` where the data is damaged on the way
   */
  field(recordAt: number, path: readonly string[]): string | undefined {
    let value = this.#head(this.#follow(recordAt));
    for (const key of path) {
      const at =
        value.kind === kind.map
          ? this.#mapValue(value, key)
          : value.kind === kind.array
            ? this.#arrayValue(value, key)
            : undefined;
      if (at === undefined) return undefined;
      value = this.#head(this.#follow(at));
    }
    return this.#scalar(value);
  }

  #mapValue(map: Head, key: string): number | undefined {
    let { at } = map;
    for (let left = map.size; left > 0; left--) {
      const name = this.#head(this.#follow(at));
      at = this.#skip(at);
      if (name.kind === kind.text && this.#text(name) === key) return at;
      at = this.#skip(at);
    }
    return undefined;
  }

  #arrayValue(array: Head, key: string): number | undefined {
    const index = /^\d{1,6}$/.test(key) ? Number(key) : array.size;
    if (index >= array.size) return undefined;
    let { at } = array;
    for (let left = index; left > 0; left--) at = this.#skip(at);
    return at;
  }

  #scalar(value: Head): string | undefined {
    switch (value.kind) {
      case kind.text:
        return this.#text(value);
      case kind.uint16:
      case kind.uint32:
      case kind.uint64: {
        let number = 0;
        for (let index = 0; index < value.size; index++)
          number = number * 256 + this.#octets[value.at + index]!;
        return String(number);
      }
      default:
        return undefined;
    }
  }

  #text({ at, size }: Head): string {
    return decoder.decode(this.#octets.subarray(at, at + size));
  }

  /** Where a value is that may be a pointer; a pointer never leads to another one. */
  #follow(at: number): number {
    const octet = this.#octet(at);
    if (octet >>> 5 !== kind.pointer) return at;
    const size = (octet >>> 3) & 3;
    let target = size === 3 ? 0 : octet & 7;
    for (let index = 1; index <= size + 1; index++) target = target * 256 + this.#octet(at + index);
    target += this.#dataAt + pointerBases[size]!;
    if (this.#octet(target) >>> 5 === kind.pointer) throw damaged("a pointer leads to a pointer");
    return target;
  }

  /** Behind a value. Each step consumes an octet at least, so it ends with the data. */
  #skip(from: number): number {
    let at = from;
    for (let left = 1; left > 0; left--) {
      const octet = this.#octet(at);
      if (octet >>> 5 === kind.pointer) {
        at += 2 + ((octet >>> 3) & 3);
        continue;
      }
      const head = this.#head(at);
      ({ at } = head);
      if (head.kind === kind.map) left += 2 * head.size;
      else if (head.kind === kind.array) left += head.size;
      else if (head.kind !== kind.boolean) at += head.size;
    }
    return at;
  }

  #head(from: number): Head {
    let at = from;
    const octet = this.#octet(at++);
    const found = octet >>> 5 === kind.extended ? this.#octet(at++) + 7 : octet >>> 5;
    let size = octet & 31;
    if (size >= 29) {
      const octets = size - 28;
      let more = 0;
      for (let index = 0; index < octets; index++) more = more * 256 + this.#octet(at++);
      size = [29, 285, 65_821][octets - 1]! + more;
    }
    const isCounted = found === kind.map || found === kind.array || found === kind.boolean;
    if (!isCounted && at + size > this.#dataEnd) throw damaged("a value is cut off by the end of the data");
    return { kind: found, size, at };
  }

  #octet(at: number): number {
    if (at < this.#dataAt || at >= this.#dataEnd) throw damaged("a value lies outside the data");
    return this.#octets[at]!;
  }
}

/** A value's kind, its size (octets, or entries of a map or array), and where its content starts. */
interface Head {
  readonly kind: number;
  readonly size: number;
  readonly at: number;
}

const decoder = new TextDecoder();

function damaged(message: string): DnsError {
  return new DnsError("BadGeoData", message);
}

/** Behind the last marker within the last 128 KiB, or -1. */
function findMetadata(octets: Uint8Array): number {
  const last = octets.length - metadataMarker.length;
  for (let at = last; at >= Math.max(0, last - metadataOctetsMax); at--)
    if (metadataMarker.every((octet, index) => octets[at + index] === octet))
      return at + metadataMarker.length;
  return -1;
}

function readNumber(read: (key: string) => string | undefined, key: string): number {
  const number = Number(read(key));
  if (!Number.isSafeInteger(number)) throw damaged(`the metadata has no ${key}; the file may be damaged`);
  return number;
}
