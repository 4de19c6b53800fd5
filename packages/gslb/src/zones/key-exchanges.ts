import { KeyExchange, type DnsClient, type RolloverDelays, type TsigKey, type ZoneKeys } from "@meridian/dns";
import type { Endpoint, Runtime } from "@meridian/runtime";
import { peerKey } from "../peers/peer-key.ts";
import type { KeyMemory } from "./key-memory.ts";
import { keyTtlSeconds, ownKeysLabel, type SignedZones } from "./signed-zones.ts";

/** Who is asked for keys, and who takes and keeps them. */
export interface KeyExchangesOptions {
  readonly dnsClient: Pick<DnsClient, "query">;
  readonly signed: Pick<SignedZones, "signed" | "given">;
  readonly memory: Pick<KeyMemory, "store">;
  /** All other clusters that answer a zone by geo tag, and where each is asked; nowhere while that is not known. */
  readonly peers: (zone: string) => ReadonlyMap<string, readonly Endpoint[]>;
  /** Who knows the DS records in the parents. */
  readonly edgeServers: () => readonly Endpoint[];
  readonly deadlineMs: number;
  readonly periodMs: number;
}

/** The longest that resolvers may keep records of a zone, and DS records of its parent; both are waited for. */
const daySeconds = 86_400;

/**
 * Runs the key exchange (RFC 8901 model 2) of every zone that is signed: answers of any cluster are valid by the DNSKEY
 * set of any other, and a key that waits signs when all know it.
 *
 * Whoever could forge a peer's reply could sign for the zone. So peers are asked only with the TSIG key `meridian-peers`.
 */
export class KeyExchanges {
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: KeyExchangesOptions;
  readonly #delays: RolloverDelays;
  readonly #exchanges = new WeakMap<ZoneKeys, KeyExchange>();
  #key: TsigKey | undefined;

  constructor(runtime: Pick<Runtime, "clock" | "log">, options: KeyExchangesOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#delays = {
      ...{ dnskeyTtl: keyTtlSeconds, recordTtlMax: daySeconds, dsTtl: daySeconds },
      propagation: Math.ceil((2 * options.periodMs) / 1000),
    };
  }

  /** Asks with these keys from now on. */
  setKeys(keys: readonly TsigKey[]): void {
    this.#key = peerKey(keys);
  }

  /** Asks every period until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.round(signal);
      await this.#runtime.clock.sleep(this.#options.periodMs, signal).catch(() => {});
    }
  }

  /**
   * Asks every peer of every signed zone once. A cluster does so before it first answers: resolvers would keep a DNSKEY set
   * that lacks a peer's keys for its TTL, and find that peer's answers bogus as long.
   */
  async round(signal: AbortSignal): Promise<void> {
    await Promise.all(
      [...this.#options.signed.signed].map(([zone, zoneKeys]) => this.#exchange(zone, zoneKeys, signal)),
    );
  }

  async #exchange(zone: string, zoneKeys: ZoneKeys, signal: AbortSignal): Promise<void> {
    if (this.#key === undefined && this.#options.peers(zone).size > 0) return;
    const exchange = this.#exchanges.get(zoneKeys) ?? this.#open(zone, zoneKeys, signal);
    this.#exchanges.set(zoneKeys, exchange);
    try {
      const { unknown } = await exchange.round();
      for (const [geoTag, reason] of unknown)
        this.#runtime.log.debug("a peer's keys are not known", { zone, geoTag, reason });
    } catch (error) {
      if (!signal.aborted)
        this.#runtime.log.warn("storing the keys of a zone failed; trying again", { zone, error });
    }
  }

  #open(zone: string, zoneKeys: ZoneKeys, signal: AbortSignal): KeyExchange {
    const { dnsClient, signed, memory, peers, edgeServers, deadlineMs } = this.#options;
    return new KeyExchange({
      ...{ clock: this.#runtime.clock, client: dnsClient, zoneKeys, ownKeysLabel, delays: this.#delays },
      peers: () => {
        const key = this.#key === undefined ? {} : { key: this.#key };
        const question = (servers: readonly Endpoint[]) => ({ servers, deadlineMs, signal, ...key });
        return new Map([...peers(zone)].map(([geoTag, servers]) => [geoTag, question(servers)]));
      },
      parent: () => ({ servers: edgeServers(), deadlineMs, signal, recursionDesired: true }),
      persist: (keys) => memory.store(zone, keys, { given: signed.given(zone), signal }),
    });
  }
}
