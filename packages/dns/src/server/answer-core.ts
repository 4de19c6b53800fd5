import {
  deferred,
  type AnswerDatagram,
  type Clock,
  type DatagramClient,
  type Random,
} from "@meridian/runtime";
import { PresignedSigner } from "../dnssec/presigned-signer.ts";
import { StoredSigner } from "../dnssec/stored-signer.ts";
import type { GeoState } from "../geo/geo-state.ts";
import { headerOctets, rcode, opcode } from "../message/header.ts";
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
import { foldNameText, type Name } from "../name/name.ts";
import { LookupName } from "../name/lookup-name.ts";
import type { SigningContext, ZoneSigner } from "../zone/zone-signer.ts";
import { ZoneView } from "../zone/zone-view.ts";
import { counter, counterSlot, typeCounter } from "./answer-counters.ts";
import { ChaosZone } from "./chaos-zone.ts";
import { CookieSecrets } from "./cookie-secrets.ts";
import { FastRandom } from "./fast-random.ts";
import { Lookup } from "./lookup.ts";
import { extendedError, OptRecord, type OptContext } from "./opt-record.ts";
import { Query } from "./query.ts";
import { RateLimit, rateVerdict, responseClass } from "./rate-limit.ts";
import { RecordOrder } from "./record-order.ts";
import { Response } from "./response.ts";
import { ServerCookie, type CookieVerdict } from "./server-cookie.ts";
import type { SharedAuthority } from "./shared-authority.ts";
import { writeUnknownKey } from "./unsigned-tsig.ts";
import { ZoneIndex } from "./zone-index.ts";

/** What a thread gives its answer core. */
export interface AnswerCoreOptions {
  /** Dates cookies and rate limits; without it there are none. */
  readonly clock?: Clock;
  /** Seeds the draws of weighted answers. */
  readonly random: Random;
  /** Which counters are this thread's: 1 to `counterSlots` - 1 for workers. */
  readonly slot: number;
  /** Answers what is more than a QUERY; absent: such messages are `deferred`. */
  readonly main?: MainThread;
}

/** What only the thread can answer that has the zones. */
export interface MainThread {
  /** Whether messages that are more than a lookup are `deferred` all the same. */
  readonly defers: boolean;
  /** Takes a NOTIFY whose question is of class IN and type SOA, and gives the rcode of its answer. */
  notify(query: Query, client: DatagramClient): number;
}

const classIn = 1;
const classChaos = 3;
const classAny = 255;
const udpOctetsMin = 512;
const tcpOctetsMax = 65_535;
/** What a message came to that is not for this thread, or has no answer. */
const notHere = -1;
const nobody: DatagramClient = {
  address: "",
  port: 0,
  transport: "udp",
  octets: new Uint8Array(16),
  octetCount: 4,
};
/** Each means that a change was published within the microsecond of an answer; so many in a row are none of the world's. */
const triesMax = 1_000;

/**
 * Answers plain QUERYs from shared memory, in any thread; all else is `deferred`, save in the main thread. Changes of zones
 * show in the next answer by themselves; `update` is for zones that come and go, and for settings.
 */
export class AnswerCore {
  /** Reads a message at `offset` of `input` and writes the answer at the start of `output`; 0 is no answer. */
  readonly answer: AnswerDatagram;
  /** As `answer`, without rate limit, and nothing is deferred: for messages that were shown to come from their sender. */
  readonly answerExempt: AnswerDatagram;
  readonly #counters: Float64Array;
  readonly #clock: Clock | undefined;
  readonly #main: MainThread | undefined;
  readonly #zones: ZoneIndex;
  readonly #query: Query;
  readonly #response: Response;
  readonly #order: RecordOrder;
  readonly #lookup: Lookup;
  readonly #opt: OptRecord;
  readonly #optContext: OptContext;
  readonly #chaos: ChaosZone;
  readonly #udpOctetsMax: number;
  readonly #noCookieOctetsMax: number;
  readonly #refusesBadCookies: boolean;
  readonly #signers = new Map<string, ZoneSigner>();
  readonly #signerName: LookupName;
  readonly #stored = new StoredSigner();
  readonly #signing: { -readonly [Field in keyof SigningContext]: SigningContext[Field] };
  #rateLimit: RateLimit | undefined;
  /** What the rate limit says of the message, once it was asked. */
  #verdict: 0 | 1 | 2 | undefined;
  /** Which zone memory is answered from, by origin: the same memory is another object whenever it is sent to a thread. */
  readonly #generations = new Map<string, number>();
  #cookieVerdict: CookieVerdict = "none";
  #overTcp = false;

