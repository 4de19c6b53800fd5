import type { AnswerDatagram, Clock, DatagramClient, Endpoint, Random } from "@meridian/runtime";
import { DnsError } from "../dns-error.ts";
import type { GeoState } from "../geo/geo-state.ts";
import { rcode } from "../message/header.ts";
import { foldNameText } from "../name/name.ts";
import type { Zone } from "../zone/zone.ts";
import { AnswerCore } from "./answer-core.ts";
import { createCounters, sumCounters, sumTag, type AuthorityCounters } from "./answer-counters.ts";
import { CookieSecrets } from "./cookie-secrets.ts";
import type { RequestPipeline } from "./dns-request.ts";
import { readNotifySoa } from "./notify-soa.ts";
import { PublicationLease } from "./publication-lease.ts";
import type { Query } from "./query.ts";
import { RateLimit } from "./rate-limit.ts";
import type { AnswerSettings, SharedAuthority } from "./shared-authority.ts";

/** That a peer says its zone has changed (RFC 1996). Unsigned: a reason to ask, never to believe. */
export interface NotifyHint {
  /** Folded to lower case, without the trailing dot. */
  readonly zone: string;
  /** Serial and MNAME of the SOA in the answer section, where there is one; the name folded as `zone`. */
  readonly serial?: number;
  readonly mname?: string;
  readonly from: Endpoint;
  /** Name of the TSIG key that signed it; absent where nobody did. */
  readonly key?: string;
}

/** What is done with NOTIFY hints: `refuse` answers REFUSED, for a sender that has no say about the zone. */
export type TakeNotify = (hint: NotifyHint) => "refuse" | void;

/** What an authority needs of the world, and what it tells of itself. */
export interface AuthorityOptions {
  /** Seeds the draws of weighted answers, the hash of names and the cookie secret. */
  readonly random: Random;
  /** Dates server cookies (RFC 9018); without it there are none. */
  readonly clock?: Clock;
  /** Called from within `answer`; must return soon. What it throws is dropped. */
  readonly onNotify?: TakeNotify;
  /** Largest UDP answer and the size advertised, 512 to 4096. Default 1232. */
  readonly udpPayloadBytesMax?: number;
  /** Answer to `version.bind` and `version.server` in class CH. Default: REFUSED. */
  readonly version?: string;
  /** Answer to `id.server` and `hostname.bind`, and in the NSID option. Default: REFUSED, and no option. */
  readonly serverId?: string;
  /** What a question with a wrong server cookie gets (RFC 7873 §5.2.3). Default `answer`. */
  readonly badCookie?: "answer" | "refuse";
  /**
   * Whether client subnets (RFC 7871) are used, and come back with the scope of the answer. False: the option is ignored,
   * the resolver's address decides, and no answer has a scope. Default true.
   */
  readonly ednsSubnet?: boolean;
  /** UDP answers longer than this need a question with a valid cookie, else they get TC; 128 to 4096. Default: no such limit. */
  readonly noCookieOctetsMax?: number;
  /** Limits like answers over UDP, by the clock. Default: one with its default options; `false`: none. */
  readonly rateLimit?: RateLimit | false;
  /** Where addresses are, for `geo` policies. */
  readonly geo?: GeoState;
}

const udpOctetsMin = 512;
const udpOctetsMax = 4_096;

/**
 * Answers DNS messages from zones: synchronous, bytes to bytes, never throwing.
 *
 * A zone belongs to at most one authority. Changes of a zone show in the next answer. Worker threads answer from the same
 * memory: `share` gives them what their `AnswerCore` needs.
 */
export class Authority {
  onNotify: TakeNotify | undefined;
  /** The key that signed the message answered now; set for that one call by who verified it. */
  signedBy: string | undefined;
  /**
   * Takes what needs more than a lookup: UPDATE, signed messages, transfers. While it is set, `answer` returns `deferred`
   * for them, and whoever reads the transport hands a copy to `requests.handle`.
   */
  requests: RequestPipeline | undefined;
  /** Called when what `share` gives has changed: zones came or went, or settings. Not for changes of a zone's content. */
  onShareChanged: (() => void) | undefined;
  /** Secrets of server cookies; random ones, until others are set. */
  readonly cookieSecrets: CookieSecrets;
  /** Who feeds `localtargets-` names may take it, so that they end with it; absent where there is no clock. */
  readonly lease: PublicationLease | undefined;
  /** What limits like answers over UDP, for its numbers and for whoever answers deferred messages. */
  readonly rateLimit: RateLimit | undefined;
  /** Reads a message at `offset` of `input` and writes the answer at the start of `output`; 0 is no answer. */
  readonly answer: AnswerDatagram;
  /**
   * As `answer`, for messages that were shown to come from their sender, and that were deferred: no rate limit applies, and
   * they are not deferred again.
   */
  readonly answerExempt: AnswerDatagram;
  readonly #core: AnswerCore;
  readonly #seed: number;
  readonly #counters: SharedArrayBuffer = createCounters();
  readonly #zones = new Map<string, { readonly zone: Zone; readonly generation: number }>();
  readonly #hasCookies: boolean;
  #settings: AnswerSettings;
  #geo: GeoState | undefined;
  #generation = 0;

