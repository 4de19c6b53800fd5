import { canonicalName } from "../decide/dns-name.ts";
import { geoTagsOfNameServers, type ZonePair } from "../decide/zone-names.ts";

/** What the settings say of the fleet. */
export interface ZoneMembersOptions {
  readonly geoTag: string;
  /** The peers that the settings name: they are members always. */
  readonly peerGeoTags: readonly string[];
  readonly nameServerPrefix: string;
  /** Whether other clusters than those that the settings name may join. */
  readonly areDynamic: boolean;
  /** A zone has other members now. */
  readonly onChange: (zone: string) => void;
}

/** Tags that somebody named and that nobody has confirmed yet; a sender of NOTIFYs can make up any number. */
const candidatesMax = 16;

/**
 * Which other clusters take part in each zone. With a static fleet those are the configured ones. With a dynamic one
 * clusters also join as they are found in the parent's delegation, in a peer's NS set, or by their own NOTIFY; each is a
 * member once the parent zone has an address for its name, and until it has none any more.
 */
export class ZoneMembers {
  readonly #options: ZoneMembersOptions;
  readonly #found = new Map<string, ReadonlySet<string>>();
  readonly #candidates = new Map<string, Set<string>>();

  constructor(options: ZoneMembersOptions) {
    this.#options = options;
  }

  get areDynamic(): boolean {
    return this.#options.areDynamic;
  }

  /** The peers of a zone, sorted. */
  of(zone: string): readonly string[] {
    return [
      ...new Set([...this.#options.peerGeoTags, ...(this.#found.get(canonicalName(zone)) ?? [])]),
    ].sort();
  }

  /** Every cluster of every zone, the own one included, sorted. */
  get geoTags(): readonly string[] {
    const { geoTag, peerGeoTags } = this.#options;
    return [
      ...new Set([geoTag, ...peerGeoTags, ...[...this.#found.values()].flatMap((tags) => [...tags])]),
    ].sort();
  }

  /** Members, and those who may be: whom to look for. */
  candidates(zone: string): readonly string[] {
    return [...new Set([...this.of(zone), ...(this.#candidates.get(canonicalName(zone)) ?? [])])].sort();
  }

  /** Names of servers were seen. @returns whether any is a cluster's that is not known yet */
  suggest(zone: ZonePair, nameServers: Iterable<string>): boolean {
    if (!this.areDynamic) return false;
    const key = canonicalName(zone.loadBalancedZone);
    const known = new Set([this.#options.geoTag, ...this.candidates(key)].map(canonicalName));
    const seen = geoTagsOfNameServers(zone, nameServers, this.#options.nameServerPrefix);
    const news = seen.filter((tag) => !known.has(tag));
    const candidates = this.#candidates.get(key) ?? new Set<string>();
    for (const tag of news) {
      if (candidates.size >= candidatesMax) candidates.delete([...candidates][0]!);
      candidates.add(tag);
    }
    if (news.length > 0) this.#candidates.set(key, candidates);
    return news.length > 0;
  }

  /** These have an address; those who are neither among them nor configured are no members. */
  confirm(zone: string, geoTags: Iterable<string>): void {
    if (!this.areDynamic) return;
    const key = canonicalName(zone);
    const before = this.of(key).join();
    const found = new Set(geoTags);
    this.#found.set(key, found);
    for (const tag of found) this.#candidates.get(key)?.delete(tag);
    if (this.of(key).join() !== before) this.#options.onChange(key);
  }

  /** The zone is served no more. */
  forget(zone: string): void {
    this.#found.delete(canonicalName(zone));
    this.#candidates.delete(canonicalName(zone));
  }
}
