import type { Name } from "../name/name.ts";
import type { AnswerPolicy } from "./record-set.ts";
import { fixedPolicy, rotatePolicy, type WireSet } from "./wire-set.ts";
import { content, set as setWord, setFlag } from "./zone-layout.ts";

/** Memory that sets lie in. */
export interface SetMemory {
  readonly words: Int32Array;
  readonly octets: Uint8Array;
}

/** Reads a content back into the sets that it was built from, all names written out. Copies; nothing of the memory is kept. */
export function readContent(memory: SetMemory, contentAt: number, origin: Name): WireSet[] {
  const sets: WireSet[] = [];
  const count = memory.words[contentAt + content.info]! & 0xffff;
  for (let index = 0, at = contentAt + content.sets; index < count; index++) {
    sets.push(readSet(memory, at, origin));
    at += memory.words[at + setWord.size]!;
  }
  return sets;
}

/** The set at a word index. */
export function readSet(memory: SetMemory, at: number, origin: Name): WireSet {
  const { words, octets } = memory;
  const info = words[at + setWord.info]!;
  const extent = words[at + setWord.extent]!;
  const count = extent >>> 16;
  const patches = readPatches(words, at);
  const rdatas: Uint8Array[] = [];
  let recordAt = (at + setWord.body) * 4;
  const bodyAt = recordAt;
  for (let index = 0; index < count; index++) {
    const dataAt = recordAt + 12;
    const end = dataAt + ((octets[dataAt - 2]! << 8) | octets[dataAt - 1]!);
    rdatas.push(expand(octets.slice(dataAt, end), { patches, from: dataAt - bodyAt, origin }));
    recordAt = end;
  }
  return { type: info & 0xffff, ttl: words[at + setWord.ttl]!, rdatas, policy: readPolicy(memory, at) };
}

/** Word index of what a set's tail has behind the starts of records. */
export function tailAt(words: Int32Array, at: number): number {
  const tail = at + (words[at + setWord.tail]! & 0xffff);
  if ((words[at + setWord.info]! & setFlag.varied) === 0) return tail;
  return tail + ((words[at + setWord.extent]! >>> 17) + ((words[at + setWord.extent]! >>> 16) & 1));
}

/** Word index of the targets, where a set has any. */
export function targetsAt(words: Int32Array, at: number): number {
  const tail = tailAt(words, at);
  return (words[at + setWord.info]! & setFlag.patched) === 0 ? tail : tail + 1 + words[tail]!;
}

/** Word index of what choosing needs, where the set is `tailored`. */
export function choiceAt(words: Int32Array, at: number): number {
  const policy = policyAt(words, at);
  return policy + 1 + ((words[policy]! + 3) >>> 2);
}

function policyAt(words: Int32Array, at: number): number {
  let tail = targetsAt(words, at);
  if ((words[at + setWord.info]! & setFlag.targets) === 0) return tail;
  const count = words[tail++]!;
  for (let index = 0; index < count; index++) tail += 1 + (((words[tail]! >>> 16) + 3) >>> 2);
  return tail;
}

function readPatches(words: Int32Array, at: number): Map<number, number> {
  const patches = new Map<number, number>();
  if ((words[at + setWord.info]! & setFlag.patched) === 0) return patches;
  const tail = tailAt(words, at);
  for (let index = 1; index <= words[tail]!; index++) {
    const patch = words[tail + index]!;
    patches.set(patch & 0xffff, patch >>> 16);
  }
  return patches;
}

/** Writes the origin, or its end, in place of each pointer to it. */
function expand(
  rdata: Uint8Array,
  options: { readonly patches: Map<number, number>; readonly from: number; readonly origin: Name },
): Uint8Array {
  const { patches, from, origin } = options;
  if (patches.size === 0) return rdata;
  const parts: Uint8Array[] = [];
  let copied = 0;
  for (let at = 0; at < rdata.length; at++) {
    const originAt = patches.get(from + at);
    if (originAt === undefined) continue;
    parts.push(rdata.subarray(copied, at), origin.subarray(originAt));
    copied = at + 2;
  }
  if (parts.length === 0) return rdata;
  parts.push(rdata.subarray(copied));
  const expanded = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    expanded.set(part, at);
    at += part.length;
  }
  return expanded;
}

function readPolicy({ words, octets }: SetMemory, at: number): AnswerPolicy {
  const info = words[at + setWord.info]!;
  if ((info & setFlag.isRotate) !== 0) return rotatePolicy;
  if ((info & setFlag.policy) === 0) return fixedPolicy;
  const policy = policyAt(words, at);
  const start = (policy + 1) * 4;
  return JSON.parse(new TextDecoder().decode(octets.slice(start, start + words[policy]!))) as AnswerPolicy;
}
