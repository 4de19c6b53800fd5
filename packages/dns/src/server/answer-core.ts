import type { AnswerDatagram, Clock, Random } from "@meridian/runtime";
import type { ZoneSigner } from "../zone/zone-signer.ts";
import type { SharedAuthority } from "./shared-authority.ts";

/** What a thread gives its answer core. */
export interface AnswerCoreOptions {
  /** Dates cookies. */
  readonly clock: Clock;
  /** Seeds the draws of weighted answers. */
  readonly random: Random;
  /** Which counters are this thread's: 1 to `counterSlots` - 1 for workers, kept by a restarted one. */
  readonly slot: number;
}

/**
 * Answers plain QUERYs from shared memory, in any thread; all else is `deferred`. Changes of zones show in the next
 * answer by themselves; `update` is for zones that come and go, and for settings.
 */
export class AnswerCore {
  readonly answer: AnswerDatagram;

  constructor(shared: SharedAuthority, options: AnswerCoreOptions) {
    void shared;
    void options;
    this.answer = () => 0;
  }

  /** Answers from another set of zones and settings from the next answer on. */
  update(shared: SharedAuthority): void {
    void shared;
  }

  /** Signs answers of a zone from now on; `undefined` ends it. */
  setSigner(origin: string, signer: ZoneSigner | undefined): void {
    void origin;
    void signer;
  }
}
