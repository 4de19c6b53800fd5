import { GeoClient } from "./geo-client.ts";
import type { GeoState } from "./geo-state.ts";

/**
 * The records of one set as the selector reads them. One object may be filled again for every answer.
 */
export interface GeoSet {
  count: number;
  /** Whether `tags` decide, as with `groups`; else the records' own addresses. */
  byTag: boolean;
  /** `geoTagId` of each record's group, from `tagsAt` on; 0 where it is in none. */
  tags: Int32Array;
  tagsAt: number;
  /** Addresses: the first at `addressAt`, each `stride` octets behind the one before. `octetCount` 0: no addresses. */
  octets: Uint8Array;
  addressAt: number;
  stride: number;
  octetCount: 0 | 4 | 16;
}

/** An address in network order. */
export interface GeoAddress {
  readonly octets: Uint8Array;
  /** Where it starts. */
  readonly at: number;
  readonly octetCount: 4 | 16;
}

/** What was chosen. One object is used for all choices: valid until the next. */
export interface GeoChoice {
  /** The first `count` are indexes of records, rising. */
  readonly indexes: Uint16Array;
  count: number;
  /** Prefix length around the client's address for which the choice holds (RFC 7871 §7.2.1); may be longer than SOURCE. */
  scope: number;
}

/** More records than a message holds. */
const recordsMax = 8192;
const rememberedCount = 1024;
/** What leaves a number below `rememberedCount` of 32 bits. */
const rememberedShift = 22;

/**
 * Chooses records by where a client is. Allocates nothing; has no state but what `GeoState` gives, so threads choose alike.
 *
 * Scopes of one set never overlap with different choices: a choice depends on nothing but the trie's leaf, and leaves are
 * disjoint prefixes.
 */
export class GeoSelector {
  /** The client to choose for: read it from a question, then `select`. Follows `update`. */
  readonly client: GeoClient = new GeoClient();
  readonly #choice: GeoChoice = { indexes: new Uint16Array(recordsMax), count: 0, scope: 0 };
  #trie: Int32Array = new Int32Array();
  #values: Int32Array = new Int32Array();
  #tags: Int32Array = new Int32Array(2);
  #v4 = -1;
  #v6 = -1;
  #fieldCount = 0;
  #depth = 0;
  /** Locations of the set's records. */
  readonly #targets: Int32Array = new Int32Array(recordsMax);
  readonly #rememberedAddresses: Int32Array = new Int32Array(rememberedCount);
  /** -1: none yet. */
  readonly #rememberedLocations: Int32Array = new Int32Array(rememberedCount).fill(-1);

  /** @param state absent: nothing is known of any address, and all records are chosen, with scope 0 */
  constructor(state?: GeoState) {
    if (state !== undefined) this.update(state);
  }

  /** Goes by another state from the next choice on. */
  update(state: GeoState): void {
    this.#trie = new Int32Array(state.trie);
    this.#values = new Int32Array(state.values);
    this.#tags = new Int32Array(state.tags);
    this.#v4 = state.roots.v4;
    this.#v6 = state.roots.v6;
    this.#fieldCount = state.fieldCount;
    this.#rememberedLocations.fill(-1);
    this.client.update(state);
  }

  /** Chooses at least one record of a set that has any. */
  select(set: GeoSet, client: GeoAddress = this.client): GeoChoice {
    const choice = this.#choice;
    const location = this.#locate(client.octets, client.at, client.octetCount);
    choice.scope = this.#depth;
    choice.count = 0;
    if (set.byTag) this.#chooseByTag(set, location);
    else if (set.octetCount !== 0) this.#chooseByAddress(set, location, set.octetCount);
    if (choice.count === 0) {
      const { indexes } = choice;
      for (let index = 0; index < set.count; index++) indexes[index] = index;
      choice.count = set.count;
    }
    return choice;
  }

  /** By the tags that a map gives the location, then by its values: a value `eu` means the group `eu`. */
  #chooseByTag(set: GeoSet, location: number): void {
    const choice = this.#choice;
    const tags = this.#tags;
    const end = tags[location + 1]!;
    for (let at = tags[location]!; at < end && choice.count === 0; at++) this.#chooseGroup(set, tags[at]!);
    const valuesEnd = (location + 1) * this.#fieldCount;
    for (let at = valuesEnd - this.#fieldCount; at < valuesEnd && choice.count === 0; at++)
      this.#chooseGroup(set, this.#values[at]!);
  }

  #chooseGroup({ count, tags, tagsAt }: GeoSet, wanted: number): void {
    if (wanted === 0) return;
    const choice = this.#choice;
    for (let index = 0; index < count; index++)
      if (tags[tagsAt + index] === wanted) choice.indexes[choice.count++] = index;
  }

  /** By tags, where a target has the first tag of its own location; then by each field, as k8gb does. */
  #chooseByAddress(set: GeoSet, location: number, octetCount: 4 | 16): void {
    const choice = this.#choice;
    const { count } = set;
    const targets = this.#targets;
    for (let index = 0; index < count; index++)
      targets[index] = this.#targetLocation(set.octets, set.addressAt + index * set.stride, octetCount);
    const tags = this.#tags;
    const end = tags[location + 1]!;
    for (let at = tags[location]!; at < end && choice.count === 0; at++) {
      for (let index = 0; index < count; index++) {
        const target = targets[index]!;
        const tagAt = tags[target]!;
        if (tagAt < tags[target + 1]! && tags[tagAt] === tags[at]) choice.indexes[choice.count++] = index;
      }
    }
    const fields = this.#fieldCount;
    const values = this.#values;
    for (let field = 0; field < fields && choice.count === 0; field++) {
      const wanted = values[location * fields + field]!;
      if (wanted === 0) continue;
      for (let index = 0; index < count; index++)
        if (values[targets[index]! * fields + field] === wanted) choice.indexes[choice.count++] = index;
    }
  }

  /** The location of a target. There are few, and they are asked for again and again: those of IPv4 are remembered. */
  #targetLocation(octets: Uint8Array, at: number, octetCount: 4 | 16): number {
    if (octetCount === 16) return this.#locate(octets, at, 16);
    const address = (octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!;
    const slot = Math.imul(address, 0x9e3779b1) >>> rememberedShift;
    if (this.#rememberedAddresses[slot] !== address || this.#rememberedLocations[slot]! < 0) {
      this.#rememberedAddresses[slot] = address;
      this.#rememberedLocations[slot] = this.#locate(octets, at, 4);
    }
    return this.#rememberedLocations[slot]!;
  }

  /** The location of an address; `#depth` is then that of its leaf. */
  #locate(octets: Uint8Array, at: number, octetCount: 4 | 16): number {
    const trie = this.#trie;
    let reference = octetCount === 4 ? this.#v4 : this.#v6;
    let depth = 0;
    while (reference >= 0) {
      const bit = (octets[at + (depth >>> 3)]! >>> (7 - (depth & 7))) & 1;
      reference = trie[2 * reference + bit]!;
      depth++;
    }
    this.#depth = depth;
    return ~reference;
  }
}
