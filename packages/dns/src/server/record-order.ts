import type { DatagramClient } from "@meridian/runtime";
import { GeoClient } from "../geo/geo-client.ts";
import { GeoSelector, type GeoSet } from "../geo/geo-selector.ts";
import type { GeoState } from "../geo/geo-state.ts";
import { typeA, typeAaaa } from "../message/type-numbers.ts";
import { choiceAt } from "../zone/content-reader.ts";
import { set as setWord, setFlag } from "../zone/zone-layout.ts";
import type { ZoneView } from "../zone/zone-view.ts";
import type { FastRandom } from "./fast-random.ts";
import type { Query } from "./query.ts";

/** More records than a message holds. */
const recordsMax = 8192;
const headOctets = 12;

/** Chooses and orders the records of sets whose policy is `geo` or `weightedOrder`. Allocates nothing. */
export class RecordOrder {
  /** The first `count` are the records to write, in order. */
  readonly indexes: Uint16Array = new Uint16Array(recordsMax);
  count = 0;
  /** Prefix length for which the answer holds, where it was chosen by the client subnet; else 0 (RFC 7871 §7.2.1). */
  scope = 0;
  readonly #random: FastRandom;
  readonly #selector = new GeoSelector();
  readonly #client = new GeoClient();
  readonly #weights: Int32Array = new Int32Array(recordsMax);
  readonly #groups: Int32Array = new Int32Array(recordsMax);
  readonly #set: GeoSet = {
    count: 0,
    byTag: false,
    tags: new Int32Array(),
    tagsAt: 0,
    octets: new Uint8Array(),
    addressAt: 0,
    stride: 0,
    octetCount: 0,
  };
  #query: Query | undefined;
  #from: DatagramClient | undefined;

  constructor(random: FastRandom) {
    this.#random = random;
  }

  /** Goes by another state from the next answer on. */
  setGeo(geo: GeoState): void {
    this.#selector.update(geo);
    this.#client.update(geo);
  }

  /** Starts an answer. */
  begin(query: Query, from: DatagramClient): void {
    this.#query = query;
    this.#from = from;
    this.scope = 0;
  }

  /** Fills `indexes` for a set. */
  arrange(view: ZoneView, set: number): void {
    if ((view.words[set]! & setFlag.geo) !== 0) this.#choosePlace(view, set);
    else this.#drawOrder(view.words, set);
  }

  #choosePlace(view: ZoneView, set: number): void {
    const { words, octets } = view;
    const type = words[set]! & 0xffff;
    const tail = choiceAt(words, set);
    const client = this.#client;
    client.read(this.#query!, this.#from!);
    const geo = this.#set;
    geo.count = Math.min(recordsMax, words[set + setWord.extent]! >>> 16);
    geo.byTag = words[tail] === 1;
    geo.tags = words;
    geo.tagsAt = tail + 1;
    geo.octets = octets;
    geo.addressAt = (set + setWord.body) * 4 + headOctets;
    geo.stride = words[set + setWord.tail]! >>> 16;
    geo.octetCount = type === typeA ? 4 : type === typeAaaa ? 16 : 0;
    const choice = this.#selector.select(geo, client);
    for (let index = 0; index < choice.count; index++) this.indexes[index] = choice.indexes[index]!;
    this.count = choice.count;
    if (client.bySubnet && choice.scope > this.scope) this.scope = choice.scope;
  }

  /** Draws groups without replacement, each with probability weight / what is left, those of weight 0 last. */
  #drawOrder(words: Int32Array, set: number): void {
    const [weights, groups] = [this.#weights, this.#groups];
    let at = choiceAt(words, set);
    const groupCount = Math.min(words[at++]!, recordsMax);
    let total = 0;
    for (let group = 0; group < groupCount; group++) {
      groups[group] = at + 1;
      weights[group] = words[at]!;
      total += words[at]!;
      at += 2 + (words[at + 1]! & 0xffff);
    }
    this.count = 0;
    for (let left = groupCount; left > 0; left--) {
      const drawn = total > 0 ? this.#random.below(total) : 0;
      let group = 0;
      if (total > 0)
        for (let sum = weights[0]!; sum <= drawn && group < left - 1; sum += weights[group]!) group++;
      else group = this.#random.below(left);
      this.#append(words, groups[group]!);
      total -= weights[group]!;
      groups[group] = groups[left - 1]!;
      weights[group] = weights[left - 1]!;
    }
  }

  /** Appends a group's records in random order. */
  #append(words: Int32Array, at: number): void {
    const { indexes } = this;
    const size = Math.min(words[at]! & 0xffff, recordsMax - this.count);
    for (let index = 0; index < size; index++) {
      const place = this.count + this.#random.below(index + 1);
      indexes[this.count + index] = indexes[place]!;
      indexes[place] = words[at + 1 + index]!;
    }
    this.count += size;
  }
}
