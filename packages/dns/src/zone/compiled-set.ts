import { DnsError } from "../dns-error.ts";
import { isAtOrBelow, type Name } from "../name/name.ts";
import { typeFromText, typeToText } from "../message/codes.ts";
import { rdataFromText, rdataNames } from "../message/rdata.ts";
import { headerOctets } from "../message/header.ts";
import { OctetWriter } from "../message/octets.ts";
import type { AnswerPolicy, RecordSet } from "./record-set.ts";

/** Offset of the question's name in every message: where the owner pointer of a compiled record points. */
export const questionNameAt: number = headerOctets;
const ttlMax = 0x7fff_ffff;
const weightMax = 1_000_000;
/** What is left of 65,535 octets beside a header, the longest question and our OPT record. */
const bodyOctetsMax = 65_000;

const oneStart = new Uint16Array(1);
const noPatches = new Uint16Array();
const noTargets: readonly RdataTarget[] = [];

/** A name in the rdata of a compiled set. */
export interface RdataTarget {
  readonly name: Name;
  /** Where it stands in `body`. */
  readonly at: number;
}

/**
 * A record set as bytes that go into an answer as they are.
 *
 * Each record's owner is a pointer to the question. Names in rdata that end like the zone's origin end in a pointer,
 * too, whose value depends on where the origin stands in the message: for zone `cloud.example.com` and a target
 * `ns.example.com` the body has `2 ns` and a pointer, and `patches` holds that pointer's place and 6, the offset of
 * `example.com` within the origin.
 */
export class CompiledSet {
  readonly type: number;
  readonly ttl: number;
  readonly count: number;
  readonly body: Uint8Array;
  /** Where each record starts. */
  readonly starts: Uint16Array;
  /** Octets of a record where all have the same, else 0. */
  readonly stride: number;
  /** Pairs: place of a pointer in `body`, offset in the origin that it means. */
  readonly patches: Uint16Array;
  /** Whether there are any, so that the hot path need not look into the array. */
  readonly patched: boolean;
  /** Names in rdata, for those types that have them: one per record. */
  readonly targets: readonly RdataTarget[];
  readonly rotate: boolean;
  /** The record that the next answer starts with, where `rotate`. */
  turn = 0;
  readonly choice: WeightedChoice | undefined;

  constructor(fields: Omit<CompiledSet, "turn" | "count" | "stride" | "patched">) {
    this.type = fields.type;
    this.ttl = fields.ttl;
    this.count = fields.starts.length;
    this.body = fields.body;
    this.starts = fields.starts;
    this.stride = strideOf(fields.starts, fields.body.length);
    this.patches = fields.patches;
    this.patched = fields.patches.length > 0;
    this.targets = fields.targets;
    this.rotate = fields.rotate;
    this.choice = fields.choice;
  }
}

/** Sets to draw from: set `i` when the draw from 0 to `cumulative.at(-1) - 1` is below `cumulative[i]` first. */
export interface WeightedChoice {
  readonly cumulative: Uint32Array;
  readonly sets: readonly CompiledSet[];
}

function strideOf(starts: Uint16Array, length: number): number {
  const stride = length / starts.length;
  return starts.every((start, index) => start === index * stride) ? stride : 0;
}

/** Compiles a record set with data. @throws DnsError `BadRecord`, `BadName` or `TooLarge` */
export function compileSet(set: RecordSet, origin: Name): CompiledSet {
  const type = typeFromText(set.type);
  if (!Number.isInteger(set.ttl) || set.ttl < 0 || set.ttl > ttlMax) {
    throw new DnsError("BadRecord", `TTL ${set.ttl} is not an integer from 0 to ${ttlMax}`);
  }
  const rdatas = uniqueRdatas(type, set.data);
  return compileRdatas({ type, ttl: set.ttl, rdatas, origin, policy: set.policy ?? { kind: "fixed" } });
}

