import type { EventRecorder } from "@meridian/controller";
import { Zone, type Authority, type DnsClient, type RecordProblem, type RecordSet } from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";
import type { AnswerModes } from "../decide/answer-modes.ts";
import { canonicalName, isInZone, zoneOf } from "../decide/dns-name.ts";
import { ttlSecondsMax } from "../decide/gslb-policy.ts";
import {
  hostOfLocalTargetsName,
  isLocalTargetsName,
  localTargetsName,
} from "../decide/local-targets-name.ts";
import {
  isPublishable,
  publishedName,
  publishedPolicyText,
  publishedText,
} from "../decide/published-host.ts";
import { localTargetsZone, nameServerName, type ZonePair } from "../decide/zone-names.ts";
import type { PeerSession } from "../peers/peer-session.ts";
import type { Peers } from "../peers/peers.ts";
import type { DnsEndpoint } from "../resources/dns-endpoint.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
import { EndpointBook, type BookedObject, type EndpointProblem } from "./endpoint-book.ts";
import { LocalView } from "./local-view.ts";
import type { SerialStore } from "./serial-store.ts";
import { ownKeysLabel, type SignedZones } from "./signed-zones.ts";

/** What zones are made from, and who is told of them. */
export interface ZoneFeederOptions {
  readonly authority: Authority;
  readonly dnsClient: Pick<DnsClient, "notify">;
  readonly store: SerialStore;
  readonly peers: Peers;
  readonly events: Pick<EventRecorder, "record">;
  readonly tasks: TaskScope;
  readonly geoTag: string;
  readonly geoTags: readonly string[];
  readonly nameServerPrefix: string;
  readonly nameServerTtlSeconds: number;
  readonly notify: boolean;
  readonly answerModes?: AnswerModes;
  /** Told of zones that come and go. */
  readonly signed?: Pick<SignedZones, "addZone" | "removeZone">;
  /** Told of objects from which the DNS server answers as they now are. */
  readonly onServed?: (key: string) => void;
  /** A DNSEndpoint as its records count now; `undefined` where it is gone or not for this DNS server. */
  readonly read: (key: string) => { readonly booked: BookedObject; readonly object: DnsEndpoint } | undefined;
}

/** Messages remembered of one object, so that it is told each once; beyond them it may be told one again. */
const toldMax = 1_000;

interface FedZone {
  readonly zone: Zone;
  readonly view: LocalView;
  /** How this cluster balances the hosts that it carries, as TXT record sets. */
  readonly carried: Map<string, RecordSet>;
}

/** What a name answers from now on. */
interface NameChange {
  readonly sets: readonly RecordSet[];
  readonly carried?: { readonly policyText: string; readonly ttl: number } | undefined;
}

/** A zone to serve: its names and how long a negative answer may be kept. */
export interface ServedZone extends ZonePair {
  readonly negativeTtlSeconds: number;
}

/**
 * Feeds the DNS server's zones from DNSEndpoints. Only the names that an object gives or gave are built anew, and a burst
 * of changes is one step of the serial. A zone answers once `open` was called; until then SERVFAIL.
 */
export class ZoneFeeder {
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: ZoneFeederOptions;
  readonly #book: EndpointBook;
  readonly #zones = new Map<string, FedZone>();
  readonly #dirtyObjects = new Set<string>();
  readonly #told = new Map<string, Set<string>>();
  #isScheduled = false;
  #isOpen = false;
  #isWithheld = false;

  constructor(runtime: Pick<Runtime, "clock" | "log">, options: ZoneFeederOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#book = new EndpointBook(options.answerModes);
  }

