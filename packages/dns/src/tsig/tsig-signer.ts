import type { Clock } from "@meridian/runtime";
import { rcodeToText } from "../message/codes.ts";
import { OctetWriter } from "../message/octets.ts";
import { wallSeconds } from "../wall-seconds.ts";
import { macOctets, type TsigKey } from "./tsig-key.ts";
import { preparedKey } from "./prepared-key.ts";
import { computeMac } from "./tsig-mac.ts";
import { appendTsig, tsigOctets, writeUint48, type TsigFields } from "./tsig-record.ts";

/** Seconds that the clocks of both sides may differ by (RFC 8945 §10). */
export const tsigFudgeSeconds = 300;

/** Codes of the error field (RFC 8945 §3). */
export const tsigError = { none: 0, badSig: 16, badKey: 17, badTime: 18, badTrunc: 22 } as const;

const errorNames: ReadonlyMap<number, string> = new Map([
  [tsigError.badSig, "BADSIG"],
  [tsigError.badKey, "BADKEY"],
  [tsigError.badTime, "BADTIME"],
  [tsigError.badTrunc, "BADTRUNC"],
]);
const noOctets = new Uint8Array();

/**
 * Signs the answers to one verified request: each of them, the first in full and the rest of a transfer with timers only
 * (RFC 8945 §5.3.1), each over the MAC before it.
 */
export class TsigSigner {
  readonly key: TsigKey;
  readonly #clock: Clock;
  readonly #requestTimeSigned: number;
  #priorMac: Uint8Array;
  #first = true;

  constructor(options: {
    readonly key: TsigKey;
    readonly clock: Clock;
    readonly request: Pick<TsigFields, "mac" | "timeSigned">;
  }) {
    this.key = options.key;
    this.#clock = options.clock;
    this.#requestTimeSigned = options.request.timeSigned;
    this.#priorMac = options.request.mac;
  }

  /** Octets that signing adds to a message. */
  get octets(): number {
    const { name: keyName, algorithm } = preparedKey(this.key);
    return tsigOctets({
      keyName,
      algorithm,
      macOctets: macOctets(this.key.algorithm),
      otherOctets: 0,
    });
  }

  /** The message with its signature. @throws DnsError `TooLarge` when both together are over 65,535 octets */
  sign(message: Uint8Array): Uint8Array {
    return this.#append(message, {
      timeSigned: wallSeconds(this.#clock),
      error: tsigError.none,
      otherData: noOctets,
    });
  }

  /** Signs that the request's time was off: with the client's time in the signature and ours beside it (RFC 8945 §5.2.3). */
  signBadTime(message: Uint8Array): Uint8Array {
    const writer = new OctetWriter();
    writeUint48(writer, wallSeconds(this.#clock));
    return this.#append(message, {
      timeSigned: this.#requestTimeSigned,
      error: tsigError.badTime,
      otherData: writer.take(),
    });
  }

  /** Signs that the request's MAC was cut too short (RFC 8945 §5.2.4). */
  signBadTrunc(message: Uint8Array): Uint8Array {
    return this.#append(message, {
      timeSigned: wallSeconds(this.#clock),
      error: tsigError.badTrunc,
      otherData: noOctets,
    });
  }

  #append(
    message: Uint8Array,
    { timeSigned, error, otherData }: Pick<TsigFields, "timeSigned" | "error" | "otherData">,
  ): Uint8Array {
    const fields = { timeSigned, fudge: tsigFudgeSeconds, error, otherData };
    const mac = computeMac(this.key, {
      priorMac: this.#priorMac,
      messages: [message],
      fields,
      timersOnly: !this.#first,
    });
    this.#priorMac = mac;
    this.#first = false;
    const { name: keyName, algorithm } = preparedKey(this.key);
    return appendTsig(message, {
      ...fields,
      keyName,
      algorithm,
      mac,
      originalId: (message[0]! << 8) | message[1]!,
    });
  }
}

/** The name of an error field's code: 16 is BADSIG here, where as a response code it is BADVERS. */
export function tsigErrorToText(error: number): string {
  return errorNames.get(error) ?? rcodeToText(error);
}
