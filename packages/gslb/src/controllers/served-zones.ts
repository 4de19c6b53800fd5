import type { OperatorConfig } from "../config/operator-config.ts";
import { canonicalName } from "../decide/dns-name.ts";
import { geoTagsOfNameServers, nameServerName, type ZonePair } from "../decide/zone-names.ts";
import { samePair } from "../delegation/delegated-pairs.ts";
import type { ZoneMembers } from "../delegation/zone-members.ts";
import type { Peers } from "../peers/peers.ts";
import type { DnsServerEntry, ZoneDelegationSpec } from "../resources/zone-delegation.ts";
import type { ZoneFeeder } from "../zones/zone-feeder.ts";

/** Who serves zones and asks peers about them. */
export interface ServedZonesOptions {
  readonly feeder: Pick<ZoneFeeder, "setZone" | "removeZone" | "setNameServers">;
  readonly peers: Pick<Peers, "addZone" | "removeZone" | "setPeers">;
  readonly members: ZoneMembers;
  readonly config: Pick<OperatorConfig, "geoTag" | "nameServerPrefix">;
  /** The set of zones is another now. */
  readonly onChange: () => void;
}

interface Served {
  readonly spec: ZoneDelegationSpec;
  /** Zones that the object named before, answered until their delegation is withdrawn. */
  readonly leaving: readonly ZonePair[];
}

/** The zones that are served, by the name of their ZoneDelegation. */
export class ServedZones {
  readonly #options: ServedZonesOptions;
  readonly #byName = new Map<string, Served>();

  constructor(options: ServedZonesOptions) {
    this.#options = options;
  }

  /** The zones as their objects spell them, those that are leaving too. */
  get zones(): readonly string[] {
    const zones = [...this.#byName.values()].flatMap(({ spec, leaving }) => [spec, ...leaving]);
    return zones.map(({ loadBalancedZone }) => loadBalancedZone);
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** The ZoneDelegation that a zone is served for. */
  holder(loadBalancedZone: string): string | undefined {
    const zone = canonicalName(loadBalancedZone);
    for (const [name, { spec, leaving }] of this.#byName)
      if ([spec, ...leaving].some((each) => canonicalName(each.loadBalancedZone) === zone)) return name;
    return undefined;
  }

  /**
   * Whether another zone's server has the same name, as those of `a.b.example.com` and `a-b.example.com`. It is the same
   * server, so that does no harm, as long as one zone does not take the other's addresses away with its own.
   */
  isNameServerShared(pair: ZonePair): boolean {
    const { geoTag, nameServerPrefix } = this.#options.config;
    const nameOf = (zone: ZonePair): string => canonicalName(nameServerName(zone, geoTag, nameServerPrefix));
    const others = [...this.#byName.values()].map(({ spec }) => spec).filter((spec) => !samePair(spec, pair));
    return others.some((spec) => nameOf(spec) === nameOf(pair));
  }

  /** Serves what an object names. @returns whether the set of zones is another */
  set(
    name: string,
    spec: ZoneDelegationSpec,
    of: { readonly leaving: readonly ZonePair[]; readonly entries: readonly DnsServerEntry[] },
  ): boolean {
    const before = this.#byName.get(name);
    const isKept = before !== undefined && samePair(before.spec, spec);
    const leaving = of.leaving.filter(
      ({ loadBalancedZone: zone }) =>
        canonicalName(zone) !== canonicalName(spec.loadBalancedZone) &&
        [undefined, name].includes(this.holder(zone)),
    );
    this.#byName.set(name, { spec, leaving });
    const pairs = before === undefined ? [] : [before.spec, ...before.leaving];
    const gone = pairs.filter(
      (pair) => !leaving.some((each) => samePair(each, pair)) && !samePair(pair, spec),
    );
    for (const pair of gone) this.#stop(pair);
    const negativeTtlSeconds = spec.dnsZoneNegTTL;
    for (const pair of leaving) this.#serve(pair, negativeTtlSeconds, []);
    this.#serve(spec, negativeTtlSeconds, isKept ? [] : of.entries);
    const isNew = !isKept || gone.length > 0;
    if (isNew) this.#options.onChange();
    return isNew;
  }

  /** Serves an object's zones no more. @returns whether any was */
  remove(name: string): boolean {
    const served = this.#byName.get(name);
    if (served === undefined) return false;
    this.#byName.delete(name);
    for (const pair of [served.spec, ...served.leaving]) this.#stop(pair);
    this.#options.onChange();
    return true;
  }

  /** Asks the members of a zone and answers their names as its NS set; `withOwn` false while the own server leaves. */
  setMembers(loadBalancedZone: string, { withOwn }: { readonly withOwn: boolean }): void {
    const { peers, feeder, members, config } = this.#options;
    const pair = this.pair(loadBalancedZone);
    if (pair === undefined) return;
    const tags = members.of(loadBalancedZone);
    peers.setPeers(loadBalancedZone, tags);
    const all = withOwn || tags.length === 0 ? [config.geoTag, ...tags].sort() : tags;
    const names = all.map((tag) => nameServerName(pair, tag, config.nameServerPrefix));
    feeder.setNameServers(loadBalancedZone, names);
  }

  #serve(pair: ZonePair, negativeTtlSeconds: number, entries: readonly DnsServerEntry[]): void {
    const { feeder, peers, members, config } = this.#options;
    const { loadBalancedZone, parentZone } = pair;
    // Who took part before the start does until something else is found.
    if (entries.length > 0)
      members.confirm(
        loadBalancedZone,
        geoTagsOfNameServers(
          pair,
          entries.map(({ name }) => name),
          config.nameServerPrefix,
        ).filter((tag) => tag !== canonicalName(config.geoTag)),
      );
    feeder.setZone({ loadBalancedZone, parentZone, negativeTtlSeconds });
    peers.addZone(pair, members.of(loadBalancedZone));
  }

  #stop({ loadBalancedZone }: ZonePair): void {
    this.#options.feeder.removeZone(loadBalancedZone);
    this.#options.peers.removeZone(loadBalancedZone);
    this.#options.members.forget(loadBalancedZone);
  }

  /** The zone with its parent, where it is served. */
  pair(loadBalancedZone: string): ZonePair | undefined {
    const zone = canonicalName(loadBalancedZone);
    const all = [...this.#byName.values()].flatMap(({ spec, leaving }) => [spec, ...leaving]);
    return all.find((each) => canonicalName(each.loadBalancedZone) === zone);
  }
}
