import type { Clock } from "@meridian/runtime";
import type { RequestSignature } from "../server/dns-request.ts";
import { octetsKey } from "../zone/wire-set.ts";

/** What became of one signed update: its MAC in base64, until when its signature is good, and the rcode. */
export type KnownOutcome = readonly [mac: string, validUntilSeconds: number, rcode: number];

interface Seen {
  readonly validUntilSeconds: number;
  readonly outcome: Promise<number>;
  /** Once it is known. */
  rcode: number | undefined;
}

const seenMax = 16_384;
const servFail = 2;

/**
 * What became of the signed updates of a zone while their signatures are good, so that a captured one that is sent again
 * changes nothing: it gets the answer of the first. So does a client that sends the same octets again since the answer was
 * lost.
 */
export class SeenUpdates {
  readonly #clock: Clock;
  /** By MAC, oldest first. */
  readonly #seen = new Map<string, Seen>();

  /** @param known what an earlier server knew, oldest first */
  constructor(clock: Clock, known: readonly KnownOutcome[] = []) {
    this.#clock = clock;
    for (const [mac, validUntilSeconds, rcode] of known) {
      this.#makeRoom();
      this.#seen.set(mac, { validUntilSeconds, outcome: Promise.resolve(rcode), rcode });
    }
  }

  /** The rcode of this very message, from its first time or, where it has none yet or failed by a fault, made now. */
  once(signature: RequestSignature, make: () => Promise<number>): Promise<number> {
    const key = macText(signature);
    const known = this.#seen.get(key);
    if (known !== undefined) return known.outcome;
    this.#makeRoom();
    const outcome = make();
    const seen: Seen = { validUntilSeconds: signature.validUntilSeconds, outcome, rcode: undefined };
    this.#seen.set(key, seen);
    const forget = (): void => void this.#seen.delete(key);
    outcome.then((rcode) => (rcode === servFail ? forget() : (seen.rcode = rcode)), forget);
    return outcome;
  }

  /** What is known and still good, to be kept over a restart. */
  *known(): Generator<KnownOutcome> {
    const nowSeconds = this.#clock.now() / 1000;
    for (const [mac, { validUntilSeconds, rcode }] of this.#seen)
      if (rcode !== undefined && validUntilSeconds >= nowSeconds) yield [mac, validUntilSeconds, rcode];
  }

  /** Takes out what verification would refuse by its time, then the oldest. */
  #makeRoom(): void {
    const nowSeconds = this.#clock.now() / 1000;
    for (const [key, { validUntilSeconds }] of this.#seen) {
      if (validUntilSeconds >= nowSeconds && this.#seen.size < seenMax) return;
      this.#seen.delete(key);
    }
  }
}

/** What became of one signed update. */
export function outcomeOf(signature: RequestSignature, rcode: number): KnownOutcome {
  return [macText(signature), signature.validUntilSeconds, rcode];
}

function macText({ mac }: RequestSignature): string {
  return btoa(octetsKey(mac));
}
