import { DnsError } from "../dns-error.ts";
import { geoTagId } from "../geo/geo-tag.ts";
import type { GeoGroup, WeightedGroup } from "./record-set.ts";
import { octetsKey, rdatasFromText, rotatePolicy, type WireSet } from "./wire-set.ts";
import { setFlag } from "./zone-layout.ts";

const weightMax = 1_000_000;

/** What a tail is appended to. */
export interface TailWriter {
  push(word: number): void;
  pushOctets(octets: Uint8Array): void;
  /** Appends a set and returns its word index. */
  addChosen(set: WireSet): number;
  words: Int32Array;
  length: number;
}

/**
 * Appends what answering by a set's policy needs, and the policy itself, to the set that starts at word `setAt`.
 *
 * @returns the flags that say so
 * @throws DnsError `BadRecord`
 */
export function buildPolicyTail(writer: TailWriter, setAt: number, set: WireSet): number {
  const { policy } = set;
  if (policy.kind === "fixed" || policy.kind === "rotate") return 0;
  const text = new TextEncoder().encode(JSON.stringify(policy));
  writer.push(text.length);
  writer.pushOctets(text);
  const flags = setFlag.policy;
  switch (policy.kind) {
    case "weighted":
      return flags | buildChoice(writer, { setAt, set, groups: policy.groups });
    case "weightedOrder":
      return flags | buildOrder(writer, set, policy.groups);
    case "geo":
      return flags | buildGeo(writer, set, policy.groups);
  }
}

function buildChoice(
  writer: TailWriter,
  options: { readonly setAt: number; readonly set: WireSet; readonly groups: readonly WeightedGroup[] },
): number {
  const { setAt, set, groups } = options;
  checkWeights(groups);
  const filled = groups.filter((group) => group.data.length > 0);
  const allZero = filled.every((group) => group.weight === 0);
  const drawn = filled.filter((group) => allZero || group.weight > 0);
  if (drawn.length === 0 || set.rdatas.length === 0) return 0;
  writer.push(drawn.length);
  const tableAt = writer.length;
  for (let index = 0; index < 3 * drawn.length; index++) writer.push(0);
  let total = 0;
  drawn.forEach(({ weight, tag = "", data }, index) => {
    total += allZero ? 1 : weight;
    const rdatas = rdatasFromText(set.type, data);
    const at = writer.addChosen({ type: set.type, ttl: set.ttl, rdatas, policy: rotatePolicy });
    writer.words[tableAt + 3 * index] = total;
    writer.words[tableAt + 3 * index + 1] = at - setAt;
    writer.words[tableAt + 3 * index + 2] = geoTagId(tag);
  });
  if (total > 0x7fff_ffff)
    throw new DnsError("BadRecord", `the weights add up to ${total}, over 2147483647; use smaller ones`);
  return setFlag.choice;
}

function buildOrder(writer: TailWriter, set: WireSet, groups: readonly WeightedGroup[]): number {
  checkWeights(groups);
  if (set.rdatas.length < 2) return 0;
  const left = new Map(set.rdatas.map((rdata, index) => [octetsKey(rdata), index]));
  const members = groups.map(({ weight, data }) => {
    const indexes: number[] = [];
    for (const rdata of rdatasFromText(set.type, data)) {
      const index = left.get(octetsKey(rdata));
      if (index !== undefined) indexes.push(index);
      left.delete(octetsKey(rdata));
    }
    return { weight, indexes };
  });
  // Records without a group are answered all the same, behind the others.
  const all = [...members, { weight: 0, indexes: [...left.values()] }].filter(
    ({ indexes }) => indexes.length > 0,
  );
  writer.push(all.length);
  for (const { weight, indexes } of all) {
    writer.push(weight);
    writer.push(indexes.length);
    for (const index of indexes) writer.push(index);
  }
  return setFlag.order;
}

function buildGeo(writer: TailWriter, set: WireSet, groups: readonly GeoGroup[] | undefined): number {
  if (set.rdatas.length === 0) return 0;
  const tags = new Map<string, number>();
  for (const { tag, data } of groups ?? [])
    for (const rdata of rdatasFromText(set.type, data)) tags.set(octetsKey(rdata), geoTagId(tag));
  writer.push(groups === undefined ? 0 : 1);
  for (const rdata of set.rdatas) writer.push(tags.get(octetsKey(rdata)) ?? 0);
  return setFlag.geo;
}

function checkWeights(groups: readonly WeightedGroup[]): void {
  for (const { weight } of groups) {
    if (!Number.isInteger(weight) || weight < 0 || weight > weightMax) {
      throw new DnsError("BadRecord", `weight ${weight} is not an integer from 0 to ${weightMax}`);
    }
  }
}