  constructor(options: AuthorityOptions) {
    const { random, clock, version, serverId, rateLimit } = options;
    this.#seed = random.uint32() | 0;
    this.onNotify = options.onNotify;
    this.#hasCookies = clock !== undefined;
    this.lease = clock === undefined ? undefined : new PublicationLease(clock);
    this.cookieSecrets = new CookieSecrets();
    this.cookieSecrets.set({ active: random.bytes(16) });
    if (clock === undefined || rateLimit === false) this.rateLimit = undefined;
    else this.rateLimit = rateLimit ?? RateLimit.create({ seed: this.#seed });
    this.#geo = options.geo;
    this.#settings = {
      udpPayloadBytesMax: Math.min(udpOctetsMax, Math.max(udpOctetsMin, options.udpPayloadBytesMax ?? 1232)),
      ...(version === undefined ? {} : { version }),
      ...(serverId === undefined ? {} : { serverId }),
      tcpIdleMs: 30_000,
      badCookie: options.badCookie ?? "answer",
      ednsSubnet: options.ednsSubnet ?? true,
      noCookieOctetsMax: Math.min(udpOctetsMax, Math.max(128, options.noCookieOctetsMax ?? udpOctetsMax)),
    };
    const isDeferring = (): boolean => this.requests !== undefined;
    this.#core = new AnswerCore(this.share(), {
      random,
      ...(clock === undefined ? {} : { clock }),
      slot: 0,
      main: {
        get defers() {
          return isDeferring();
        },
        notify: (query, client) => this.#takeNotify(query, client),
      },
    });
    this.answer = this.#core.answer;
    this.answerExempt = this.#core.answerExempt;
  }

  /** What names are hashed with: zones that are read with it need not be hashed again when they are served. */
  get hashSeed(): number {
    return this.#seed;
  }

  /** Of all threads that answer. */
  get counters(): AuthorityCounters {
    return sumCounters(this.#counters);
  }

  /** Answers for which weights drew the group of a geo tag; of `""` those of groups without one, and beyond 32 tags. */
  drawnFor(geoTag: string): number {
    return sumTag(this.#counters, geoTag);
  }

  /**
   * Serves the zone, in place of one with the same origin.
   *
   * @throws DnsError `BadZone` when another authority serves it
   */
  setZone(zone: Zone): void {
    const { tree, origin } = zone;
    const present = this.#zones.get(origin);
    if (present?.zone === zone) return;
    if (tree.servedBy !== undefined)
      throw new DnsError("BadZone", `zone ${origin} is served by another authority; remove it there first`);
    if (present !== undefined) present.zone.tree.servedBy = undefined;
    tree.servedBy = { treeReplaced: () => this.#serveTree(zone) };
    this.#serveTree(zone);
  }

  /** Serves the tree that the zone has now. */
  #serveTree(zone: Zone): void {
    zone.tree.reseed(this.#seed);
    this.#zones.set(zone.origin, { zone, generation: ++this.#generation });
    this.#core.setZone(zone.tree.view);
    this.onShareChanged?.();
  }

  /** Stops serving a zone; false when there was none. */
  removeZone(origin: string): boolean {
    const key = foldNameText(origin);
    const present = this.#zones.get(key);
    if (present === undefined) return false;
    present.zone.tree.servedBy = undefined;
    this.#zones.delete(key);
    this.#core.removeZone(key);
    this.onShareChanged?.();
    return true;
  }

  zone(origin: string): Zone | undefined {
    return this.#zones.get(foldNameText(origin))?.zone;
  }

  get zones(): readonly Zone[] {
    return [...this.#zones.values()].map(({ zone }) => zone);
  }

  /**
   * What stream clients that ask for keepalive are told (RFC 7828), in milliseconds; 0 asks them to leave. Who serves the
   * streams sets it. Other threads are not told: they answer datagrams, and clients decide when it changes.
   */
  get tcpIdleMs(): number {
    return this.#settings.tcpIdleMs;
  }

  set tcpIdleMs(idleMs: number) {
    this.#settings = { ...this.#settings, tcpIdleMs: idleMs };
    this.#core.tcpIdleMs = idleMs;
  }

  /** Chooses by other addresses from now on (`geo` policies). */
  setGeo(geo: GeoState): void {
    this.#geo = geo;
    this.#core.setGeo(geo);
    this.onShareChanged?.();
  }

  /** What workers answer from. They follow changes of content by themselves, and `onShareChanged` says when to share anew. */
  share(): SharedAuthority {
    return {
      seed: this.#seed,
      zones: [...this.#zones].map(([origin, { zone, generation }]) => ({
        origin,
        memory: zone.tree.memory,
        generation,
      })),
      counters: this.#counters,
      settings: this.#settings,
      ...(this.lease === undefined ? {} : { lease: this.lease.memory }),
      ...(this.#hasCookies ? { cookies: this.cookieSecrets.memory } : {}),
      ...(this.rateLimit === undefined ? {} : { rateLimit: this.rateLimit.shared }),
      ...(this.#geo === undefined ? {} : { geo: this.#geo }),
    };
  }

  #takeNotify(query: Query, client: DatagramClient): number {
    const message = query.input.subarray(query.start, query.end);
    const { zone, soa } = readNotifySoa(message, query.answerCount > 0 ? query.answersAt - query.start : -1);
    if (!this.#zones.has(zone)) return rcode.notAuth;
    const from = { address: client.address, port: client.port };
    const key = this.signedBy === undefined ? {} : { key: this.signedBy };
    try {
      if (this.onNotify?.({ zone, ...soa, from, ...key }) === "refuse") return rcode.refused;
    } catch {
      // The hint is lost, as a datagram might have been; the answer is not.
    }
    return rcode.noError;
  }
}
