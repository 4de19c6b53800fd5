import { DnsError } from "../dns-error.ts";
import { typeFromText, typeToText } from "../message/codes.ts";
import { equalOctets } from "../message/octets.ts";
import { rdataFromText, rdataToText } from "../message/rdata.ts";
import { typeRrsig } from "../message/type-numbers.ts";
import { nameToText, type Name } from "../name/name.ts";
import type { AnswerPolicy, RecordSet } from "./record-set.ts";
import type { WireRecord } from "./wire-record.ts";

/** A record set with its data in wire form, names in it not compressed: what a content is built from and read back into. */
export interface WireSet {
  readonly type: number;
  readonly ttl: number;
  /** No two are equal (RFC 2181 §5). Empty: the name exists without data. */
  readonly rdatas: readonly Uint8Array[];
  readonly policy: AnswerPolicy;
}

const ttlMax = 0x7fff_ffff;

/** What sets have whose policy is not given. */
export const fixedPolicy: AnswerPolicy = { kind: "fixed" };
export const rotatePolicy: AnswerPolicy = { kind: "rotate" };

/** Reads a record set from presentation form. @throws DnsError `BadRecord` or `BadName` */
export function wireSetFromText(set: RecordSet): WireSet {
  const type = typeFromText(set.type);
  checkTtl(set.ttl);
  return { type, ttl: set.ttl, rdatas: rdatasFromText(type, set.data), policy: set.policy ?? fixedPolicy };
}

/** Writes a record set in presentation form. */
export function wireSetToText(owner: Name, { type, ttl, rdatas, policy }: WireSet): RecordSet {
  const data = rdatas.map((rdata) => rdataToText(type, rdata));
  const set = { name: nameToText(owner), type: typeToText(type), ttl, data };
  return policy.kind === "fixed" ? set : { ...set, policy };
}

/** The records of a set, in order. */
export function wireRecordsOf(owner: Name, { type, ttl, rdatas }: WireSet): WireRecord[] {
  return rdatas.map((rdata) => ({ owner, type, ttl: recordTtl({ type, ttl }, rdata), rdata }));
}

/** A record's TTL: its set's, but of a signature that of the set which it covers (RFC 4034 §3), as it says itself. */
export function recordTtl({ type, ttl }: Pick<WireSet, "type" | "ttl">, rdata: Uint8Array): number {
  if (type !== typeRrsig || rdata.length < 8) return ttl;
  return (rdata[4]! & 0x7f) * 0x100_0000 + ((rdata[5]! << 16) | (rdata[6]! << 8) | rdata[7]!);
}

/** Joins two sets of one type: all records of both, each once, with the least TTL (RFC 2181 §5.2). */
export function joinSets(left: WireSet, right: WireSet): WireSet {
  return {
    type: left.type,
    ttl: Math.min(left.ttl, right.ttl),
    rdatas: uniqueRdatas([...left.rdatas, ...right.rdatas]),
    policy: left.policy,
  };
}

/** Records in wire form, each once. @throws DnsError `BadRecord` or `BadName` */
export function rdatasFromText(type: number, data: readonly string[]): Uint8Array[] {
  return uniqueRdatas(data.map((text) => rdataFromText(type, text)));
}

/** Leaves each record once, where it comes first. */
export function uniqueRdatas(rdatas: Uint8Array[]): Uint8Array[] {
  if (rdatas.length < 2) return rdatas;
  if (rdatas.length === 2) return equalOctets(rdatas[0]!, rdatas[1]!) ? [rdatas[0]!] : rdatas;
  const unique = new Map<string, Uint8Array>();
  for (const rdata of rdatas) {
    const key = octetsKey(rdata);
    if (!unique.has(key)) unique.set(key, rdata);
  }
  return unique.size === rdatas.length ? rdatas : [...unique.values()];
}

/** A text that is the same for the same octets only. */
export function octetsKey(octets: Uint8Array): string {
  let key = "";
  for (const octet of octets) key += String.fromCharCode(octet);
  return key;
}

function checkTtl(ttl: number): void {
  if (!Number.isInteger(ttl) || ttl < 0 || ttl > ttlMax) {
    throw new DnsError("BadRecord", `TTL ${ttl} is not an integer from 0 to ${ttlMax}`);
  }
}
