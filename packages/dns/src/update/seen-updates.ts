import type { Clock } from "@meridian/runtime";
import type { RequestSignature } from "../server/dns-request.ts";
import { octetsKey } from "../zone/wire-set.ts";

interface Seen {
  readonly validUntilSeconds: number;
  readonly outcome: Promise<number>;
}

const seenMax = 16_384;
const servFail = 2;

/**
 * What became of signed updates while their signatures are good, so that a captured one that is sent again changes nothing:
 * it gets the answer of the first. So does a client that sends the same octets again since the answer was lost.
 */
export class SeenUpdates {
  readonly #clock: Clock;
  /** By signature, oldest first. */
  readonly #seen = new Map<string, Seen>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The rcode of this very message, from its first time or, where it has none yet or failed by a fault, made now. */
  once(signature: RequestSignature, make: () => Promise<number>): Promise<number> {
    const key = octetsKey(signature.mac);
    const known = this.#seen.get(key);
    if (known !== undefined) return known.outcome;
    this.#makeRoom();
    const outcome = make();
    this.#seen.set(key, { validUntilSeconds: signature.validUntilSeconds, outcome });
    const forget = (): void => void this.#seen.delete(key);
    outcome.then((rcode) => (rcode === servFail ? forget() : undefined), forget);
    return outcome;
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