function compileRdatas(options: {
  readonly type: number;
  readonly ttl: number;
  readonly rdatas: readonly Uint8Array[];
  readonly origin: Name;
  readonly policy: AnswerPolicy;
}): CompiledSet {
  const { type, ttl, rdatas, origin, policy } = options;
  const writer = new OctetWriter(bodyOctetsMax);
  const starts: number[] = [];
  const patches: number[] = [];
  const targets: RdataTarget[] = [];
  for (const rdata of rdatas) {
    starts.push(writer.length);
    writer.uint16(0xc000 | questionNameAt);
    writer.uint16(type);
    writer.uint16(1);
    writer.uint32(ttl);
    const lengthAt = writer.length;
    writer.uint16(0);
    let copied = 0;
    for (const { at, name, compressible } of rdataNames(type, rdata)) {
      writer.octets(rdata.subarray(copied, at));
      if (hasTarget(type)) targets.push({ name, at: writer.length });
      copied = at + name.length;
      const shared = compressible ? sharedSuffix(name, origin) : undefined;
      if (shared === undefined) {
        writer.octets(name);
        continue;
      }
      writer.octets(name.subarray(0, shared.nameAt));
      patches.push(writer.length, shared.originAt);
      writer.uint16(0xc000);
    }
    writer.octets(rdata.subarray(copied));
    writer.patchUint16(lengthAt, writer.length - lengthAt - 2);
  }
  return new CompiledSet({
    type,
    ttl,
    body: writer.take(),
    // Most sets have one record and no pointers: those share their arrays.
    starts: starts.length === 1 ? oneStart : Uint16Array.from(starts),
    patches: patches.length === 0 ? noPatches : Uint16Array.from(patches),
    targets: targets.length === 0 ? noTargets : targets,
    // A rotated set is copied in two pieces, for which patches have no fixed place.
    rotate: policy.kind === "rotate" && rdatas.length > 1 && patches.length === 0 && targets.length === 0,
    choice: policy.kind === "weighted" ? compileChoice(policy, options) : undefined,
  });
}

function compileChoice(
  policy: Extract<AnswerPolicy, { kind: "weighted" }>,
  { type, ttl, origin }: { readonly type: number; readonly ttl: number; readonly origin: Name },
): WeightedChoice | undefined {
  for (const { weight } of policy.groups) {
    if (!Number.isInteger(weight) || weight < 0 || weight > weightMax) {
      throw new DnsError("BadRecord", `weight ${weight} is not an integer from 0 to ${weightMax}`);
    }
  }
  const filled = policy.groups.filter((group) => group.data.length > 0);
  const allZero = filled.every((group) => group.weight === 0);
  const drawn = filled.filter((group) => allZero || group.weight > 0);
  if (drawn.length === 0) return undefined;
  let total = 0;
  const cumulative = Uint32Array.from(drawn, (group) => (total += allZero ? 1 : group.weight));
  if (total > 0xffff_ffff)
    throw new DnsError("BadRecord", `the weights add up to ${total}, over 4294967295; use smaller ones`);
  const sets = drawn.map((group) =>
    compileRdatas({ type, ttl, origin, rdatas: uniqueRdatas(type, group.data), policy: { kind: "rotate" } }),
  );
  return { cumulative, sets };
}

/** A set in the sense of RFC 2181 §5: equal records count once. */
function uniqueRdatas(type: number, data: readonly string[]): Uint8Array[] {
  if (data.length === 1) return [rdataFromText(type, data[0]!)];
  const rdatas = new Map<string, Uint8Array>();
  for (const text of data) {
    const rdata = rdataFromText(type, text);
    rdatas.set(String.fromCharCode(...rdata.subarray(0, 1000)) + rdata.subarray(1000).join(), rdata);
  }
  return [...rdatas.values()];
}

/** The types whose rdata names lead on: to the rest of a chain, or to addresses worth adding. */
function hasTarget(type: number): boolean {
  switch (typeToText(type)) {
    case "NS":
    case "CNAME":
    case "DNAME":
    case "MX":
    case "SRV":
    case "SVCB":
    case "HTTPS":
      return true;
    default:
      return false;
  }
}

/** The longest suffix, root excepted, that a name shares with the origin. */
function sharedSuffix(
  name: Name,
  origin: Name,
): { readonly nameAt: number; readonly originAt: number } | undefined {
  for (let originAt = 0; origin[originAt] !== 0; originAt += origin[originAt]! + 1) {
    const suffix = origin.subarray(originAt);
    if (isAtOrBelow(name, suffix)) return { nameAt: name.length - suffix.length, originAt };
  }
  return undefined;
}

/** Whether two sets answer the same: same type, TTL, data and policy. */
export function equalRecordSets(left: RecordSet, right: RecordSet): boolean {
  return (
    left.type.toUpperCase() === right.type.toUpperCase() &&
    left.ttl === right.ttl &&
    left.name === right.name &&
    equalTexts(left.data, right.data) &&
    JSON.stringify(left.policy ?? { kind: "fixed" }) === JSON.stringify(right.policy ?? { kind: "fixed" })
  );
}

function equalTexts(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index]);
}
