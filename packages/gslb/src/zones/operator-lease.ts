import type { PublicationLease } from "@meridian/dns";
import type { Clock, Logger } from "@meridian/runtime";

/** How far some work has come. */
export interface WorkProgress {
  /** How much has ended, well or not. */
  readonly ended: number;
  /** Whether any waits or runs. */
  readonly isDue: boolean;
}

/** What the operator vouches for, and by what signs it is known to live. */
export interface OperatorLeaseOptions {
  /** The DNS server's lease on `localtargets-` names; absent where there is none. */
  readonly publication: Pick<PublicationLease, "renew"> | undefined;
  readonly leaseMs: number;
  /** Work of which something must end now and then while any is due. */
  readonly progress: () => WorkProgress;
  /** Gives the own views away, or keeps them back. */
  readonly withhold: (isWithheld: boolean) => void;
}

/** It is renewed so often in its time: one renewal that is late ends nothing. */
const renewalsPerLease = 6;
/**
 * Work that is due and of which nothing has ended for so long is stuck. An API server that does not answer makes each
 * request fail at its deadline, which is progress: its outage withdraws nothing.
 */
const stuckMs = 300_000;

/**
 * The operator's word that what its DNS server says of the cluster is true. It is given within the process: by a loop that
 * shares the thread with all of the operator's work, while that work goes on. Nothing of it goes through the API server.
 *
 * When it is not given any more, because the thread hangs, a loop has ended or the work is stuck, the DNS server stops
 * saying what it says of itself after the time of the lease: `localtargets-` names and views are answered SERVFAIL, so that
 * peers of every kind see that nobody knows. What it answers for hosts stays.
 */
export class OperatorLease {
  readonly #clock: Pick<Clock, "monotonicMs" | "sleep">;
  readonly #log: Logger;
  readonly #options: OperatorLeaseOptions;
  readonly #ended = new Set<string>();
  #lastEnded = -1;
  /** Not before it is held: a start may take its time. */
  #progressAtMs = Number.POSITIVE_INFINITY;
  #untilMs = Number.POSITIVE_INFINITY;
  #isWithheld = false;

  constructor(
    runtime: { readonly clock: Pick<Clock, "monotonicMs" | "sleep">; readonly log: Logger },
    options: OperatorLeaseOptions,
  ) {
    this.#clock = runtime.clock;
    this.#log = runtime.log;
    this.#options = options;
  }

  /** A task without which the operator does not live: that it ended, while nobody told it to, is the end of the lease. */
  vital(name: string, task: (signal: AbortSignal) => Promise<void>): (signal: AbortSignal) => Promise<void> {
    return async (signal) => {
      try {
        await task(signal);
      } finally {
        if (!signal.aborted) this.#ended.add(name);
      }
    };
  }

  /** Whether what is said of the cluster is kept back, since nobody vouches for it. */
  get isWithheld(): boolean {
    return this.#isWithheld;
  }

  /** Why the operator does not do its work, `undefined` while it does. */
  get problem(): string | undefined {
    if (this.#ended.size > 0) return `${[...this.#ended].join(", ")} ended`;
    const silentMs = this.#clock.monotonicMs() - this.#progressAtMs;
    return silentMs >= stuckMs && this.#options.progress().isDue
      ? `no reconcile has ended for ${Math.round(silentMs / 1000)} s, and some wait`
      : undefined;
  }

  /** Holds the lease from now on, while the operator lives, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#progressAtMs = this.#clock.monotonicMs();
    while (!signal.aborted) {
      this.#step();
      await this.#clock.sleep(this.#options.leaseMs / renewalsPerLease, signal).catch(() => {});
    }
  }

  #step(): void {
    const { publication, leaseMs, progress, withhold } = this.#options;
    const nowMs = this.#clock.monotonicMs();
    const { ended, isDue } = progress();
    if (ended !== this.#lastEnded || !isDue) this.#progressAtMs = nowMs;
    this.#lastEnded = ended;
    const { problem } = this;
    if (problem === undefined) {
      publication?.renew(leaseMs);
      this.#untilMs = nowMs + leaseMs;
    }
    const isWithheld = nowMs >= this.#untilMs;
    if (isWithheld === this.#isWithheld) return;
    this.#isWithheld = isWithheld;
    withhold(isWithheld);
    if (isWithheld)
      this.#log.error("the operator does not work; what it says of the cluster is kept back", { problem });
    else this.#log.info("the operator works again; what it says of the cluster is given away");
  }
}
