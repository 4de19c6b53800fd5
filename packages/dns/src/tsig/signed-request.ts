import type { Clock } from "@meridian/runtime";
import { OctetReader } from "../message/octets.ts";
import { equalNames } from "../name/name.ts";
import { wallSeconds } from "../wall-seconds.ts";
import { preparedKey } from "./prepared-key.ts";
import { macOctets, type TsigKey } from "./tsig-key.ts";
import { computeMac, isStartOfMac, withId } from "./tsig-mac.ts";
import { appendTsig, findTsig, readUint48, stripTsig, type TsigRecord } from "./tsig-record.ts";
import { tsigError, tsigErrorToText, tsigFudgeSeconds } from "./tsig-signer.ts";

/** What the signature of a reply came to. */
export type SingleReplyVerdict =
  /** The key's owner wrote it, and all unsigned messages before it. */
  | { readonly kind: "verified"; readonly message: Uint8Array }
  /** The server, proved by its MAC, says that our clock is off; `serverSeconds` is its own time since the epoch. */
  | { readonly kind: "badTime"; readonly serverSeconds: number }
  /** Not to be believed. `error` is what the reply itself claims: nobody proved it. */
  | { readonly kind: "unproved"; readonly reason: string; readonly error?: string };

/** Within a transfer also `pending`: unsigned, to be believed only once a later message is verified. */
export type ReplyVerdict = SingleReplyVerdict | { readonly kind: "pending"; readonly message: Uint8Array };

/** Unsigned messages that may stand between two signed ones of a transfer (RFC 8945 §5.3.1). */
const unsignedMax = 99;
const noOctets = new Uint8Array();

/**
 * A request signed with a key, and what verifies the answers to it: one, or with `verifyNext` the many of a transfer in
 * their order. Keep it until the last answer is there.
 */
export class SignedRequest {
  /** What to send. */
  readonly message: Uint8Array;
  readonly #key: TsigKey;
  readonly #clock: Clock;
  readonly #offsetSeconds: number;
  readonly #mac: Uint8Array;
  #priorMac: Uint8Array;
  #first = true;
  #unsigned: Uint8Array[] = [];

  /** @param options.offsetSeconds what the server's clock is ahead of ours, once it has told (BADTIME). Default 0 */
  constructor(
    message: Uint8Array,
    options: { readonly key: TsigKey; readonly clock: Clock; readonly offsetSeconds?: number },
  ) {
    const { key, clock, offsetSeconds = 0 } = options;
    this.#key = key;
    this.#clock = clock;
    this.#offsetSeconds = offsetSeconds;
    const fields = {
      timeSigned: this.#nowSeconds(),
      fudge: tsigFudgeSeconds,
      error: tsigError.none,
      otherData: noOctets,
    };
    this.#mac = computeMac(key, { messages: [message], fields });
    this.#priorMac = this.#mac;
    this.message = appendTsig(message, {
      ...fields,
      keyName: preparedKey(key).name,
      algorithm: preparedKey(key).algorithm,
      mac: this.#mac,
      originalId: (message[0]! << 8) | message[1]!,
    });
  }

  /** Whether everything passed to `verifyNext` so far is proved: ask it behind the last message. */
  get complete(): boolean {
    return !this.#first && this.#unsigned.length === 0;
  }

  /** Verifies the one reply to this request. May be called again with another: a forged reply spoils nothing. */
  verify(reply: Uint8Array): SingleReplyVerdict {
    const search = findTsig(reply);
    if (search.kind === "none") return { kind: "unproved", reason: "the reply is unsigned" };
    if (search.kind === "malformed") return { kind: "unproved", reason: "the reply's TSIG is malformed" };
    return this.#check(reply, search.record, { priorMac: this.#mac, before: [], timersOnly: false });
  }

  /** Verifies the next of several replies; the first must be signed, and after that each hundredth at least. */
  verifyNext(reply: Uint8Array): ReplyVerdict {
    const search = findTsig(reply);
    if (search.kind === "malformed") return { kind: "unproved", reason: "the reply's TSIG is malformed" };
    if (search.kind === "none") {
      if (this.#first) return { kind: "unproved", reason: "the reply is unsigned" };
      if (this.#unsigned.length >= unsignedMax)
        return { kind: "unproved", reason: `${unsignedMax + 1} messages in a row are unsigned` };
      this.#unsigned.push(reply.slice());
      return { kind: "pending", message: reply };
    }
    const verdict = this.#check(reply, search.record, {
      priorMac: this.#priorMac,
      before: this.#unsigned,
      timersOnly: !this.#first,
    });
    if (verdict.kind === "verified") {
      this.#priorMac = search.record.mac;
      this.#first = false;
      this.#unsigned = [];
    }
    return verdict;
  }

  #check(
    reply: Uint8Array,
    record: TsigRecord,
    context: {
      readonly priorMac: Uint8Array;
      readonly before: readonly Uint8Array[];
      readonly timersOnly: boolean;
    },
  ): SingleReplyVerdict {
    const key = this.#key;
    const claim = record.error === 0 ? {} : { error: tsigErrorToText(record.error) };
    if (
      !equalNames(record.keyName, preparedKey(key).name) ||
      !equalNames(record.algorithm, preparedKey(key).algorithm)
    )
      return { kind: "unproved", reason: "the reply is signed with another key", ...claim };
    if (record.mac.length === 0)
      return { kind: "unproved", reason: "the reply has a TSIG without a MAC", ...claim };
    const stripped = stripTsig(reply, record);
    const whole = computeMac(key, {
      priorMac: context.priorMac,
      messages: [...context.before, withId(stripped, record.originalId)],
      fields: record,
      timersOnly: context.timersOnly,
    });
    // Servers never have a reason to cut their MAC where we did not ask for it.
    const isWhole = record.mac.length >= (key.macOctetsMin ?? macOctets(key.algorithm));
    if (!isWhole || !isStartOfMac(record.mac, whole))
      return { kind: "unproved", reason: "the reply's MAC is wrong", ...claim };
    if (record.error === tsigError.badTime) {
      const serverSeconds = readServerTime(record.otherData);
      if (serverSeconds !== undefined) return { kind: "badTime", serverSeconds };
    }
    if (Math.abs(this.#nowSeconds() - record.timeSigned) > record.fudge)
      return { kind: "unproved", reason: "the reply's time is off", ...claim };
    if (record.error !== 0)
      return { kind: "unproved", reason: `the server says ${tsigErrorToText(record.error)}`, ...claim };
    return { kind: "verified", message: stripped };
  }

  #nowSeconds(): number {
    return wallSeconds(this.#clock) + this.#offsetSeconds;
  }
}

function readServerTime(otherData: Uint8Array): number | undefined {
  return otherData.length === 6 ? readUint48(new OctetReader(otherData)) : undefined;
}
