import {
  deferred,
  type AnswerDatagram,
  type Clock,
  type DatagramClient,
  type Random,
} from "@meridian/runtime";
import type { GeoState } from "../geo/geo-state.ts";
import { headerOctets, rcode } from "../message/header.ts";
import type { ZoneSigner } from "../zone/zone-signer.ts";
import { ZoneView } from "../zone/zone-view.ts";
import { AnswerAllowance, isFromZone, udpOctetsMin } from "./answer-allowance.ts";
import { counter, counterSlot, countTag, typeCounter } from "./answer-counters.ts";
import { AnswerSigning } from "./answer-signing.ts";
import { ChaosZone } from "./chaos-zone.ts";
import { CookieSecrets } from "./cookie-secrets.ts";
import { FastRandom } from "./fast-random.ts";
import { Lookup } from "./lookup.ts";
import { MessageDecision, notHere, type MainThread } from "./message-decision.ts";
import { extendedError, OptRecord, type OptContext } from "./opt-record.ts";
import { PublicationLease } from "./publication-lease.ts";
import { Query } from "./query.ts";
import { RateLimit, rateVerdict } from "./rate-limit.ts";
import { RecordOrder } from "./record-order.ts";
import { Response } from "./response.ts";
import { ServerCookie } from "./server-cookie.ts";
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
  readonly #main: MainThread | undefined;
  readonly #zones: ZoneIndex;
  readonly #query: Query;
  readonly #response: Response;
  readonly #order: RecordOrder;
  readonly #lookup: Lookup;
  readonly #opt: OptRecord;
  readonly #optContext: OptContext;
  readonly #allowance: AnswerAllowance;
  readonly #signing: AnswerSigning;
  readonly #decision: MessageDecision;
  /** Which zone memory is answered from, by origin: the same memory is another object whenever it is sent to a thread. */
  readonly #generations = new Map<string, number>();

  constructor(shared: SharedAuthority, options: AnswerCoreOptions) {
    const { seed, settings } = shared;
    const { clock, random } = options;
    const draws = new FastRandom(random);
    this.#main = options.main;
    this.#counters = counterSlot(shared.counters, options.slot);
    this.#zones = new ZoneIndex(seed);
    this.#query = new Query(seed, settings);
    this.#order = new RecordOrder(draws);
    this.#response = new Response(draws, this.#order);
    const { cookies, lease } = shared;
    this.#lookup = new Lookup({
      ...{ zones: this.#zones, response: this.#response, seed },
      lease: clock === undefined || lease === undefined ? undefined : new PublicationLease(clock, lease),
    });
    const cookie =
      clock === undefined || cookies === undefined
        ? undefined
        : new ServerCookie({ secrets: new CookieSecrets(cookies), clock });
    this.#opt = new OptRecord({
      payloadSize: settings.udpPayloadBytesMax,
      serverId:
        settings.serverId === undefined
          ? undefined
          : new TextEncoder().encode(settings.serverId).slice(0, 128),
      cookie,
    });
    this.#optContext = {
      extendedRcode: 0,
      isBadVersion: false,
      scope: 0,
      zone: undefined,
      overTcp: false,
      client: nobody,
    };
    this.#allowance = new AnswerAllowance(settings, { cookie, clock });
    const parts = {
      query: this.#query,
      response: this.#response,
      lookup: this.#lookup,
      zones: this.#zones,
      allowance: this.#allowance,
    };
    this.#signing = new AnswerSigning(parts, seed);
    this.#decision = new MessageDecision({
      ...parts,
      order: this.#order,
      opt: this.#opt,
      chaos: new ChaosZone(settings),
      signing: this.#signing,
      counters: this.#counters,
      main: options.main,
    });
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
      this.#allowance.begin(client);
      if (!this.#allowance.overTcp && this.#query.openPlain(input, offset, length)) {
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
      const allowance = this.#allowance;
      allowance.begin(client);
      this.#query.open(input, offset, length);
      const limit = allowance.rateLimit;
      allowance.rateLimit = undefined;
      const answered = this.#answer(client, output, false);
      allowance.rateLimit = limit;
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
      view.signer = this.#signing.signerFor(origin);
      this.setZone(view);
      this.#generations.set(origin, generation);
    }
    this.#allowance.rateLimit = rateLimit === undefined ? undefined : new RateLimit(rateLimit);
    this.#opt.tcpIdleMs = settings.tcpIdleMs;
    if (geo !== undefined) this.#order.setGeo(geo);
  }

  /** Answers from one more zone, or from another one with the same origin. */
  setZone(view: ZoneView): void {
    this.#signing.adopt(view);
    this.#zones.set(view);
  }

  removeZone(origin: string): void {
    this.#generations.delete(origin);
    this.#zones.remove(origin);
  }

  /** Signs answers of a zone from now on, whether or not it is here yet; `undefined` ends it. */
  setSigner(origin: string, signer: ZoneSigner | undefined): void {
    this.#signing.setSigner(origin, signer);
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
    const { cookieVerdict, overTcp } = this.#allowance;
    if (cookieVerdict !== "none")
      this.#counters[cookieVerdict === "valid" ? counter.cookiesValid : counter.cookiesBad]!++;
    response.rcode = code;
    if (response.truncated) {
      if (!response.partial) response.truncate();
      this.#counters[counter.truncated]!++;
      // What does not even fit 65,535 octets cannot be asked for in any way (RFC 7766 §8).
      if (overTcp) {
        response.clear();
        response.rcode = rcode.servFail;
      }
    }
    const verdict = this.#allowance.limit(client, code, this.#lookup);
    if (verdict === rateVerdict.drop) return 0;
    if (verdict === rateVerdict.slip) response.truncate();
    if (query.hasOpt) this.#writeOpt(client, code);
    if (code === rcode.notAuth && query.signatureAt >= 0) {
      response.limit = this.#allowance.octetsMax(query, response.output.length);
      writeUnknownKey(query, response);
    }
    this.#counters[counter.queries]!++;
    if (query.hasQuestion) this.#counters[typeCounter(query.type)]!++;
    this.#counters[counter.rcodes + (code > 15 ? code : response.rcode)]!++;
    if (response.isDrawn && response.answers > 0) countTag(this.#counters, response.drawnTag);
    return response.finish(query);
  }

  /**
   * Decides about a question that `Query.openPlain` took, as `MessageDecision` would; `notHere` where that is to decide,
   * since there is no such zone, it is not ready, or it has changed meanwhile.
   */
  #decidePlain(client: DatagramClient, output: Uint8Array): number {
    const query = this.#query;
    const response = this.#response;
    const lookup = this.#lookup;
    const allowance = this.#allowance;
    const view = this.#zones.deepest(query.name, query.type);
    if (view === undefined) return notHere;
    lookup.begin();
    response.begin(output);
    response.writeQuestion(query);
    this.#opt.extendedError = extendedError.none;
    allowance.verifyCookie(query, client);
    if (allowance.isCookieRefused) return notHere;
    response.limit = allowance.octetsMax(query, output.length) - this.#opt.sizeFor(query, false);
    this.#order.begin(query, client);
    try {
      if (!lookup.run(view, query, false)) return notHere;
      if (query.dnssecOk) this.#signing.sign(client);
    } catch {
      return notHere;
    }
    return lookup.read.isCurrent ? response.rcode : notHere;
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
        code = this.#decision.decide(client, defers);
      } catch {
        // Words that were being overwritten may lead anywhere; else nothing is meant to throw, and whatever did must not
        // take the server along.
        if (lookup.read.isCurrent) break;
        code = rcode.servFail;
      }
      if (lookup.read.isCurrent) return code;
      query.open(query.input, query.start, query.end - query.start);
    }
    this.#counters[counter.faults]!++;
    this.#response.begin(output);
    return rcode.servFail;
  }

  #writeOpt(client: DatagramClient, code: number): void {
    const context = this.#optContext;
    context.extendedRcode = code >>> 4;
    context.isBadVersion = code === rcode.badVers;
    context.overTcp = this.#allowance.overTcp;
    context.client = client;
    context.scope = this.#order.scope;
    context.zone = isFromZone(code) ? this.#lookup.read.first : undefined;
    this.#opt.write(this.#query, this.#response, context);
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
