import type { DnsClient } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import type { OperatorConfig } from "../config/operator-config.ts";
import { canonicalName } from "../decide/dns-name.ts";
import { nameServerName, type ZonePair } from "../decide/zone-names.ts";
import { peerServers } from "../peers/peer-servers.ts";
import { lookUpAddresses } from "../references/address-book.ts";
import { knownAddresses } from "../references/exposed-addresses.ts";
import type { DnsServerEntry } from "../resources/zone-delegation.ts";
import { Ending } from "../tasks/ending.ts";
import type { DelegationProvider } from "./delegation-provider.ts";
import { addressesOf, type ServerLookup } from "./dns-server-entries.ts";
import { lookUpDelegation, type ParentDelegation } from "./parent-delegation.ts";
import type { ZoneMembers } from "./zone-members.ts";

/** Who is asked where the clusters are. */
export interface FleetLookupOptions {
  readonly dnsClient: Pick<DnsClient, "query">;
  readonly config: Pick<
    OperatorConfig,
    "geoTag" | "peers" | "nameServerPrefix" | "peerDeadlineMs" | "edgeDnsServers"
  >;
  readonly edgeServers: () => readonly Endpoint[];
  readonly members: ZoneMembers;
  readonly provider: DelegationProvider | undefined;
}

/** What a peer said of a zone itself. */
export interface PeerWord {
  readonly geoTag: string;
  readonly isReachable: boolean;
  /** The NS set of the zone as it answers it; empty where it did not answer. */
  readonly nameServers: readonly string[];
}

/** Looks for the clusters of a zone: their names in the parent, their addresses, and whether they answer. */
export class FleetLookup {
  readonly #options: FleetLookupOptions;

  constructor(options: FleetLookupOptions) {
    this.#options = options;
  }

  nameServer(zone: ZonePair, geoTag: string): string {
    return nameServerName(zone, geoTag, this.#options.config.nameServerPrefix);
  }

  /** Whom the parent delegates to now, by DNS. */
  delegation(zone: ZonePair, signal: AbortSignal): Promise<ParentDelegation> {
    const { dnsClient, edgeServers, config } = this.#options;
    return lookUpDelegation(zone, {
      ...{ dnsClient, edgeServers: edgeServers(), deadlineMs: config.peerDeadlineMs, signal },
    });
  }

  /**
   * The addresses of every cluster that takes part or may. In a dynamic fleet the parent is asked first who that is; its
   * glue stands in where the edge servers do not answer for a name.
   */
  async peers(zone: ZonePair, signal: AbortSignal): Promise<ReadonlyMap<string, ServerLookup>> {
    const { members } = this.#options;
    const glue = members.areDynamic ? await this.#discover(zone, signal) : undefined;
    const tags = members.candidates(zone.loadBalancedZone);
    using asking = new Ending(signal);
    const found = await Promise.all(tags.map((tag) => this.#peer(zone, tag, asking.signal)));
    return new Map(
      tags.map((tag, index) => {
        const lookup = found[index]!;
        const addresses = glue?.get(canonicalName(lookup.name)) ?? [];
        const isFound = "addresses" in lookup && lookup.addresses.length > 0;
        return [tag, isFound || addresses.length === 0 ? lookup : { name: lookup.name, addresses }];
      }),
    );
  }

  /** Asks each peer for the zone's NS set: all at once, so a silent one costs no more than its deadline. */
  async words(
    zone: ZonePair,
    entries: readonly DnsServerEntry[],
    signal: AbortSignal,
  ): Promise<readonly PeerWord[]> {
    const { members, dnsClient, config } = this.#options;
    const asked = members
      .of(zone.loadBalancedZone)
      .map((geoTag) => ({ geoTag, servers: this.servers(zone, geoTag, entries) }))
      .filter(({ servers }) => servers.length > 0);
    const name = canonicalName(zone.loadBalancedZone);
    using asking = new Ending(signal);
    return await Promise.all(
      asked.map(async ({ geoTag, servers }) => {
        const question = {
          ...{ name, type: "NS", servers },
          ...{ deadlineMs: config.peerDeadlineMs, signal: asking.signal },
        };
        const verdict = await dnsClient.query(question);
        const isReachable = verdict.state === "answered";
        const records = isReachable && verdict.outcome === "data" ? verdict.records : [];
        const nameServers = records
          .filter(({ type }) => type === "NS")
          .map(({ data }) => canonicalName(data));
        return { geoTag, isReachable, nameServers };
      }),
    );
  }

  /** Where a peer is asked: where the settings say, else at the addresses of its name. */
  servers(zone: ZonePair, geoTag: string, entries: readonly DnsServerEntry[]): readonly Endpoint[] {
    const { config } = this.#options;
    return (
      config.peers.get(geoTag) ??
      peerServers(
        addressesOf(this.nameServer(zone, geoTag), entries),
        config.edgeDnsServers.map(({ port }) => port),
      )
    );
  }

  async #discover(zone: ZonePair, signal: AbortSignal): Promise<ReadonlyMap<string, readonly string[]>> {
    const { members, provider } = this.#options;
    const [delegation, told] = await Promise.all([
      this.delegation(zone, signal),
      // What the provider cannot tell now, DNS or a peer may; it is asked again the next time.
      provider?.members?.(zone, signal).catch(() => []) ?? [],
    ]);
    signal.throwIfAborted();
    const isKnown = delegation.state === "known";
    members.suggest(zone, [...told, ...(isKnown ? delegation.nameServers : [])]);
    if (!isKnown) return new Map();
    return new Map([...delegation.glue].map(([name, { A, AAAA }]) => [name, [...A, ...AAAA]]));
  }

  async #peer(zone: ZonePair, geoTag: string, signal: AbortSignal): Promise<ServerLookup> {
    const { config, dnsClient, edgeServers } = this.#options;
    const name = this.nameServer(zone, geoTag);
    const configured = config.peers.get(geoTag);
    if (configured !== undefined)
      return { name, addresses: [...new Set(configured.map(({ address }) => address))] };
    const found = await lookUpAddresses(name, {
      ...{ dnsClient, servers: edgeServers(), deadlineMs: config.peerDeadlineMs, signal },
    });
    return found.state === "known" ? { name, ...knownAddresses(found) } : { name, failed: true };
  }
}
