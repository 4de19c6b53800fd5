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

/** Tags that were only talked of and that nobody has confirmed yet; a sender of NOTIFYs can make up any number. */
const heardMax = 16;
/** For so often one of them is looked for in vain; whoever is there says so again. */
const looksMax = 3;
/** Clusters that are only talked of join a fleet of fewer than these; those that the parent names always do. */
const joiningMax = 32;

/**
 * Which other clusters take part in each zone. With a static fleet those are the configured ones. With a dynamic one
 * clusters also join as they are found in the parent's delegation, in a peer's NS set, or by their own NOTIFY; each is a
 * member once the parent zone has an address for its name, and until it has none any more. Where the parent has a wildcard it
 * has an address for any name, so one that it does not name itself must answer for itself first.
 */
export class ZoneMembers {
  readonly #options: ZoneMembersOptions;
  readonly #found = new Map<string, ReadonlySet<string>>();
  /** Whom the parent names, as it was last asked. */
  readonly #named = new Map<string, ReadonlySet<string>>();
  /** Whom somebody talks of, and how often they were looked for. */
  readonly #heard = new Map<string, Map<string, number>>();

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
    const key = canonicalName(zone);
    const maybe = [...(this.#named.get(key) ?? []), ...(this.#heard.get(key)?.keys() ?? [])];
    return [...new Set([...this.of(zone), ...maybe])].sort();
  }

  /** Whether a cluster takes part, or may because the parent names it; who is only talked of has to answer for itself. */
  isVouched(zone: string, geoTag: string): boolean {
    return this.of(zone).includes(geoTag) || this.#named.get(canonicalName(zone))?.has(geoTag) === true;
  }

  /** How many clusters that are only talked of may join yet. */
  room(zone: string): number {
    return Math.max(0, joiningMax - this.of(zone).length);
  }

  /** These servers are all that the parent names. */
  suggest(zone: ZonePair, nameServers: Iterable<string>): void {
    if (this.areDynamic)
      this.#named.set(canonicalName(zone.loadBalancedZone), new Set(this.#tagsOf(zone, nameServers)));
  }

  /**
   * A peer or a NOTIFY named these servers.
   *
   * @returns whether to look at once for one that is not known yet: not where there are so many that they drive each other out
   */
  hear(zone: ZonePair, nameServers: Iterable<string>): boolean {
    if (!this.areDynamic) return false;
    const key = canonicalName(zone.loadBalancedZone);
    const known = new Set(this.candidates(key));
    const news = this.#tagsOf(zone, nameServers).filter((tag) => !known.has(tag));
    const heard = this.#heard.get(key) ?? new Map<string, number>();
    const isRoom = heard.size + news.length <= heardMax;
    for (const tag of news) {
      if (heard.size >= heardMax) heard.delete([...heard.keys()][0]!);
      heard.set(tag, 0);
    }
    if (news.length > 0) this.#heard.set(key, heard);
    return news.length > 0 && isRoom;
  }

  #tagsOf(zone: ZonePair, nameServers: Iterable<string>): readonly string[] {
    const { geoTag, peerGeoTags, nameServerPrefix } = this.#options;
    const configured = new Set([geoTag, ...peerGeoTags].map(canonicalName));
    return geoTagsOfNameServers(zone, nameServers, nameServerPrefix).filter((tag) => !configured.has(tag));
  }

  /** These have an address; those who are neither among them nor configured are no members. */
  confirm(zone: string, geoTags: Iterable<string>): void {
    if (!this.areDynamic) return;
    const key = canonicalName(zone);
    const before = this.of(key).join();
    const found = new Set(geoTags);
    this.#found.set(key, found);
    const heard = this.#heard.get(key) ?? new Map<string, number>();
    for (const [tag, looks] of heard)
      if (found.has(tag) || looks + 1 >= looksMax) heard.delete(tag);
      else heard.set(tag, looks + 1);
    if (this.of(key).join() !== before) this.#options.onChange(key);
  }

  /** The zone is served no more. */
  forget(zone: string): void {
    for (const tags of [this.#found, this.#named, this.#heard]) tags.delete(canonicalName(zone));
  }
}
