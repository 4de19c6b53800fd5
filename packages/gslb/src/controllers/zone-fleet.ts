import type { DnsClient } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import type { OperatorConfig } from "../config/operator-config.ts";
import type { ZonePair } from "../decide/zone-names.ts";
import { addressesOf, dnsServerEntries, type ServerLookup } from "../delegation/dns-server-entries.ts";
import type { FleetLookup, PeerWord } from "../delegation/fleet-lookup.ts";
import { clustersThatAnswer } from "../delegation/joining-clusters.ts";
import type { OwnAddresses } from "../delegation/own-dns-addresses.ts";
import type { ZoneMembers } from "../delegation/zone-members.ts";
import type { Peers } from "../peers/peers.ts";
import type { DnsServerEntry } from "../resources/zone-delegation.ts";
import { geoTagsWithAddress, type FoundFleet } from "./delegated-zone.ts";

/** How clusters are found, and who is told of them. */
export interface ZoneFleetOptions {
  readonly config: Pick<OperatorConfig, "geoTag" | "nameServerPrefix" | "peerDeadlineMs">;
  readonly dnsClient: Pick<DnsClient, "query">;
  readonly members: ZoneMembers;
  readonly fleet: Pick<FleetLookup, "nameServer" | "peers" | "words" | "servers">;
  readonly peers: Pick<Peers, "setServers">;
  readonly ownAddresses: () => OwnAddresses;
  /** Tells a peer's servers that there is this cluster. */
  readonly greet: (zone: ZonePair, servers: readonly Endpoint[]) => void;
}

/** What peers said of a zone. */
export interface HeardFleet {
  /** Names of peers' servers that have no known address. */
  readonly unknown: readonly string[];
  /** Geo tags of peers that have an address and gave no answer there. */
  readonly silent: readonly string[];
  /** Some peer named a cluster that was not known. */
  readonly hasNews: boolean;
  /** Every peer that lists clusters lists this one. */
  readonly knowsUs: boolean;
}

/** Finds the clusters of a zone and has them asked where they are found; hears who they say takes part. */
export class ZoneFleet {
  readonly #options: ZoneFleetOptions;

  constructor(options: ZoneFleetOptions) {
    this.#options = options;
  }

  /** Has peers asked where they were found last. Looks for nobody. */
  resume(zone: ZonePair, entries: readonly DnsServerEntry[]): void {
    const { fleet, members, peers } = this.#options;
    for (const geoTag of members.of(zone.loadBalancedZone)) {
      const servers = fleet.servers(zone, geoTag, entries);
      if (servers.length > 0) peers.setServers(zone.loadBalancedZone, geoTag, servers);
    }
  }

  /** Looks for all clusters; what nobody can tell of one stays as `before` has it. */
  async find(zone: ZonePair, before: readonly DnsServerEntry[], signal: AbortSignal): Promise<FoundFleet> {
    const { fleet, members, peers, config, ownAddresses } = this.#options;
    const own = ownAddresses();
    const lookups = await this.#taken(zone, await fleet.peers(zone, signal), signal);
    const name = fleet.nameServer(zone, config.geoTag);
    const ownLookup: ServerLookup = own.problem === undefined ? { name, ...own } : { name, failed: true };
    const entries = dnsServerEntries([ownLookup, ...lookups.values()], before);
    const present = geoTagsWithAddress(zone, config.nameServerPrefix, { entries, lookups });
    members.confirm(zone.loadBalancedZone, present);
    for (const geoTag of members.of(zone.loadBalancedZone))
      peers.setServers(zone.loadBalancedZone, geoTag, fleet.servers(zone, geoTag, entries));
    return { own, lookups, entries };
  }

  /** Without those who are only talked of and do not answer for themselves, or are too many. */
  async #taken(
    zone: ZonePair,
    lookups: ReadonlyMap<string, ServerLookup>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ServerLookup>> {
    const { fleet, members, config, dnsClient } = this.#options;
    const isVouched = (tag: string): boolean => members.isVouched(zone.loadBalancedZone, tag);
    const talkedOf = [...lookups].filter(([tag]) => !isVouched(tag));
    const entries = dnsServerEntries(
      talkedOf.map(([, lookup]) => lookup),
      [],
    );
    const clusters = talkedOf.map(([geoTag, { name }]) => ({
      ...{ geoTag, name, servers: fleet.servers(zone, geoTag, entries) },
    }));
    const asked = { dnsClient, deadlineMs: config.peerDeadlineMs, signal };
    const answering = await clustersThatAnswer(zone.loadBalancedZone, clusters, asked);
    const joining = answering.slice(0, members.room(zone.loadBalancedZone));
    const refused = new Set(talkedOf.map(([tag]) => tag).filter((tag) => !joining.includes(tag)));
    return new Map([...lookups].filter(([tag]) => !refused.has(tag)));
  }

  /** Asks the clusters that were found for the zone; one that does not know this cluster is told that there is one. */
  async hear(zone: ZonePair, entries: readonly DnsServerEntry[], signal: AbortSignal): Promise<HeardFleet> {
    const { fleet, members, greet } = this.#options;
    const words = await fleet.words(zone, entries, signal);
    const strangers = words.filter((word) => !this.#isKnownTo(word, zone));
    for (const { geoTag } of strangers) greet(zone, fleet.servers(zone, geoTag, entries));
    const hasNews = members.hear(
      zone,
      words.flatMap(({ nameServers }) => nameServers),
    );
    const names = members.of(zone.loadBalancedZone).map((tag) => fleet.nameServer(zone, tag));
    return {
      unknown: names.filter((name) => addressesOf(name, entries).length === 0),
      silent: words.filter(({ isReachable }) => !isReachable).map(({ geoTag }) => geoTag),
      hasNews,
      knowsUs: strangers.length === 0,
    };
  }

  /** Whether a peer lists this cluster. One that is no Meridian lists nobody, and is not told. */
  #isKnownTo({ nameServers }: PeerWord, zone: ZonePair): boolean {
    const { members, fleet, config } = this.#options;
    if (!members.areDynamic || nameServers.length === 0) return true;
    return nameServers.includes(fleet.nameServer(zone, config.geoTag).toLowerCase());
  }
}
