import type { Clock, DatagramClient } from "@meridian/runtime";
import { rcode } from "../message/header.ts";
import type { Lookup } from "./lookup.ts";
import type { Query } from "./query.ts";
import { RateLimit, rateVerdict, responseClass } from "./rate-limit.ts";
import type { CookieVerdict, ServerCookie } from "./server-cookie.ts";
import type { AnswerSettings } from "./shared-authority.ts";

/** The least that every client takes in a datagram (RFC 1035 §2.3.4). */
export const udpOctetsMin = 512;
const tcpOctetsMax = 65_535;

/**
 * What the client of the message answered now may have: how large an answer, and whether any. More of both over a stream, and
 * with a valid cookie, since neither comes from a forged address.
 */
export class AnswerAllowance {
  overTcp = false;
  cookieVerdict: CookieVerdict = "none";
  rateLimit: RateLimit | undefined;
  readonly #cookie: ServerCookie | undefined;
  readonly #clock: Clock | undefined;
  readonly #udpOctetsMax: number;
  readonly #noCookieOctetsMax: number;
  readonly #refusesBadCookies: boolean;
  /** What the rate limit says of the message, once it was asked. */
  #verdict: 0 | 1 | 2 | undefined;

  constructor(
    settings: AnswerSettings,
    { cookie, clock }: { readonly cookie: ServerCookie | undefined; readonly clock: Clock | undefined },
  ) {
    this.#cookie = cookie;
    this.#clock = clock;
    this.#udpOctetsMax = settings.udpPayloadBytesMax;
    this.#noCookieOctetsMax = Math.min(settings.noCookieOctetsMax, settings.udpPayloadBytesMax);
    this.#refusesBadCookies = settings.badCookie === "refuse";
  }

  /** Starts with a message. */
  begin(client: DatagramClient): void {
    this.overTcp = client.transport !== "udp";
    this.#verdict = undefined;
  }

  /** Takes in the cookie that the query has. */
  verifyCookie(query: Query, client: DatagramClient): void {
    const cookie = this.#cookie;
    this.cookieVerdict = "none";
    if (!query.hasOptions || cookie === undefined) return;
    cookie.reset();
    const { input, cookieAt, cookieLength } = query;
    if (cookieAt >= 0)
      this.cookieVerdict = cookie.verify({ input, at: cookieAt, length: cookieLength, client });
  }

  /** Whether the cookie is wrong and such questions are not answered (RFC 7873 §5.2.3). */
  get isCookieRefused(): boolean {
    return this.#refusesBadCookies && this.cookieVerdict === "bad" && !this.overTcp;
  }

  /** Octets of the answer, OPT included, in an output of `length`. */
  octetsMax(query: Query, length: number): number {
    if (this.overTcp) return Math.min(tcpOctetsMax, length);
    const octetsMax = this.cookieVerdict === "valid" ? this.#udpOctetsMax : this.#noCookieOctetsMax;
    if (!query.hasOpt) return Math.min(udpOctetsMin, octetsMax);
    return Math.min(octetsMax, Math.max(udpOctetsMin, query.payloadSize), length);
  }

  /** One of `rateVerdict`, for an answer that came to a response code; the first one holds for the message. */
  limit(client: DatagramClient, code: number, lookup: Lookup): 0 | 1 | 2 {
    if (this.rateLimit === undefined || this.overTcp || this.cookieVerdict === "valid")
      return rateVerdict.pass;
    if (this.#verdict !== undefined) return this.#verdict;
    const fromZone = isFromZone(code);
    const kind = fromZone ? lookup.limitClass : responseClass.error;
    const hash = fromZone ? lookup.limitHash : 0;
    return (this.#verdict = this.rateLimit.check(client, kind, hash, this.#clock!.now()));
  }
}

/** Whether a response code is that of an answer from a zone, and no error. */
export function isFromZone(code: number): boolean {
  return code === rcode.noError || code === rcode.nxDomain;
}
