import type { Clock } from "@meridian/runtime";
import type { DnsClient } from "../client/dns-client.ts";
import { wallSeconds } from "../wall-seconds.ts";
import { scheduleTakeover, type RolloverDelays } from "./key-rollover.ts";
import { fetchPeerKeys, hasDs, isKeyPublished, type KeyQuestion } from "./peer-keys.ts";
import {
  dnskeyOf,
  keyState,
  keyTagOf,
  type ForeignKey,
  type SigningKey,
  type SigningKeys,
} from "./signing-key.ts";
import type { ZoneKeys } from "./zone-keys.ts";

/** Whose keys are exchanged, with whom, and how patiently. */
export interface KeyExchangeOptions {
  readonly clock: Clock;
  readonly client: Pick<DnsClient, "query">;
  /** The keys of this cluster. It must publish them under `ownKeysLabel`, as the others must. */
  readonly zoneKeys: ZoneKeys;
  readonly ownKeysLabel: string;
  /**
   * How to ask each of the other clusters that answer the zone, by any name; without servers where nobody knows how. Read
   * in every round. The keys of a cluster that is named no more are not published any more.
   */
  readonly peers: () => ReadonlyMap<string, KeyQuestion>;
  /** How to ask the parent's servers for the zone's DS set. Read in every round. */
  readonly parent: () => KeyQuestion;
  readonly delays: RolloverDelays;
  /**
   * Stores keys before they are used. Those of others belong to it, since a cluster that starts without them would
   * publish a set that lacks them; so do times that were decided on, since a takeover must not be taken back.
   */
  readonly persist: (keys: SigningKeys) => Promise<void>;
}

/** What a round found. */
export interface KeyExchangeRound {
  /** The clusters that did not tell their keys, and why. What was known of them stays in force. */
  readonly unknown: ReadonlyMap<string, string>;
  /** Whether this cluster's keys are due to sign, all kinds of them: only then may the delegation name this cluster. */
  readonly active: boolean;
}

interface Sighting {
  publishedEverywhereAt?: number;
  dsAt?: number;
}

/**
 * Keeps the keys of the clusters that answer one zone together (RFC 8901 model 2), and lets new keys of this one take over
 * when all others publish them and the parent has their DS. One round at a time, as often as the caller likes; what was
 * seen is remembered between rounds.
 */
export class KeyExchange {
  readonly #options: KeyExchangeOptions;
  readonly #known = new Map<string, readonly ForeignKey[]>();
  readonly #sightings = new Map<number, Sighting>();
  /** Keys from before the first round, kept until every cluster has told its own. */
  readonly #initial: readonly ForeignKey[];

  constructor(options: KeyExchangeOptions) {
    this.#options = options;
    this.#initial = options.zoneKeys.keys.foreign;
  }

  /**
   * Asks everybody once. Rejects only with what `persist` rejects with; nothing is changed then. Where the zone was given
   * other keys meanwhile, or is signed no more, those stay, and the next round goes by them.
   */
  async round(): Promise<KeyExchangeRound> {
    const unknown = await this.#askPeers();
    const { zoneKeys } = this.#options;
    const before = zoneKeys.keys;
    const now = this.#now;
    let keys: SigningKeys = {
      own: withoutRemoved(before.own, now),
      foreign: this.#foreign(before.own, unknown),
    };
    for (const key of keys.own) {
      if (keyState(key, now) !== "published" || key.times.activate !== undefined) continue;
      keys = this.#release(keys, key, await this.#look(key));
    }
    if (zoneKeys.keys === before && !isSame(keys, before)) {
      await this.#options.persist(keys);
      if (zoneKeys.keys === before) zoneKeys.set(keys);
    }
    return { unknown, active: isComplete(zoneKeys.keys.own, now) };
  }

  get #now(): number {
    return wallSeconds(this.#options.clock);
  }

