import {
  deferred,
  ReusedClient,
  type AnswerDatagram,
  type Clock,
  type DatagramClient,
  type Endpoint,
  type Random,
} from "@meridian/runtime";
import { DnsError } from "../dns-error.ts";
import { headerOctets } from "../message/header.ts";
import {
  typeAny,
  typeAxfr,
  typeIxfr,
  typeMetaMin,
  typeNxname,
  typeOpt,
  typeSoa,
  typeTsig,
} from "../message/type-numbers.ts";
import { LookupName } from "../name/lookup-name.ts";
import { foldNameText, type Name } from "../name/name.ts";
import type { ZoneSigner } from "../zone/zone-signer.ts";
import type { ZoneTree } from "../zone/zone-tree.ts";
import type { Zone } from "../zone/zone.ts";
import { ChaosZone } from "./chaos-zone.ts";
import { FastRandom } from "./fast-random.ts";
import { Lookup } from "./lookup.ts";
import { readNotifySoa } from "./notify-soa.ts";
import { extendedError, OptRecord, type OptContext } from "./opt-record.ts";
import { Query } from "./query.ts";
import { Response } from "./response.ts";
import { ServerCookie } from "./server-cookie.ts";
import type { GeoState } from "../geo/geo-state.ts";
import type { RequestPipeline } from "./dns-request.ts";
import type { RateLimit } from "./rate-limit.ts";
import { counterSlots, type SharedAuthority } from "./shared-authority.ts";
import { writeUnknownKey } from "./unsigned-tsig.ts";
import { ZoneIndex } from "./zone-index.ts";

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
  /** Limits like answers over UDP; absent: no limit. */
  readonly rateLimit?: RateLimit;
  /** Where addresses are, for `geo` policies. */
  readonly geo?: GeoState;
  /** Said to TCP clients that ask for keepalive (RFC 7828). Default 30,000. */
  readonly tcpIdleMs?: number;
}

/** Numbers since the start; they only rise. */
export interface AuthorityCounters {
  /** Messages answered. */
  queries: number;
  /** Messages that get no answer: shorter than a header, answers themselves, from ports that would answer back. */
  dropped: number;
  truncated: number;
  notifies: number;
  /** Messages answered SERVFAIL since answering them threw: each is a fault of ours. */
  faults: number;
  /** Answers by response code, BADVERS at 16. */
  readonly rcodes: Float64Array;
}

const rcode = {
  noError: 0,
  formErr: 1,
  servFail: 2,
  notImp: 4,
  refused: 5,
  notAuth: 9,
  badVers: 16,
} as const;
const opcode = { query: 0, notify: 4, update: 5 } as const;
const classIn = 1;
const classChaos = 3;
const classAny = 255;
const udpOctetsMin = 512;
const tcpOctetsMax = 65_535;

/**
 * Answers DNS messages from zones: synchronous, bytes to bytes, never throwing.
 *
 * A zone belongs to at most one authority. Changes of a zone show in the next answer.
 */
export class Authority {
  onNotify: TakeNotify | undefined;
  /** The key that signed the message answered now; set for that one call by who verified it. */
  signedBy: string | undefined;
  readonly counters: AuthorityCounters = {
    queries: 0,
    dropped: 0,
    truncated: 0,
    notifies: 0,
    faults: 0,
    rcodes: new Float64Array(32),
  };
  /**
   * Takes what needs more than a lookup: UPDATE, signed messages, transfers. While it is set, `answer` returns `deferred`
   * for them, and whoever reads the transport hands a copy to `requests.handle`.
   */
  requests: RequestPipeline | undefined;
  /** Called when what `share` gives has changed: zones came or went, or settings. Not for changes of a zone's content. */
  onShareChanged: (() => void) | undefined;
  /** As `answer`, for questions that were shown to come from their sender: no rate limit applies. */
  get answerExempt(): AnswerDatagram {
    return this.answer;
  }
  /** Reads a message at `offset` of `input` and writes the answer at the start of `output`; 0 is no answer. */
  readonly answer: AnswerDatagram;
  readonly #seed: number;
  readonly #zones: ZoneIndex;
  readonly #followed = new Set<string>();
  readonly #query: Query;
  readonly #response: Response;
  readonly #lookup: Lookup;
  readonly #owner: LookupName;
  readonly #opt: OptRecord;
  readonly #optContext: OptContext = { extendedRcode: 0, overTcp: false, client: new ReusedClient("udp") };
  readonly #chaos: ChaosZone;
  readonly #udpOctetsMax: number;

