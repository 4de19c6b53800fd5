import { skipName } from "../message/wire-name.ts";
import type { Name } from "../name/name.ts";
import { writeFoldedName } from "./canonical-rdata.ts";

/** A record set as it stands in a message: records of one owner and type that follow each other. */
export interface SetInMessage {
  readonly ownerAt: number;
  /** In lower case, expanded. */
  readonly owner: Name;
  readonly type: number;
  readonly ttl: number;
  readonly records: readonly RecordInMessage[];
}

/** Where the parts of a record stand. */
export interface RecordInMessage {
  readonly at: number;
  /** Where its type stands: behind its owner. */
  readonly fieldsAt: number;
  readonly rdataAt: number;
  readonly end: number;
}

/** The record sets of one section, and where it ends. */
export interface SectionInMessage {
  readonly sets: readonly SetInMessage[];
  readonly end: number;
}

/** Reads a section of a message that was composed here, so without doubt of its form. */
export function readSection(message: Uint8Array, from: number, count: number): SectionInMessage {
  const sets: (SetInMessage & { readonly records: RecordInMessage[] })[] = [];
  let at = from;
  for (let index = 0; index < count; index++) {
    const fieldsAt = skipName(message, at);
    const type = (message[fieldsAt]! << 8) | message[fieldsAt + 1]!;
    const rdataAt = fieldsAt + 10;
    const end = rdataAt + ((message[fieldsAt + 8]! << 8) | message[fieldsAt + 9]!);
    const record = { at, fieldsAt, rdataAt, end };
    const last = sets.at(-1);
    if (last !== undefined && last.type === type && isSameOwner(message, at, last)) {
      last.records.push(record);
    } else {
      const owner = readFoldedName(message, at);
      const ttl =
        message[fieldsAt + 4]! * 0x1000000 +
        ((message[fieldsAt + 5]! << 16) | (message[fieldsAt + 6]! << 8) | message[fieldsAt + 7]!);
      sets.push({ ownerAt: at, owner, type, ttl, records: [record] });
    }
    at = end;
  }
  return { sets, end: at };
}

const nameBuffer = new Uint8Array(512);

/** The name at an offset of a message, expanded and in lower case. */
export function readFoldedName(message: Uint8Array, at: number): Name {
  return nameBuffer.slice(0, writeFoldedName(message, at, { target: nameBuffer, to: 0 }));
}

function isSameOwner(message: Uint8Array, at: number, { ownerAt, owner }: SetInMessage): boolean {
  // Nearly always both are the same pointer.
  if (message[at]! >= 0xc0 && message[at] === message[ownerAt] && message[at + 1] === message[ownerAt + 1])
    return true;
  const other = readFoldedName(message, at);
  return other.length === owner.length && other.every((octet, index) => octet === owner[index]);
}
