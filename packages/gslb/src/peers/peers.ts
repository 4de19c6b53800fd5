import {
  foldNameText,
  type DnsClient,
  type NotifyHint,
  type TsigKey,
  type ZoneTransferClient,
} from "@meridian/dns";
import type { Endpoint, Runtime } from "@meridian/runtime";
import { canonicalName, zoneOf } from "../decide/dns-name.ts";
import { geoTagOfNameServer, zoneOfLocalTargetsZone, type ZonePair } from "../decide/zone-names.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
import { peerKey, peerKeyName } from "./peer-key.ts";
import { PeerSession } from "./peer-session.ts";
import type { PeerViews } from "./peer-views.ts";

/** Which peers there are, and how they are asked. */
export interface PeersOptions {
  readonly dnsClient: Pick<DnsClient, "query">;
  /** Fetches the views of peers that share the fleet's key. Absent: every peer is asked host by host. */
  readonly transfers?: Pick<ZoneTransferClient, "fetchZone">;
  /** Where there is a key, who cannot prove itself by it counts as silent. */
  readonly requiresProof?: boolean;
  readonly views: PeerViews;
  readonly tasks: TaskScope;
  /** The own geo tag, and those of all peers. */
  readonly geoTag: string;
  readonly peerGeoTags: readonly string[];
  readonly nameServerPrefix: string;
  readonly deadlineMs: number;
  readonly periodMs: number;
  /** A NOTIFY about a zone names a server that is no peer's: a cluster that joins, or anybody. */
  readonly onStranger?: (zone: string, nameServer: string) => void;
  /** A peer carries other hosts of a zone than before, or balances one otherwise, or does not count any more. */
  readonly onCarriage?: (zone: string) => void;
  /** A peer has proved to have the fleet's key, as it had not before; it may not know yet that we have it, too. */
  readonly onProved?: (session: PeerSession) => void;
}

/** The sessions with all peers of all zones. */
export class Peers {
  readonly #runtime: Pick<Runtime, "clock" | "random" | "log">;
  readonly #options: PeersOptions;
  readonly #zones = new Map<
    string,
    { readonly pair: ZonePair; readonly sessions: Map<string, PeerSession> }
  >();

  #key: TsigKey | undefined;

  constructor(runtime: Pick<Runtime, "clock" | "random" | "log">, options: PeersOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  /** Starts to talk with every peer about a zone; where they are comes by `setServers`. */
  addZone(pair: ZonePair, peerGeoTags: readonly string[] = this.#options.peerGeoTags): void {
    const zone = canonicalName(pair.loadBalancedZone);
    if (this.#zones.has(zone)) return;
    this.#options.views.setPeers(zone, peerGeoTags);
    const sessions = peerGeoTags.map((geoTag) => [geoTag, this.#open(zone, geoTag)] as const);
    this.#zones.set(zone, { pair, sessions: new Map(sessions) });
  }

  /** Talks with exactly these peers about a zone from now on. */
  setPeers(zone: string, peerGeoTags: readonly string[]): void {
    const name = canonicalName(zone);
    const sessions = this.#zones.get(name)?.sessions;
    if (sessions === undefined) return;
    const leaving = [...sessions].filter(([geoTag]) => !peerGeoTags.includes(geoTag));
    const joining = peerGeoTags.filter((geoTag) => !sessions.has(geoTag));
    if (leaving.length + joining.length === 0) return;
    for (const [geoTag, session] of leaving) {
      session.close();
      sessions.delete(geoTag);
    }
    this.#options.views.setPeers(name, peerGeoTags);
    for (const geoTag of joining) sessions.set(geoTag, this.#open(name, geoTag));
    if (leaving.length > 0) this.#options.onCarriage?.(name);
  }

  #open(zone: string, geoTag: string): PeerSession {
    const { dnsClient, transfers, requiresProof = false, onCarriage, onProved } = this.#options;
    const { views, tasks, deadlineMs, periodMs } = this.#options;
    const session = new PeerSession(this.#runtime, {
      ...{ zone, geoTag, dnsClient, requiresProof, views, tasks, deadlineMs, periodMs },
      ...(transfers === undefined ? {} : { transfers }),
      onCarriage: () => onCarriage?.(zone),
      onProved: () => onProved?.(session),
    });
    session.setKey(this.#key);
    return session;
  }

  removeZone(zone: string): void {
    const name = canonicalName(zone);
    for (const session of this.sessions(name)) session.close();
    this.#zones.delete(name);
    this.#options.views.removeZone(name);
  }

  /** Says where a zone's peer is asked; empty where nobody knows. */
  setServers(zone: string, geoTag: string, servers: readonly Endpoint[]): void {
    this.#zones.get(canonicalName(zone))?.sessions.get(geoTag)?.setServers(servers);
  }

  sessions(zone: string): readonly PeerSession[] {
    return [...(this.#zones.get(canonicalName(zone))?.sessions.values() ?? [])];
  }

  /** The key of the fleet; absent where there is none. */
  get key(): TsigKey | undefined {
    return this.#key;
  }

  /** Takes all TSIG keys that there are: by `meridian-peers` clusters of one fleet prove to each other who they are. */
  setKeys(keys: readonly TsigKey[]): void {
    this.#key = peerKey(keys);
    for (const { sessions } of this.#zones.values())
      for (const session of sessions.values()) session.setKey(this.#key);
  }

  /** Where there is a key: resolves once each peer's view is copied, or is known not to be had. */
  async heard(): Promise<void> {
    if (this.#key === undefined) return;
    const sessions = [...this.#zones.values()].flatMap((zone) => [...zone.sessions.values()]);
    await Promise.all(sessions.map((session) => session.heard));
  }

  /** Keeps views of a host from now on, and asks for them at once where it is new. */
  addHost(host: string, thresholdSeconds: number): void {
    const zone = zoneOf(host, this.#zones.keys());
    if (zone === undefined) return;
    const isNew = this.#options.views.add(host, { zone, thresholdSeconds });
    if (isNew) for (const session of this.sessions(zone)) session.ask(canonicalName(host));
  }

  removeHost(host: string): void {
    this.#options.views.remove(host);
  }

  /**
   * Takes a peer's NOTIFY. Its MNAME names the sender; without one (or with one that is nobody's) every peer of the zone
   * may have sent it. Nothing in it is believed: it only makes us look.
   *
   * @returns the geo tag of the sender, `*` where it may be any; `undefined` where it concerns no peer
   */
  hint(hint: Pick<NotifyHint, "zone" | "mname" | "key">): string | undefined {
    const zone = zoneOfLocalTargetsZone(hint.zone);
    const known = zone === undefined ? undefined : this.#zones.get(zone);
    if (known === undefined) return undefined;
    const tag =
      hint.mname === undefined
        ? undefined
        : geoTagOfNameServer(known.pair, hint.mname, this.#options.nameServerPrefix);
    if (tag === canonicalName(this.#options.geoTag)) return undefined;
    const sender = [...known.sessions.values()].find((session) => canonicalName(session.geoTag) === tag);
    if (sender !== undefined) {
      sender.hint({ isProved: hint.key !== undefined && hint.key === foldNameText(peerKeyName) });
      return sender.geoTag;
    }
    if (hint.mname !== undefined) this.#options.onStranger?.(known.pair.loadBalancedZone, hint.mname);
    for (const session of known.sessions.values()) session.hint();
    return "*";
  }
}
