import { fetchPeerKeys, type DnsClient, type ForeignKey, type TsigKey } from "@meridian/dns";
import type { Endpoint, Runtime } from "@meridian/runtime";
import { ownKeysLabel, type SignedZones } from "./signed-zones.ts";

/** Who is asked for keys, and who takes them. */
export interface PeerKeyFeederOptions {
  readonly dnsClient: Pick<DnsClient, "query">;
  readonly signed: Pick<SignedZones, "origins" | "setForeign">;
  /** The peers of a zone, and where each is asked. */
  readonly peers: (
    zone: string,
  ) => readonly { readonly geoTag: string; readonly servers: readonly Endpoint[] }[];
  readonly deadlineMs: number;
  readonly periodMs: number;
}

/** The name of the TSIG key by which clusters ask each other for keys; without it they are not asked. */
const peerKeyName = "meridian-peers";

/**
 * Publishes the DNSKEYs of the other clusters that sign a zone, beside the own ones (RFC 8901 model 2), so that answers of
 * any cluster are valid by the DNSKEY set of any other. What a peer said last stands while it is silent: a key that is
 * published needlessly harms nobody, and one that is missing makes answers bogus.
 *
 * Whoever could forge a peer's reply could sign for the zone. So peers are asked only with the TSIG key `meridian-peers`.
 */
export class PeerKeyFeeder {
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: PeerKeyFeederOptions;
  /** By zone and geo tag. */
  readonly #known = new Map<string, Map<string, readonly ForeignKey[]>>();
  #key: TsigKey | undefined;

  constructor(runtime: Pick<Runtime, "clock" | "log">, options: PeerKeyFeederOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  /** Asks with these keys from now on. */
  setKeys(keys: readonly TsigKey[]): void {
    this.#key = keys.find(({ name }) => name === peerKeyName);
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
    await Promise.all(this.#options.signed.origins.map((zone) => this.#ask(zone, signal)));
  }

  async #ask(zone: string, signal: AbortSignal): Promise<void> {
    const key = this.#key;
    if (key === undefined) return;
    const { dnsClient, signed, peers, deadlineMs } = this.#options;
    const known = this.#known.get(zone) ?? new Map<string, readonly ForeignKey[]>();
    this.#known.set(zone, known);
    await Promise.all(
      peers(zone).map(async ({ geoTag, servers }) => {
        if (servers.length === 0) return;
        const found = await fetchPeerKeys(
          dnsClient,
          { zone, ownKeysLabel },
          { servers, deadlineMs, key, signal },
        );
        if (found.state === "known") known.set(geoTag, found.keys);
        else this.#runtime.log.debug("a peer's keys are not known", { zone, geoTag, reason: found.reason });
      }),
    );
    if (!signal.aborted) signed.setForeign(zone, [...known.values()].flat());
  }
}
