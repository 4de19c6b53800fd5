import type { Clock } from "@meridian/runtime";
import { AnswerSigner, type AnswerSignerOptions } from "../dnssec/answer-signer.ts";
import { keyFromScalar, type SigningKey, type SigningKeys } from "../dnssec/signing-key.ts";
import { ZoneKeys, type ZoneKeysOptions } from "../dnssec/zone-keys.ts";
import { parseMessage, type Edns, type Message } from "../message/message.ts";
import type { Authority } from "../server/authority.ts";
import { silentLogger, type DatagramClient } from "@meridian/runtime";
import { exchange, question, stillClock } from "./case-zone.ts";

/** A key pair that is the same at every run, and signs from the start of time. */
export function testKey(number: number, secureEntryPoint: boolean): SigningKey {
  const scalar = new Uint8Array(32).fill(number);
  return keyFromScalar(scalar, { secureEntryPoint, times: { publish: 0, activate: 0 } });
}

/** A KSK and a ZSK. */
export const testKeys: SigningKeys = { own: [testKey(1, true), testKey(2, false)], foreign: [] };

/** A clock that is set by hand. */
export class SetClock implements Clock {
  nowMs = 1_700_000_000_000;
  readonly #timers: { at: number; call: () => void }[] = [];

  now(): number {
    return this.nowMs;
  }

  monotonicMs(): number {
    return this.nowMs;
  }

  sleep(): Promise<void> {
    return Promise.resolve();
  }

  after(ms: number, call: () => void): () => void {
    const timer = { at: this.nowMs + ms, call };
    this.#timers.push(timer);
    return () => this.#remove(timer);
  }

  /** Goes on, and calls what is due on the way. */
  advance(seconds: number): void {
    const end = this.nowMs + seconds * 1000;
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.nowMs = Math.max(this.nowMs, next.at);
      this.#remove(next);
      next.call();
    }
    this.nowMs = end;
  }

  #remove(timer: { at: number; call: () => void }): void {
    const index = this.#timers.indexOf(timer);
    if (index >= 0) this.#timers.splice(index, 1);
  }
}

/** Signs zones of an authority that are given by origin. */
export function signZones(
  authority: Authority,
  origins: readonly string[],
  options: Partial<AnswerSignerOptions> & ZoneKeysOptions & { readonly keys?: SigningKeys } = {},
): { readonly answers: AnswerSigner; readonly zoneKeys: readonly ZoneKeys[] } {
  const { clock = stillClock, keys = testKeys, ...rest } = options;
  const answers = new AnswerSigner({ clock, ...rest });
  const zoneKeys = origins.map((origin) => {
    const zone = authority.zone(origin);
    if (zone === undefined) throw new Error(`${origin} is not served`);
    return new ZoneKeys(zone, { keys, ...rest }, { clock, log: silentLogger, answers });
  });
  return { answers, zoneKeys };
}

const signedEdns: Edns = { payloadSize: 1232, version: 0, dnssecOk: true, options: [] };

/** The answer to a question with DO, and with the CO flag where asked for. */
export function askSigned(
  authority: Authority,
  [name, type]: readonly [string, string],
  more: { readonly compactOk?: boolean; readonly payloadSize?: number; readonly client?: Partial<DatagramClient> } = {},
): Message & { readonly octets: Uint8Array } {
  const payloadSize = more.payloadSize ?? 1232;
  const octets = question(name, type, { edns: { ...signedEdns, payloadSize } });
  // The flags of OPT are the seventh octet from its end, where it has no options.
  if (more.compactOk === true) octets[octets.length - 4]! |= 0x40;
  const answer = exchange(authority, octets, more.client);
  if (answer === undefined) throw new Error("no answer");
  return { ...parseMessage(answer), octets: answer };
}
