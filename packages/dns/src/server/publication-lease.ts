import type { Clock } from "@meridian/runtime";

/** Until when, in shared memory, so that threads see the end even where the thread that renews it hangs. */
const octets = 8;

/**
 * Who feeds the names that begin with `localtargets-`, and the zones `_localtargets.*`, holds this lease and renews it; once
 * it is over those names and the apexes of those zones are answered SERVFAIL, in every thread, since nobody knows any more whether they are true. All else is answered as before. A lease
 * that nobody ever took never ends.
 */
export class PublicationLease {
  readonly memory: SharedArrayBuffer;
  readonly #until: Float64Array;
  readonly #clock: Pick<Clock, "monotonicMs">;

  constructor(clock: Pick<Clock, "monotonicMs">, memory?: SharedArrayBuffer) {
    this.#clock = clock;
    this.memory = memory ?? new SharedArrayBuffer(octets);
    this.#until = new Float64Array(this.memory);
    if (memory === undefined) this.#until[0] = Number.POSITIVE_INFINITY;
  }

  /** Holds for so long from now on. */
  renew(ms: number): void {
    this.#until[0] = this.#clock.monotonicMs() + ms;
  }

  get isOver(): boolean {
    return this.#clock.monotonicMs() >= this.#until[0]!;
  }
}
