import type { OperatorConfig } from "../config/operator-config.ts";
import { splitFamilies } from "../decide/address-family.ts";
import { canonicalName } from "../decide/dns-name.ts";
import { geoTagsOfNameServers, nameServerName, type ZonePair } from "../decide/zone-names.ts";
import type { DelegatedZone } from "../delegation/delegation-provider.ts";
import { addressesOf, type ServerLookup } from "../delegation/dns-server-entries.ts";
import type { OwnAddresses } from "../delegation/own-dns-addresses.ts";
import type { DnsServerEntry } from "../resources/zone-delegation.ts";

/** Where the clusters of a zone are, as far as that could be found out. */
export interface FoundFleet {
  readonly own: OwnAddresses;
  /** By geo tag. */
  readonly lookups: ReadonlyMap<string, ServerLookup>;
  /** What they come to, with what is kept of those that nobody could tell of. */
  readonly entries: readonly DnsServerEntry[];
}

/** What a delegation is made of. */
export interface DelegatedZoneFacts extends FoundFleet {
  readonly config: Pick<OperatorConfig, "geoTag" | "nameServerPrefix" | "nameServerTtlSeconds">;
  readonly peerGeoTags: readonly string[];
  readonly isNameServerShared: boolean;
}

/** A delegation as a provider is to write or to withdraw it: the own server, and every peer's that has an address. */
export function delegatedZone(pair: ZonePair, facts: DelegatedZoneFacts): DelegatedZone {
  const { config, own, entries, peerGeoTags, isNameServerShared } = facts;
  const nameOf = (tag: string): string => canonicalName(nameServerName(pair, tag, config.nameServerPrefix));
  const ownNameServer = nameOf(config.geoTag);
  const present = peerGeoTags.map(nameOf).filter((name) => addressesOf(name, entries).length > 0);
  return {
    loadBalancedZone: canonicalName(pair.loadBalancedZone),
    parentZone: canonicalName(pair.parentZone),
    ttlSeconds: config.nameServerTtlSeconds,
    ownNameServer,
    ownAddresses: splitFamilies(own.addresses ?? []).targets,
    ...(own.unknownFamily === undefined ? {} : { unknownFamily: own.unknownFamily }),
    nameServers: [...new Set([ownNameServer, ...present])].sort(),
    isLast: isLastOf(facts),
    isNameServerShared,
  };
}

/**
 * Whether no other cluster is left. One that nobody could tell of is no evidence: with it, the delegation of all would be
 * taken away.
 */
function isLastOf({ lookups, entries }: Pick<FoundFleet, "lookups" | "entries">): boolean {
  return [...lookups.values()].every(
    (lookup) =>
      !("failed" in lookup) &&
      lookup.addresses.length === 0 &&
      addressesOf(lookup.name, entries).length === 0,
  );
}

/** The clusters among those looked for that have an address, or had one and nobody could tell. */
export function geoTagsWithAddress(
  pair: ZonePair,
  prefix: string,
  found: Pick<FoundFleet, "lookups" | "entries">,
): readonly string[] {
  const names = found.entries.map(({ name }) => name);
  const present = new Set(geoTagsOfNameServers(pair, names, prefix));
  return [...found.lookups.keys()].filter((tag) => present.has(canonicalName(tag)));
}