  /** Serves a zone, or follows a change of its settings. */
  setZone(pair: ServedZone): void {
    const origin = canonicalName(pair.loadBalancedZone);
    const negativeTtlSeconds = Math.min(Math.max(0, pair.negativeTtlSeconds), ttlSecondsMax);
    const present = this.#zones.get(origin);
    if (present !== undefined) {
      present.zone.setSoa({ minimum: negativeTtlSeconds, ttl: negativeTtlSeconds });
      return;
    }
    const fed = this.#newZone(origin, { ...pair, negativeTtlSeconds });
    const names = [...this.#book.names()].filter((name) => isInZone(name, origin));
    const enclosing = zoneOf(origin, this.#zones.keys());
    if (enclosing !== undefined) this.#apply(enclosing, new Map(names.map((name) => [name, { sets: [] }])));
    this.#zones.set(origin, fed);
    this.#build(names);
    // What an operator before this one published is answered until this one can answer itself.
    if (this.#isOpen || this.#options.authority.zone(origin)?.ready !== true)
      this.#options.authority.setZone(fed.zone);
    this.#options.signed?.addZone(fed.zone);
    if (this.#isOpen) this.#openZone(fed);
  }

  /** Answers a zone's NS set with these servers from now on. */
  setNameServers(loadBalancedZone: string, names: readonly string[]): void {
    this.#zones.get(canonicalName(loadBalancedZone))?.zone.setNameServers(names);
  }

  removeZone(loadBalancedZone: string): void {
    const origin = canonicalName(loadBalancedZone);
    const fed = this.#zones.get(origin);
    if (fed === undefined || !this.#zones.delete(origin)) return;
    fed.view.close();
    this.#options.signed?.removeZone(origin);
    this.#options.authority.removeZone(origin);
    // An enclosing zone answers for its names from now on.
    this.#build([...this.#book.names()].filter((name) => isInZone(name, origin)));
  }

  /** A DNSEndpoint, or what makes it count, may have changed. Taken up in the next turn, with whatever else comes until then. */
  touch(key: string): void {
    this.#dirtyObjects.add(key);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.tasks.start("zone feeding", async () => {
      await Promise.resolve();
      this.flush();
    });
  }

  /** Takes up what was touched, now. */
  flush(): void {
    this.#isScheduled = false;
    const names = new Set<string>();
    for (const key of this.#dirtyObjects) {
      const found = this.#options.read(key);
      const changed = found === undefined ? this.#book.remove(key) : this.#book.set(found.booked);
      for (const name of changed) names.add(name);
      if (found === undefined) this.#told.delete(key);
    }
    const touched = [...this.#dirtyObjects];
    this.#dirtyObjects.clear();
    this.#build(names);
    if (names.size > 0) for (const key of touched) this.#options.onServed?.(key);
  }

  /** Answers from now on. Call it once everything that was stored is fed and own targets known dead are gone. */
  open(): void {
    this.#isOpen = true;
    for (const fed of this.#zones.values()) this.#openZone(fed);
  }

  /** Keeps the own views back while nobody vouches for them, or gives them away again. */
  withhold(isWithheld: boolean): void {
    this.#isWithheld = isWithheld;
    for (const { view } of this.#zones.values()) view.withhold(isWithheld);
  }

  /** Tells one peer of the own view. */
  tellPeer({ zone, notifyServers: servers, notifyKey: key }: PeerSession): void {
    if (this.#options.notify) this.#zones.get(zone)?.view.tellPeer({ servers, key });
  }

  /** The zone that a host is in. */
  zoneOf(host: string): Zone | undefined {
    const origin = zoneOf(host, this.#zones.keys());
    return origin === undefined ? undefined : this.#zones.get(origin)?.zone;
  }

  #newZone(origin: string, pair: ServedZone): FedZone {
    const { geoTag, geoTags, nameServerPrefix, nameServerTtlSeconds, authority, dnsClient, store, tasks } =
      this.#options;
    const mname = nameServerName(pair, geoTag, nameServerPrefix);
    const { negativeTtlSeconds } = pair;
    const zone = new Zone({
      origin,
      // The time as first serial never goes back over a restart, as long as there is less than one change a second.
      soa: {
        mname,
        rname: `hostmaster.${origin}`,
        serial: Math.floor(this.#runtime.clock.now() / 1000) >>> 0,
        refresh: 7200,
        retry: 1800,
        expire: 86_400,
        minimum: negativeTtlSeconds,
        ttl: negativeTtlSeconds,
      },
      // Every configured cluster's, whether it can be found at the moment or not: resolvers take the child's set for the
      // parent's, and a shrunk one would take a living cluster out of use.
      nameServers: geoTags.map((tag) => nameServerName(pair, tag, nameServerPrefix)),
      nameServerTtl: nameServerTtlSeconds,
      ready: false,
    });
    const view = new LocalView(this.#runtime, {
      zone: origin,
      mname,
      negativeTtlSeconds,
      nameServerTtlSeconds,
      authority,
      dnsClient,
      store,
      tasks,
      peers: () =>
        this.#options.notify
          ? this.#options.peers
              .sessions(origin)
              .map(({ notifyServers, notifyKey }) => ({ servers: notifyServers, key: notifyKey }))
          : [],
    });
    view.withhold(this.#isWithheld);
    return { zone, view, carried: new Map() };
  }

  #openZone(fed: FedZone): void {
    fed.zone.setReady();
    if (this.#options.authority.zone(fed.zone.origin) !== fed.zone) this.#options.authority.setZone(fed.zone);
    fed.view.touch();
  }

  #build(names: Iterable<string>): void {
    const changes = new Map<string, Map<string, NameChange>>();
    const problems: EndpointProblem[] = [];
    for (const name of names) {
      const origin = zoneOf(name, this.#zones.keys());
      if (origin === undefined) continue;
      const reserved = reservedAbove(name, origin);
      if (reserved !== undefined) {
        const message = `${name} cannot be served: names in ${reserved} are what clusters publish to each other; use another name`;
        problems.push(...this.#book.givers(name).map((key) => ({ key, message })));
        continue;
      }
      const resolved = this.#book.resolve(name, origin);
      problems.push(...resolved.problems);
      // The apex has its NS set from the operator, and a DNAME there would hide the whole zone.
      const sets = resolved.sets.filter(
        (set) => name !== origin || (set.type !== "NS" && set.type !== "DNAME"),
      );
      const zoneChanges = changes.get(origin) ?? new Map<string, NameChange>();
      changes.set(origin, zoneChanges.set(name, { sets, carried: resolved.carried }));
    }
    for (const [origin, zoneChanges] of changes) this.#apply(origin, zoneChanges);
    this.#tell(problems);
  }

  #apply(origin: string, named: ReadonlyMap<string, NameChange>): void {
    const fed = this.#zones.get(origin);
    if (fed === undefined) return;
    const changes = new Map([...named].map(([name, { sets }]) => [name, sets]));
    for (let problems = fed.zone.check(changes); problems.length > 0; problems = fed.zone.check(changes)) {
      this.#tell(this.#leaveOut(changes, problems));
    }
    fed.zone.replace(changes);
    this.#publish(fed, named);
  }

  /** Brings what is said of the hosts to whose names something changed into the own view. */
  #publish(fed: FedZone, named: ReadonlyMap<string, NameChange>): void {
    const { zone, view, carried } = fed;
    const hosts = new Set<string>();
    for (const [name, change] of named) {
      if (isLocalTargetsName(name)) hosts.add(hostOfLocalTargetsName(name));
      else if (change.carried !== undefined) {
        const { policyText, ttl } = change.carried;
        carried.set(name, { name, type: "TXT", ttl, data: [policyText] });
        hosts.add(name);
      } else if (carried.delete(name)) hosts.add(name);
    }
    for (const host of hosts) {
      if (!isPublishable(host, zone.origin)) continue;
      const policy = carried.get(host);
      const name = publishedName(host, zone.origin);
      const addresses = zone
        .recordSetsOf(localTargetsName(host))
        .filter(({ type, data }) => (type === "A" || type === "AAAA") && data.length > 0);
      const text = policy?.data[0] ?? publishedPolicyText(undefined);
      const said = publishedText(host, zone.origin, text);
      // Also where it tells nothing of how the host is balanced, which host it is must be told.
      const needsText = policy !== undefined || (addresses.length > 0 && said !== text);
      const ttl = policy?.ttl ?? addresses[0]?.ttl ?? 0;
      const sets = needsText ? [...addresses, { type: "TXT", ttl, data: [said] }] : addresses;
      view.set(
        name,
        sets.map(({ type, ttl, data }) => ({ name, type, ttl, data })),
      );
    }
    if (this.#isOpen && hosts.size > 0) view.touch();
  }

  /** One set that a zone cannot hold costs only itself; a name that it cannot hold, only that name. */
  #leaveOut(
    changes: Map<string, readonly RecordSet[]>,
    problems: readonly RecordProblem[],
  ): readonly EndpointProblem[] {
    const nameless = new Set(problems.flatMap(({ owner }) => (changes.get(owner)?.length ? [] : [owner])));
    return problems.flatMap(({ owner, type, message }) => {
      const sets = changes.get(owner) ?? [];
      const kept = sets.filter((set) => set.type !== type);
      if (nameless.has(owner)) changes.delete(owner);
      // What is wrong with a type that nobody gave must not keep the owner at what it was.
      else changes.set(owner, kept.length < sets.length ? kept : []);
      const key = this.#book.givers(owner, type)[0] ?? this.#book.givers(owner)[0];
      return key === undefined ? [] : [{ key, message: `${owner} ${type} cannot be served: ${message}` }];
    });
  }

  /** Tells each object's user once what is wrong with it. */
  #tell(problems: readonly EndpointProblem[]): void {
    for (const { key, message } of problems) {
      const told = this.#told.get(key) ?? new Set<string>();
      this.#told.set(key, told);
      const found = told.has(message) ? undefined : this.#options.read(key);
      if (told.size >= toldMax) told.clear();
      told.add(message);
      if (found !== undefined)
        this.#options.events.record(found.object, { type: "Warning", reason: "RecordRefused", message });
    }
  }
}

/** What clusters tell each other in a zone: the names at or below that are nobody else's. */
function reservedAbove(name: string, origin: string): string | undefined {
  return [localTargetsZone(origin), `${ownKeysLabel}.${origin}`].find((above) => isInZone(name, above));
}