  async #askPeers(): Promise<Map<string, string>> {
    const { client, zoneKeys, ownKeysLabel, peers } = this.#options;
    const subject = { zone: zoneKeys.origin, ownKeysLabel };
    const questions = peers();
    const unknown = new Map<string, string>();
    for (const peer of [...this.#known.keys()]) if (!questions.has(peer)) this.#known.delete(peer);
    await Promise.all(
      [...questions].map(async ([peer, question]) => {
        const found = await fetchPeerKeys(client, subject, question);
        if (found.state === "known") this.#known.set(peer, found.keys);
        else unknown.set(peer, found.reason);
      }),
    );
    return unknown;
  }

  /** The keys of the others, each once; those that they share with us are own ones. */
  #foreign(own: readonly SigningKey[], unknown: ReadonlyMap<string, string>): readonly ForeignKey[] {
    const neverTold = [...unknown.keys()].some((peer) => !this.#known.has(peer));
    const told = [...this.#known.values()].flat();
    const all = [...(neverTold ? this.#initial : []), ...told]; // of two words about one key the later one counts
    const foreign = new Map(all.map((key) => [key.dnskey.join(), key]));
    for (const key of own) foreign.delete(dnskeyOf(key).join());
    return [...foreign.values()].sort((left, right) => Buffer.compare(left.dnskey, right.dnskey));
  }

  /** What is seen of a key that waits; a cluster that turns out not to publish it starts the time anew. */
  async #look(key: SigningKey): Promise<Sighting> {
    const { client, zoneKeys, peers, parent } = this.#options;
    const tag = keyTagOf(dnskeyOf(key));
    const sighting = this.#sightings.get(tag) ?? {};
    this.#sightings.set(tag, sighting);
    const subject = { zone: zoneKeys.origin, key };
    const published = await Promise.all(
      [...peers().values()].map((question) => isKeyPublished(client, subject, question)),
    );
    if (published.includes(false)) delete sighting.publishedEverywhereAt;
    else if (!published.includes(undefined)) sighting.publishedEverywhereAt ??= this.#now;
    if (!key.secureEntryPoint) return sighting;
    const ds = await hasDs(client, subject, parent());
    if (ds === true) sighting.dsAt ??= this.#now;
    else if (ds === false) delete sighting.dsAt;
    return sighting;
  }

  #release(keys: SigningKeys, key: SigningKey, { publishedEverywhereAt, dsAt }: Sighting): SigningKeys {
    if (publishedEverywhereAt === undefined) return keys;
    const sightings = { publishedEverywhereAt, ...(dsAt === undefined ? {} : { dsAt }) };
    const { delays } = this.#options;
    return scheduleTakeover(keys, keyTagOf(dnskeyOf(key)), { now: this.#now, sightings, delays });
  }
}

/** The last keys of a zone stay: it is signed on by them, however late. */
function withoutRemoved(own: readonly SigningKey[], now: number): readonly SigningKey[] {
  const isActive = own.some((key) => keyState(key, now) === "active");
  return isActive ? own.filter((key) => keyState(key, now) !== "removed") : own;
}

/** Whether an active SEP key is there, and an active ZSK unless there is none at all. */
function isComplete(own: readonly SigningKey[], now: number): boolean {
  const active = own.filter((key) => keyState(key, now) === "active");
  const hasZoneKeys = own.some((key) => !key.secureEntryPoint);
  return (
    active.some((key) => key.secureEntryPoint) &&
    (!hasZoneKeys || active.some((key) => !key.secureEntryPoint))
  );
}

function isSame(left: SigningKeys, right: SigningKeys): boolean {
  const ownText = ({ own }: SigningKeys): string =>
    JSON.stringify(own.map((key) => [dnskeyOf(key).join(), key.times]));
  const foreignText = ({ foreign }: SigningKeys): string =>
    JSON.stringify(foreign.map(({ dnskey, wantsDs }) => [dnskey.join(), wantsDs]));
  return ownText(left) === ownText(right) && foreignText(left) === foreignText(right);
}