  constructor(options: AuthorityOptions) {
    const { random, clock, serverId } = options;
    const seed = random.uint32() | 0;
    this.onNotify = options.onNotify;
    this.#udpOctetsMax = Math.min(4096, Math.max(udpOctetsMin, options.udpPayloadBytesMax ?? 1232));
    this.#seed = seed;
    this.#zones = new ZoneIndex(seed);
    this.#query = new Query(seed);
    this.#owner = new LookupName(seed);
    this.#response = new Response(new FastRandom(random));
    this.#lookup = new Lookup({ zones: this.#zones, response: this.#response, seed });
    this.#chaos = new ChaosZone(options);
    this.#opt = new OptRecord({
      payloadSize: this.#udpOctetsMax,
      serverId: serverId === undefined ? undefined : new TextEncoder().encode(serverId).slice(0, 128),
      cookie: clock === undefined ? undefined : new ServerCookie({ secret: random.bytes(16), clock }),
    });
    if (options.tcpIdleMs !== undefined) this.#opt.tcpIdleMs = options.tcpIdleMs;
    // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
    this.answer = (input, offset, length, client, output) => {
      if (
        length < headerOctets ||
        (input[offset + 2]! & 0x80) !== 0 ||
        !isAnswerable(client) ||
        output.length < udpOctetsMin
      ) {
        this.counters.dropped++;
        return 0;
      }
      this.#query.open(input, offset, length);
      if (this.requests !== undefined && this.#needsMore(client)) return deferred;
      this.#query.open(input, offset, length);
      this.#response.begin(output);
      try {
        return this.#answer(client);
      } catch {
        // Nothing above is meant to throw; whatever did must not take the server along.
        return this.#fail(output);
      }
    };
  }

  /**
   * Serves the zone, in place of one with the same origin.
   *
   * @throws DnsError `BadZone` when another authority serves it
   */
  setZone(zone: Zone): void {
    const { tree } = zone;
    if (tree.servedBy !== undefined && tree.servedBy !== this) {
      throw new DnsError(
        "BadZone",
        `zone ${zone.origin} is served by another authority; remove it there first`,
      );
    }
    this.removeZone(zone.origin);
    tree.servedBy = this;
    tree.reseed(this.#seed);
    this.#zones.set(zone);
  }

  /** Stops serving a zone; false when there was none. */
  removeZone(origin: string): boolean {
    const zone = this.#zones.remove(origin);
    if (zone === undefined) return false;
    zone.tree.servedBy = undefined;
    return true;
  }

  /** What stream clients that ask for keepalive are told (RFC 7828), in milliseconds; 0 asks them to leave. */
  get tcpIdleMs(): number {
    return this.#opt.tcpIdleMs;
  }

  set tcpIdleMs(idleMs: number) {
    this.#opt.tcpIdleMs = idleMs;
  }

  zone(origin: string): Zone | undefined {
    return this.#zones.get(origin);
  }

  get zones(): readonly Zone[] {
    return this.#zones.zones();
  }

  /** Takes NOTIFY hints for a zone that is not served here, until `refuseNotify`. Served zones take them anyway. */
  acceptNotify(zone: string): void {
    this.#followed.add(foldNameText(zone));
  }

  refuseNotify(zone: string): void {
    this.#followed.delete(foldNameText(zone));
  }

  /** What workers answer from. They follow changes of content by themselves, and `onShareChanged` says when to share anew. */
  share(): SharedAuthority {
    return {
      seed: this.#seed,
      zones: [],
      counters: new SharedArrayBuffer(counterSlots * 64 * 8),
      settings: { udpPayloadBytesMax: this.#udpOctetsMax, tcpIdleMs: 30_000, badCookie: "answer" },
      hasRequests: this.requests !== undefined,
    };
  }

  /** Chooses by other addresses from now on (`geo` policies). */
  setGeo(geo: GeoState | undefined): void {
    void geo;
    this.onShareChanged?.();
  }

  /** Whether a message is for `requests`: UPDATE, signed, or a transfer. */
  #needsMore(client: DatagramClient): boolean {
    const query = this.#query;
    if (query.readQuestion() !== "ok" || query.readSections() !== "ok") return false;
    const asked = (query.input[query.start + 2]! >>> 3) & 15;
    if (asked === opcode.update || query.signatureAt >= 0) return true;
    if (asked !== opcode.query || query.count(4) !== 1) return false;
    return query.type === typeIxfr || (query.type === typeAxfr && client.transport !== "udp");
  }

  /** In the order of checks that each answer's rcode depends on. */
  #answer(client: DatagramClient): number {
    const query = this.#query;
    const response = this.#response;
    const overTcp = client.transport !== "udp";
    this.#opt.extendedError = extendedError.none;
    const code = this.#decide(client, overTcp);
    response.rcode = code;
    if (response.truncated) {
      if (!response.partial) response.truncate();
      this.counters.truncated++;
      // What does not even fit 65,535 octets cannot be asked for in any way (RFC 7766 §8).
      if (overTcp) {
        response.clear();
        response.rcode = rcode.servFail;
      }
    }
    if (query.hasOpt) {
      const context = this.#optContext;
      context.extendedRcode = code >>> 4;
      context.overTcp = overTcp;
      context.client = client;
      this.#opt.write(query, response, context);
      response.limit = this.#limit(overTcp);
    }
    if (code === rcode.notAuth && query.signatureAt >= 0) writeUnknownKey(query, response);
    this.counters.queries++;
    this.counters.rcodes[code === rcode.badVers ? code : response.rcode]!++;
    return response.finish(query);
  }

  #decide(client: DatagramClient, overTcp: boolean): number {
    const query = this.#query;
    const response = this.#response;
    const asked = (query.input[query.start + 2]! >>> 3) & 15;
    const questions = query.count(4);
    const readable = query.readQuestion() === "ok";
    if (query.hasQuestion) response.writeQuestion(query);
    // RFC 9619: a QUERY has one question.
    const parsed = readable && questions <= 1 && query.readSections() === "ok";
    response.limit = this.#limit(overTcp) - this.#opt.sizeFor(query, overTcp);
    if (asked !== opcode.query && asked !== opcode.notify && asked !== opcode.update) return rcode.notImp;
    if (!parsed) return rcode.formErr;
    if (query.version > 0) return rcode.badVers;
    if (query.signatureAt >= 0) return rcode.notAuth;
    if (asked === opcode.update) return rcode.refused;
    if (questions === 0) {
      // RFC 7873 §5.4: without a question a client asks for a cookie only.
      return asked === opcode.query && query.cookieAt >= 0 && this.#opt.hasCookies
        ? rcode.noError
        : rcode.formErr;
    }
    if (asked === opcode.notify) return this.#takeNotify(client);
    if (query.class === classChaos)
      return this.#chaos.answer(query, response) ? rcode.noError : rcode.refused;
    if (query.class !== classIn && query.class !== classAny) return rcode.refused;
    return this.#answerQuestion(overTcp);
  }

  #answerQuestion(overTcp: boolean): number {
    const query = this.#query;
    const response = this.#response;
    if (query.type >= typeMetaMin && query.type < typeAny) return this.#answerMetaType(overTcp);
    if (query.type === typeOpt) return this.#invalidType();
    const tree = this.#zones.deepest(query.name, query.type);
    if (tree === undefined) {
      this.#opt.extendedError = extendedError.notAuthoritative;
      return rcode.refused;
    }
    if (!tree.ready) {
      this.#opt.extendedError = extendedError.notReady;
      return rcode.servFail;
    }
    this.#lookup.run(tree, query, overTcp);
    if (query.dnssecOk) this.#sign(tree, overTcp);
    // An answer for every class at once cannot be authoritative (RFC 1035 §6.2).
    if (query.class === classAny) response.authoritative = false;
    return response.rcode;
  }

  #sign(first: ZoneTree, overTcp: boolean): void {
    const response = this.#response;
    const { type, compactOk } = this.#query;
    const signing = this.#lookup.last?.signing ?? first.signing;
    if (signing === undefined) return;
    response.signed = true;
    // Part of a set cannot be signed.
    response.partial = false;
    signing.sign(response, { type, compactOk, overTcp, signerOf: this.#signerOf });
  }

  readonly #signerOf = (owner: Name, type: number): ZoneSigner | undefined => {
    this.#owner.set(owner);
    return this.#zones.deepest(this.#owner, type)?.signing;
  };

  #answerMetaType(overTcp: boolean): number {
    const { type } = this.#query;
    if (type === typeNxname || type === typeTsig) return this.#invalidType();
    const isTransfer = type === typeIxfr || type === typeAxfr;
    return isTransfer && overTcp ? rcode.refused : rcode.notImp;
  }

  #invalidType(): number {
    this.#opt.extendedError = extendedError.invalidQueryType;
    return rcode.formErr;
  }

  #takeNotify(client: DatagramClient): number {
    const query = this.#query;
    if (query.class !== classIn) return rcode.refused;
    if (query.type !== typeSoa) return rcode.notImp;
    const message = query.input.subarray(query.start, query.end);
    const { zone, soa } = readNotifySoa(message, query.answerCount > 0 ? query.answersAt - query.start : -1);
    if (this.#zones.get(zone) === undefined && !this.#followed.has(zone)) return rcode.notAuth;
    this.counters.notifies++;
    const from = { address: client.address, port: client.port };
    const key = this.signedBy === undefined ? {} : { key: this.signedBy };
    try {
      if (this.onNotify?.({ zone, ...soa, from, ...key }) === "refuse") return rcode.refused;
    } catch {
      // The hint is lost, as a datagram might have been; the answer is not.
    }
    this.#response.authoritative = true;
    return rcode.noError;
  }

  #limit(overTcp: boolean): number {
    const query = this.#query;
    const { length } = this.#response.output;
    if (overTcp) return Math.min(tcpOctetsMax, length);
    if (!query.hasOpt) return udpOctetsMin;
    return Math.min(this.#udpOctetsMax, Math.max(udpOctetsMin, query.payloadSize), length);
  }

  #fail(output: Uint8Array): number {
    const response = this.#response;
    response.begin(output);
    response.rcode = rcode.servFail;
    this.counters.queries++;
    this.counters.faults++;
    this.counters.rcodes[rcode.servFail]!++;
    return response.finish(this.#query);
  }
}

/**
 * Whether an answer to this client can arrive and will end there. Port 0 cannot be sent to; echo, daytime, chargen and
 * time would reply, and the two servers would go on for ever.
 */
function isAnswerable({ transport, port }: DatagramClient): boolean {
  if (transport !== "udp") return true;
  return port > 37 || (port !== 0 && port !== 7 && port !== 13 && port !== 19 && port !== 37);
}
