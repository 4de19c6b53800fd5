import type { Clock } from "@meridian/runtime";
import { ControllerError } from "../controller-error.ts";
import type { Moment } from "./lease-record.ts";

/**
 * The time for which one process leads. It ends once, and does not begin again.
 *
 * `leading` is the truth at the moment it is asked: it looks at the clocks. `signal` follows by timers, so after a pause of
 * the process it may be aborted a moment later: ask `leading` (or call `throwIfLost`) right before what must not be
 * done by two. What was sent before a pause may still arrive after it; only the server can refuse that, by the
 * resourceVersion that every write names.
 */
export interface LeaderTerm {
  /** Aborts when the term ends: by a stop (with its reason), or with a ControllerError `LeadershipLost`. */
  readonly signal: AbortSignal;
  /** True while nobody else can have taken the lease. */
  readonly leading: boolean;
  /** @throws ControllerError `LeadershipLost`, or the reason of the stop */
  throwIfLost(): void;
}

/** How often the clocks are compared while leading. */
const checkMs = 1_000;

/** A term as its elector sees it: it lasts `renewDeadlineMs` from the last renewal, unless it is renewed. */
export class RenewableTerm implements LeaderTerm {
  readonly #clock: Pick<Clock, "monotonicMs" | "now" | "after">;
  readonly #renewDeadlineMs: number;
  readonly #lease: string;
  readonly #ending = new AbortController();
  readonly #onLost: (lost: ControllerError) => void;
  #renewed: Moment;
  #lost: ControllerError | undefined;
  #cancelCheck: () => void = () => {};

  /** `renewed`: when the request was sent that made the server confirm this leader. */
  constructor(
    clock: Pick<Clock, "monotonicMs" | "now" | "after">,
    options: {
      readonly lease: string;
      readonly renewDeadlineMs: number;
      readonly renewed: Moment;
      /** Called once, also where the term was stopped before and its work has not ended. */
      readonly onLost: (lost: ControllerError) => void;
    },
  ) {
    this.#clock = clock;
    this.#lease = options.lease;
    this.#renewDeadlineMs = options.renewDeadlineMs;
    this.#renewed = options.renewed;
    this.#onLost = options.onLost;
    this.#check();
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get leading(): boolean {
    return this.#isHeld() && !this.#ending.signal.aborted;
  }

  throwIfLost(): void {
    this.#isHeld();
    this.#ending.signal.throwIfAborted();
  }

  /** Set once the lease is lost; a term that was stopped while it was held is not. */
  get lost(): ControllerError | undefined {
    this.#isHeld();
    return this.#lost;
  }

  /** How long the last renewal still counts. */
  get remainingMs(): number {
    return this.#renewDeadlineMs - sinceMs(this.#clock, this.#renewed);
  }

  renew(renewed: Moment): void {
    this.#renewed = renewed;
  }

  /** Ends it for a reason that is not the clocks'. */
  lose(why: string): void {
    if (this.#lost !== undefined) return;
    this.#lost = new ControllerError(
      "LeadershipLost",
      `no longer the leader by lease ${this.#lease}: ${why}`,
    );
    this.#ending.abort(this.#lost);
    this.close();
    this.#onLost(this.#lost);
  }

  /** Ends it while the lease is still held, so that the work can end before somebody else begins. */
  stop(reason: unknown): void {
    this.#ending.abort(reason);
  }

  /** Leaves no timer behind. */
  close(): void {
    this.#cancelCheck();
  }

  #isHeld(): boolean {
    if (this.#lost !== undefined) return false;
    if (this.remainingMs > 0) return true;
    this.lose(`it was not renewed within ${this.#renewDeadlineMs} ms`);
    return false;
  }

  #check(): void {
    if (!this.#isHeld()) return;
    this.#cancelCheck = this.#clock.after(Math.min(checkMs, this.remainingMs), () => this.#check());
  }
}

/**
 * The longer of what both clocks say: the monotonic clock stands still while a machine is suspended, the wall clock may be
 * set back. A wall clock that is set far ahead costs the term; what looks like a long sleep is treated as one.
 */
export function sinceMs(clock: Pick<Clock, "monotonicMs" | "now">, moment: Moment): number {
  return Math.max(clock.monotonicMs() - moment.monotonicMs, clock.now() - moment.wallMs);
}