  constructor(shared: SharedAuthority, options: AnswerCoreOptions) {
    const { seed, settings } = shared;
    const { clock, random } = options;
    const draws = new FastRandom(random);
    this.#clock = clock;
    this.#main = options.main;
    this.#counters = counterSlot(shared.counters, options.slot);
    this.#udpOctetsMax = settings.udpPayloadBytesMax;
    this.#noCookieOctetsMax = Math.min(settings.noCookieOctetsMax, settings.udpPayloadBytesMax);
    this.#refusesBadCookies = settings.badCookie === "refuse";
    this.#zones = new ZoneIndex(seed);
    this.#query = new Query(seed, settings);
    this.#order = new RecordOrder(draws);
    this.#response = new Response(draws, this.#order);
    this.#lookup = new Lookup({ zones: this.#zones, response: this.#response, seed });
    this.#chaos = new ChaosZone(settings);
    const { cookies } = shared;
    this.#opt = new OptRecord({
      payloadSize: settings.udpPayloadBytesMax,
      serverId:
        settings.serverId === undefined
          ? undefined
          : new TextEncoder().encode(settings.serverId).slice(0, 128),
      cookie:
        clock === undefined || cookies === undefined
          ? undefined
          : new ServerCookie({ secrets: new CookieSecrets(cookies), clock }),
    });
    this.#optContext = {
      extendedRcode: 0,
      isBadVersion: false,
      scope: 0,
      zone: undefined,
      overTcp: false,
      client: nobody,
    };
    this.#signerName = new LookupName(seed);
    this.#signing = {
      type: 0,
      compactOk: false,
      overTcp: false,
      signerOf: (owner, type) => this.#signerOf(owner, type),
    };
    this.update(shared);
    // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
    this.answer = (input, offset, length, client, output) => {
      if (
        length < headerOctets ||
        (input[offset + 2]! & 0x80) !== 0 ||
        !isAnswerable(client) ||
        output.length < udpOctetsMin
      ) {
        this.#counters[counter.dropped]!++;
        return 0;
      }
      this.#overTcp = client.transport !== "udp";
      this.#verdict = undefined;
      if (!this.#overTcp && this.#query.openPlain(input, offset, length)) {
        const code = this.#decidePlain(client, output);
        if (code !== notHere) return this.#complete(client, code);
      }
      this.#query.open(input, offset, length);
      return this.#answer(client, output, this.#main === undefined || this.#main.defers);
    };
    // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
    this.answerExempt = (input, offset, length, client, output) => {
      if (length < headerOctets || (input[offset + 2]! & 0x80) !== 0 || output.length < udpOctetsMin)
        return 0;
      this.#overTcp = client.transport !== "udp";
      this.#verdict = undefined;
      this.#query.open(input, offset, length);
      const limit = this.#rateLimit;
      this.#rateLimit = undefined;
      const answered = this.#answer(client, output, false);
      this.#rateLimit = limit;
      return answered;
    };
  }

  /** What stream clients that ask for keepalive are told (RFC 7828), in milliseconds; 0 asks them to leave. */
  get tcpIdleMs(): number {
    return this.#opt.tcpIdleMs;
  }

  set tcpIdleMs(idleMs: number) {
    this.#opt.tcpIdleMs = idleMs;
  }

  /** Answers from another set of zones, and by other settings, from the next answer on. The seed stays. */
  update({ zones, settings, rateLimit, geo }: SharedAuthority): void {
    const wanted = new Map(zones.map((zone) => [zone.origin, zone]));
    for (const [origin, generation] of this.#generations) {
      if (wanted.get(origin)?.generation === generation) wanted.delete(origin);
      else this.removeZone(origin);
    }
    for (const { origin, memory, generation } of wanted.values()) {
      const view = new ZoneView(memory);
      view.signer = this.#signers.get(origin);
      this.setZone(view);
      this.#generations.set(origin, generation);
    }
    this.#rateLimit = rateLimit === undefined ? undefined : new RateLimit(rateLimit);
    this.#opt.tcpIdleMs = settings.tcpIdleMs;
    if (geo !== undefined) this.#order.setGeo(geo);
  }

  /** Answers from one more zone, or from another one with the same origin. */
  setZone(view: ZoneView): void {
    view.presigned = new PresignedSigner(view, this.#stored);
    this.#zones.set(view);
  }

  removeZone(origin: string): void {
    this.#generations.delete(origin);
    this.#zones.remove(origin);
  }

  /** Signs answers of a zone from now on, whether or not it is here yet; `undefined` ends it. */
  setSigner(origin: string, signer: ZoneSigner | undefined): void {
    const key = foldNameText(origin);
    if (signer === undefined) this.#signers.delete(key);
    else this.#signers.set(key, signer);
    const view = this.#zones.get(key);
    if (view !== undefined) view.signer = signer;
  }

  /** Chooses by other addresses from the next answer on. */
  setGeo(geo: GeoState): void {
    this.#order.setGeo(geo);
  }

  // oxlint-disable-next-line max-params -- allocates nothing
  #answer(client: DatagramClient, output: Uint8Array, defers: boolean): number {
    const code = this.#decideOnce(client, output, defers);
    return code === notHere ? deferred : this.#complete(client, code);
  }

  /** Completes an answer that came to a response code. */
  #complete(client: DatagramClient, code: number): number {
    const query = this.#query;
    const response = this.#response;
    if (this.#cookieVerdict !== "none")
      this.#counters[this.#cookieVerdict === "valid" ? counter.cookiesValid : counter.cookiesBad]!++;
    response.rcode = code;
    if (response.truncated) {
      if (!response.partial) response.truncate();
      this.#counters[counter.truncated]!++;
      // What does not even fit 65,535 octets cannot be asked for in any way (RFC 7766 §8).
      if (this.#overTcp) {
        response.clear();
        response.rcode = rcode.servFail;
      }
    }
    const verdict = this.#limit(client, code);
    if (verdict === rateVerdict.drop) return 0;
    if (verdict === rateVerdict.slip) response.truncate();
    if (query.hasOpt) this.#writeOpt(client, code);
    if (code === rcode.notAuth && query.signatureAt >= 0) writeUnknownKey(query, response);
    this.#counters[counter.queries]!++;
    if (query.hasQuestion) this.#counters[typeCounter(query.type)]!++;
    this.#counters[counter.rcodes + (code > 15 ? code : response.rcode)]!++;
    return response.finish(query);
  }

  /**
   * Decides about a question that `Query.openPlain` took, as `#decide` would; `notHere` where that is to decide, since there is
   * no such zone, it is not ready, or it has changed meanwhile.
   */
  #decidePlain(client: DatagramClient, output: Uint8Array): number {
    const query = this.#query;
    const response = this.#response;
    const lookup = this.#lookup;
    const view = this.#zones.deepest(query.name, query.type);
    if (view === undefined) return notHere;
    lookup.begin();
    response.begin(output);
    response.writeQuestion(query);
    this.#opt.extendedError = extendedError.none;
    this.#cookieVerdict = query.hasOptions ? this.#verifyCookie(client) : "none";
    if (this.#refusesBadCookies && this.#cookieVerdict === "bad") return notHere;
    response.limit = this.#octetsMax() - this.#opt.sizeFor(query, false);
    this.#order.begin(query, client);
    try {
      if (!lookup.run(view, query, false)) return notHere;
      if (query.dnssecOk) this.#signWithin(client);
    } catch {
      return notHere;
    }
    return lookup.isCurrent ? response.rcode : notHere;
  }

  /** Decides until what was read is of one generation; so no answer mixes two contents of a zone. */
  // oxlint-disable-next-line max-params -- allocates nothing
  #decideOnce(client: DatagramClient, output: Uint8Array, defers: boolean): number {
    const query = this.#query;
    const lookup = this.#lookup;
    for (let tries = 0; tries < triesMax; tries++) {
      lookup.begin();
      this.#response.begin(output);
      let code: number;
      try {
        code = this.#decide(client, defers);
      } catch {
        // Words that were being overwritten may lead anywhere; else nothing is meant to throw, and whatever did must not
        // take the server along.
        if (lookup.isCurrent) break;
        code = rcode.servFail;
      }
      if (lookup.isCurrent) return code;
      query.open(query.input, query.start, query.end - query.start);
    }
    this.#counters[counter.faults]!++;
    this.#response.begin(output);
    return rcode.servFail;
  }

  /** In the order of checks that each answer's rcode depends on. */
  #decide(client: DatagramClient, defers: boolean): number {
    const query = this.#query;
    const response = this.#response;
    this.#opt.extendedError = extendedError.none;
    this.#order.scope = 0;
    const asked = (query.input[query.start + 2]! >>> 3) & 15;
    const questions = query.count(4);
    const readable = query.readQuestion() === "ok";
    if (query.hasQuestion) response.writeQuestion(query);
    // RFC 9619: a QUERY has one question.
    const parsed = readable && questions <= 1 && query.readSections() === "ok";
    this.#cookieVerdict = query.hasOptions ? this.#verifyCookie(client) : "none";
    response.limit = this.#octetsMax() - this.#opt.sizeFor(query, this.#overTcp);
    if (asked !== opcode.query && asked !== opcode.notify && asked !== opcode.update)
      return this.#notSupported();
    if (!parsed) return rcode.formErr;
    if (defers && (asked === opcode.update || query.signatureAt >= 0)) return notHere;
    if (query.version > 0) return rcode.badVers;
    if (query.signatureAt >= 0) return rcode.notAuth;
    if (asked === opcode.update) return this.#prohibited();
    if (questions === 0) {
      // RFC 7873 §5.4: without a question a client asks for a cookie only.
      return asked === opcode.query && query.cookieAt >= 0 && this.#opt.hasCookies
        ? rcode.noError
        : rcode.formErr;
    }
    if (asked === opcode.notify) return this.#takeNotify(client);
    if (this.#refusesBadCookies && this.#cookieVerdict === "bad" && !this.#overTcp) return rcode.badCookie;
    if (query.class === classChaos)
      return this.#chaos.answer(query, response) ? rcode.noError : rcode.refused;
    if (query.class !== classIn && query.class !== classAny) return rcode.refused;
    return this.#answerQuestion(client, defers);
  }

  #answerQuestion(client: DatagramClient, defers: boolean): number {
    const query = this.#query;
    const response = this.#response;
    if (query.type >= typeMetaMin && query.type < typeAny) return this.#answerMetaType(defers);
    if (query.type === typeOpt) return this.#invalidType();
    const view = this.#zones.deepest(query.name, query.type);
    if (view === undefined) {
      this.#opt.extendedError = extendedError.notAuthoritative;
      return rcode.refused;
    }
    this.#order.begin(query, client);
    if (!this.#lookup.run(view, query, this.#overTcp)) {
      this.#opt.extendedError = extendedError.notReady;
      return rcode.servFail;
    }
    if (query.dnssecOk) this.#signWithin(client);
    // An answer for every class at once cannot be authoritative (RFC 1035 §6.2).
    if (query.class === classAny) response.authoritative = false;
    return response.rcode;
  }

  /** What is not going to be sent must not use up what signing may cost: others wait for their signatures. */
  #signWithin(client: DatagramClient): void {
    const signer = this.#lookup.signer;
    if (signer === undefined || this.#limit(client, this.#response.rcode) !== rateVerdict.pass) return;
    this.#response.signed = true;
    // Part of a set cannot be signed.
    this.#response.partial = false;
    if (this.#response.truncated) return;
    const context = this.#signing;
    context.type = this.#query.type;
    context.compactOk = this.#query.compactOk;
    context.overTcp = this.#overTcp;
    signer.sign(this.#response, context);
    this.#lookup.signerBeside(signer)?.sign(this.#response, context);
  }

  #signerOf(owner: Name, type: number): ZoneSigner | undefined {
    this.#signerName.set(owner);
    return this.#zones.deepest(this.#signerName, type)?.signer;
  }

  #answerMetaType(defers: boolean): number {
    const { type } = this.#query;
    if (type === typeNxname || type === typeTsig) return this.#invalidType();
    if (type === typeIxfr) return defers ? notHere : this.#prohibited();
    if (type === typeAxfr && this.#overTcp) return defers ? notHere : this.#prohibited();
    return this.#notSupported();
  }

  #notSupported(): number {
    this.#opt.extendedError = extendedError.notSupported;
    return rcode.notImp;
  }

  #prohibited(): number {
    this.#opt.extendedError = extendedError.prohibited;
    return rcode.refused;
  }

  #invalidType(): number {
    this.#opt.extendedError = extendedError.invalidQueryType;
    return rcode.formErr;
  }

  #takeNotify(client: DatagramClient): number {
    const query = this.#query;
    if (query.class !== classIn) return rcode.refused;
    if (query.type !== typeSoa) return rcode.notImp;
    if (this.#main === undefined) return notHere;
    const code = this.#main.notify(query, client);
    this.#response.authoritative = code === rcode.noError;
    if (code === rcode.noError) this.#counters[counter.notifies]!++;
    return code;
  }

  #verifyCookie(client: DatagramClient): CookieVerdict {
    const { cookie } = this.#opt;
    if (cookie === undefined) return "none";
    cookie.reset();
    const { input, cookieAt, cookieLength } = this.#query;
    return cookieAt < 0 ? "none" : cookie.verify({ input, at: cookieAt, length: cookieLength, client });
  }

  /** One of `rateVerdict`; the first one holds for the message. */
  #limit(client: DatagramClient, code: number): 0 | 1 | 2 {
    if (this.#rateLimit === undefined || this.#overTcp || this.#cookieVerdict === "valid")
      return rateVerdict.pass;
    if (this.#verdict !== undefined) return this.#verdict;
    const lookup = this.#lookup;
    const kind = isAnswer(code) ? lookup.limitClass : responseClass.error;
    const hash = isAnswer(code) ? lookup.limitHash : 0;
    return (this.#verdict = this.#rateLimit.check(client, kind, hash, this.#clock!.now()));
  }

  #writeOpt(client: DatagramClient, code: number): void {
    const context = this.#optContext;
    const response = this.#response;
    context.extendedRcode = code >>> 4;
    context.isBadVersion = code === rcode.badVers;
    context.overTcp = this.#overTcp;
    context.client = client;
    context.scope = this.#order.scope;
    context.zone = isAnswer(code) ? this.#lookup.firstView : undefined;
    this.#opt.write(this.#query, response, context);
    response.limit = this.#octetsMax();
  }

  #octetsMax(): number {
    const query = this.#query;
    const { length } = this.#response.output;
    if (this.#overTcp) return Math.min(tcpOctetsMax, length);
    const octetsMax = this.#cookieVerdict === "valid" ? this.#udpOctetsMax : this.#noCookieOctetsMax;
    if (!query.hasOpt) return Math.min(udpOctetsMin, octetsMax);
    return Math.min(octetsMax, Math.max(udpOctetsMin, query.payloadSize), length);
  }
}

/** Whether a response code is that of an answer from a zone, and no error. */
function isAnswer(code: number): boolean {
  return code === rcode.noError || code === rcode.nxDomain;
}

/**
 * Whether an answer to this client can arrive and will end there. Port 0 cannot be sent to; echo, daytime, chargen and
 * time would reply, and the two servers would go on for ever.
 */
function isAnswerable({ transport, port }: DatagramClient): boolean {
  if (transport !== "udp") return true;
  return port > 37 || (port !== 0 && port !== 7 && port !== 13 && port !== 19 && port !== 37);
}
