import type { DatagramClient } from "@meridian/runtime";
import { opcode, rcode } from "../message/header.ts";
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
import { counter } from "./answer-counters.ts";
import type { AnswerSigning, AnswerSigningParts } from "./answer-signing.ts";
import type { ChaosZone } from "./chaos-zone.ts";
import { extendedError, type OptRecord } from "./opt-record.ts";
import type { Query } from "./query.ts";
import type { RecordOrder } from "./record-order.ts";

/** What a message came to that is not for this thread. */
export const notHere = -1;

/** What only the thread can answer that has the zones. */
export interface MainThread {
  /** Whether messages that are more than a lookup are `deferred` all the same. */
  readonly defers: boolean;
  /** Takes a NOTIFY whose question is of class IN and type SOA, and gives the rcode of its answer. */
  notify(query: Query, client: DatagramClient): number;
}

/** What answers are made with: one of each for a thread, used again for every answer. */
export interface AnswerParts extends AnswerSigningParts {
  readonly order: RecordOrder;
  readonly opt: OptRecord;
  readonly chaos: ChaosZone;
  readonly signing: AnswerSigning;
  readonly counters: Float64Array;
  /** Absent: this thread is not the main one. */
  readonly main: MainThread | undefined;
}

const classIn = 1;
const classChaos = 3;
const classAny = 255;

/**
 * Decides what any message comes to: fills the answer, save for OPT and header, and gives its response code or `notHere`. The
 * checks have an order, since each answer's rcode depends on which is first.
 */
export class MessageDecision {
  readonly #parts: AnswerParts;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
  }

  /** @param defers whether messages that are more than a lookup are `notHere` */
  decide(client: DatagramClient, defers: boolean): number {
    const { query, response, opt, allowance } = this.#parts;
    opt.extendedError = extendedError.none;
    this.#parts.order.scope = 0;
    const asked = (query.input[query.start + 2]! >>> 3) & 15;
    const questions = query.count(4);
    const readable = query.readQuestion() === "ok";
    if (query.hasQuestion) response.writeQuestion(query);
    // RFC 9619: a QUERY has one question.
    const parsed = readable && questions <= 1 && query.readSections() === "ok";
    allowance.verifyCookie(query, client);
    response.limit =
      allowance.octetsMax(query, response.output.length) - opt.sizeFor(query, allowance.overTcp);
    if (asked !== opcode.query && asked !== opcode.notify && asked !== opcode.update)
      return this.#notSupported();
    if (!parsed) return rcode.formErr;
    if (defers && (asked === opcode.update || query.signatureAt >= 0)) return notHere;
    if (query.version > 0) return rcode.badVers;
    if (query.signatureAt >= 0) return rcode.notAuth;
    if (asked === opcode.update) return this.#prohibited();
    if (questions === 0) {
      // RFC 7873 §5.4: without a question a client asks for a cookie only.
      return asked === opcode.query && query.cookieAt >= 0 && opt.hasCookies ? rcode.noError : rcode.formErr;
    }
    if (asked === opcode.notify) return this.#takeNotify(client);
    if (allowance.isCookieRefused) return rcode.badCookie;
    if (query.class === classChaos)
      return this.#parts.chaos.answer(query, response) ? rcode.noError : rcode.refused;
    if (query.class !== classIn && query.class !== classAny) return rcode.refused;
    return this.#answerQuestion(client, defers);
  }

  #answerQuestion(client: DatagramClient, defers: boolean): number {
    const { query, response, lookup, zones, order, opt, signing, allowance } = this.#parts;
    if (query.type >= typeMetaMin && query.type < typeAny) return this.#answerMetaType(defers);
    if (query.type === typeOpt) return this.#invalidType();
    const view = zones.deepest(query.name, query.type);
    if (view === undefined) {
      opt.extendedError = extendedError.notAuthoritative;
      return rcode.refused;
    }
    order.begin(query, client);
    if (!lookup.run(view, query, allowance.overTcp)) {
      opt.extendedError = extendedError.notReady;
      return rcode.servFail;
    }
    if (query.dnssecOk) signing.sign(client);
    // An answer for every class at once cannot be authoritative (RFC 1035 §6.2).
    if (query.class === classAny) response.authoritative = false;
    return response.rcode;
  }

  #answerMetaType(defers: boolean): number {
    const { type } = this.#parts.query;
    if (type === typeNxname || type === typeTsig) return this.#invalidType();
    if (type === typeIxfr) return defers ? notHere : this.#prohibited();
    if (type === typeAxfr && this.#parts.allowance.overTcp) return defers ? notHere : this.#prohibited();
    return this.#notSupported();
  }

  #takeNotify(client: DatagramClient): number {
    const { query, response, main, counters } = this.#parts;
    if (query.class !== classIn) return rcode.refused;
    if (query.type !== typeSoa) return rcode.notImp;
    if (main === undefined) return notHere;
    const code = main.notify(query, client);
    response.authoritative = code === rcode.noError;
    if (code === rcode.noError) counters[counter.notifies]!++;
    return code;
  }

  #notSupported(): number {
    this.#parts.opt.extendedError = extendedError.notSupported;
    return rcode.notImp;
  }

  #prohibited(): number {
    this.#parts.opt.extendedError = extendedError.prohibited;
    return rcode.refused;
  }

  #invalidType(): number {
    this.#parts.opt.extendedError = extendedError.invalidQueryType;
    return rcode.formErr;
  }
}
