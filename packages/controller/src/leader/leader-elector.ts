import { isConflict, isNotFound, leaseType } from "@meridian/kube";
import type { Lease } from "@meridian/kube";
import type { Clock, Logger, Random } from "@meridian/runtime";
import { absentIfNotFound } from "../client/absent-if-not-found.ts";
import { ControllerError } from "../controller-error.ts";
import { electionTimes, retryJitter } from "./election-options.ts";
import type { ElectionTimes, LeaderElectionOptions } from "./election-options.ts";
import { RenewableTerm, sinceMs } from "./leader-term.ts";
import type { LeaderTerm } from "./leader-term.ts";
import { nextStep, nothingKnown, released, viewAfter } from "./lease-record.ts";
import type { Candidate, LeaseView, Moment } from "./lease-record.ts";

/** What an election needs of the outside world. */
export interface LeaderElectionRuntime {
  readonly clock: Clock;
  readonly random: Pick<Random, "float" | "uuid">;
  readonly log: Logger;
}

/** How an election stands, as this candidate sees it. */
export interface LeaderStatus {
  readonly leading: boolean;
  /** Who held the lease when it was last seen; `undefined` before that, and while nobody does. */
  readonly holder: string | undefined;
  /** How often the lease has changed hands. */
  readonly transitions: number;
  /** How long the lease is lost while the work of its leader has not ended. Such a process should be ended. */
  readonly overdueMs: number;
  /** Renewals that did not succeed at once, so that the lease had to be read. */
  readonly slowPaths: number;
}

/**
 * Lets one of several processes do the work, by a Lease (coordination.k8s.io/v1), as client-go does and beside it.
 *
 * ```text
 * run ── tries until the lease is this candidate's ── lead(term) ── renews until the work has ended ── releases the lease
 *                                                        └ not renewed for 10 s: term.signal aborts, run rejects
 * ```
 *
 * The leader gives up 10 s after the *sending* of its last confirmed renewal, others take the lease 15 s after they have
 * *seen* the last change, each by its own clock: no two lead at once as long as no clock goes half as fast again as another.
 * Whoever deletes the lease dismisses a leader without telling it: for 2 s there may be two.
 */
export class LeaderElector {
  /** Of this elector alone: the candidate's name and a random part. */
  readonly identity: string;
  readonly #clock: Clock;
  readonly #random: Pick<Random, "float">;
  readonly #log: Logger;
  readonly #options: LeaderElectionOptions;
  readonly #times: ElectionTimes;
  readonly #candidate: Candidate;
  #view: LeaseView = nothingKnown;
  /** When the newest renewal was sent that the server has confirmed. */
  #renewed: Moment | undefined;
  #term: RenewableTerm | undefined;
  #lostAtMs: number | undefined;
  /** The last write may have been done or not. */
  #unanswered = false;
  #slowPaths = 0;
  #running = false;

  /** @throws ControllerError `InvalidElection` */
  constructor(runtime: LeaderElectionRuntime, options: LeaderElectionOptions) {
    this.#times = electionTimes(options);
    this.identity = `${options.candidate}_${runtime.random.uuid()}`;
    this.#clock = runtime.clock;
    this.#random = runtime.random;
    const { namespace, name } = options;
    this.#log = runtime.log.child({ lease: `${namespace}/${name}`, identity: this.identity });
    this.#options = options;
    const { leaseDurationMs } = this.#times;
    this.#candidate = { namespace, name, identity: this.identity, leaseDurationMs };
  }

  /** The lease's name. */
  get name(): string {
    return this.#options.name;
  }

  get status(): LeaderStatus {
    const holder = this.#view.record?.holderIdentity ?? "";
    return {
      leading: this.#term?.leading ?? false,
      holder: holder === "" ? undefined : holder,
      transitions: this.#view.record?.leaseTransitions ?? 0,
      overdueMs: this.#lostAtMs === undefined ? 0 : this.#clock.monotonicMs() - this.#lostAtMs,
      slowPaths: this.#slowPaths,
    };
  }

  /**
   * Waits until this candidate leads, and calls `lead` once. Everything that only a leader may do belongs into `lead`, and
   * ends when `term.signal` aborts. Resolves when `lead` has ended by itself or after the signal's abort, and the lease
   * is free for the next one; while the work is ending the lease is still renewed.
   *
   * Afterwards `run` may be called again; most programs rather end with the leadership and let themselves be restarted.
   *
   * @throws ControllerError `LeadershipLost` after the work has ended, `AlreadyRunning`; what `lead` throws
   */
  async run(signal: AbortSignal, lead: (term: LeaderTerm) => Promise<void>): Promise<void> {
    if (this.#running) {
      throw new ControllerError(
        "AlreadyRunning",
        `the election by lease ${this.#options.name} goes on already`,
      );
    }
    this.#running = true;
    try {
      const renewed = await this.#campaign(signal);
      if (renewed !== undefined) await this.#lead(renewed, { signal, lead });
    } finally {
      this.#term = undefined;
      this.#lostAtMs = undefined;
      await this.#release();
      this.#running = false;
    }
  }

  /** Tries until this candidate leads; `undefined` when the signal aborts. */
  async #campaign(signal: AbortSignal): Promise<Moment | undefined> {
    const { retryPeriodMs, renewDeadlineMs } = this.#times;
    let failures = 0;
    let holder: string | undefined;
    while (!signal.aborted) {
      try {
        await this.#tryToHold({ signal, deadlineMs: renewDeadlineMs / 2 });
        failures = 0;
      } catch (error) {
        if (signal.aborted) break;
        // Once, since it is the same until the server is back.
        const told = { error, attempt: ++failures };
        if (failures === 1) this.#log.warn("cannot stand for election", told);
        else this.#log.debug("cannot stand for election", told);
      }
      const renewed = this.#renewed;
      // An answer that comes too late makes no leader: the next attempt renews what it has brought.
      if (renewed !== undefined && sinceMs(this.#clock, renewed) < renewDeadlineMs) return renewed;
      if (this.status.holder !== holder) {
        holder = this.status.holder;
        this.#log.info("another one leads", { holder });
      }
      await this.#sleep(retryPeriodMs * (1 + retryJitter * this.#random.float()), signal);
    }
    return undefined;
  }

  async #lead(
    renewed: Moment,
    { signal, lead }: { signal: AbortSignal; lead: (term: LeaderTerm) => Promise<void> },
  ): Promise<void> {
    const { namespace, name } = this.#options;
    const { renewDeadlineMs } = this.#times;
    const term = new RenewableTerm(this.#clock, {
      lease: `${namespace}/${name}`,
      renewDeadlineMs,
      renewed,
      onLost: (lost) => this.#noteLost(lost),
    });
    this.#term = term;
    const onStop = (): void => term.stop(signal.reason);
    if (signal.aborted) onStop();
    else signal.addEventListener("abort", onStop, { once: true });

    this.#log.info("this one leads");
    this.#tell("became leader");
    const workEnded = new AbortController();
    const renewing = this.#renewWhileLeading(term, workEnded.signal);
    const work = await settled(async () => (term.signal.aborted ? undefined : lead(term)));
    workEnded.abort();
    await renewing;
    term.close();
    signal.removeEventListener("abort", onStop);

    const { lost } = term;
    this.#tell("stopped leading");
    if (lost !== undefined) throw lost;
    // What the abort itself made of the work is no failure.
    if (work.failed && !(signal.aborted && work.error === signal.reason)) throw work.error;
  }

  /** Keeps the lease until the work has ended or the term is lost. */
  async #renewWhileLeading(term: RenewableTerm, workEnded: AbortSignal): Promise<void> {
    const { retryPeriodMs, renewDeadlineMs } = this.#times;
    while (!workEnded.aborted && term.lost === undefined) {
      // Sooner when the time runs out, so that a server that is back for its last second is not missed.
      const hurriedMs = Math.max(retryPeriodMs / 4, term.remainingMs / 2);
      await this.#sleep(Math.min(retryPeriodMs, hurriedMs), workEnded);
      if (workEnded.aborted || term.lost !== undefined) return;
      const deadlineMs = Math.min(renewDeadlineMs / 2, Math.max(1, term.remainingMs));
      try {
        await this.#tryToHold({ signal: workEnded, deadlineMs });
        const { holderIdentity } = this.#view.record ?? {};
        if (holderIdentity !== this.identity) term.lose(`${holderIdentity ?? "nobody"} holds it`);
        else if (this.#renewed !== undefined) term.renew(this.#renewed);
      } catch (error) {
        if (!workEnded.aborted)
          this.#log.debug("lease not renewed", { error, remainingMs: term.remainingMs });
      }
    }
  }

  /** Renews or takes the lease if it may be; else only sees who has it. */
  async #tryToHold(bounds: { readonly signal: AbortSignal; readonly deadlineMs: number }): Promise<void> {
    // Whoever holds it knows its newest version, and needs no read.
    if (this.#view.lease !== undefined && this.#view.record?.holderIdentity === this.identity) {
      try {
        return await this.#write(bounds);
      } catch (error) {
        if (bounds.signal.aborted) throw error;
        this.#slowPaths++;
        // A server that does not answer would not answer a read either: the next attempt comes soon.
        if (!isConflict(error) && !isNotFound(error)) throw error;
      }
    }
    await this.#read(bounds);
    await this.#write(bounds);
  }

  async #read(bounds: { readonly signal: AbortSignal; readonly deadlineMs: number }): Promise<void> {
    const { client, namespace, name } = this.#options;
    this.#see(await absentIfNotFound(client.get<Lease>(leaseType, { namespace, name }, bounds)));
  }

  async #write(bounds: { readonly signal: AbortSignal; readonly deadlineMs: number }): Promise<void> {
    // Before the request: whatever it takes, others may count from any moment after this one.
    const sent = this.#moment();
    const step = nextStep(this.#view, this.#candidate, sent);
    if (step.do === "wait") return;
    const { client } = this.#options;
    this.#unanswered = true;
    this.#see(
      step.do === "create"
        ? await client.create<Lease>(leaseType, step.lease, bounds)
        : await client.update<Lease>(leaseType, step.lease, bounds),
    );
    this.#unanswered = false;
    if (this.#view.record?.holderIdentity === this.identity) this.#renewed = sent;
  }

  /** Lets others lead without their waiting for the end of the lease. Never throws: then they wait. */
  async #release(): Promise<void> {
    const never = new AbortController().signal;
    const bounds = { signal: never, deadlineMs: this.#times.renewDeadlineMs / 2 };
    try {
      if (this.#unanswered) await this.#read(bounds);
      for (let attempt = 1; attempt <= 2; attempt++) {
        const lease = released(this.#view, this.#candidate, this.#moment());
        if (lease === undefined) return;
        try {
          this.#see(await this.#options.client.update<Lease>(leaseType, lease, bounds));
          this.#log.info("lease given back");
          return;
        } catch (error) {
          // The last renewal arrived after all, or somebody else has it.
          if (!isConflict(error) || attempt === 2) throw error;
          await this.#read(bounds);
        }
      }
    } catch (error) {
      this.#log.info("lease not released", { error });
    } finally {
      this.#renewed = undefined;
      this.#unanswered = false;
    }
  }

  #see(lease: Lease | undefined): void {
    this.#view = viewAfter(this.#view, lease, this.#clock.monotonicMs());
  }

  #noteLost(lost: ControllerError): void {
    this.#lostAtMs = this.#clock.monotonicMs();
    this.#log.error("leadership lost", { error: lost });
  }

  #tell(what: string): void {
    const { lease } = this.#view;
    if (lease === undefined) return;
    const message = `${this.identity} ${what}`;
    this.#options.events?.record(lease, { type: "Normal", reason: "LeaderElection", message });
  }

  #moment(): Moment {
    return { monotonicMs: this.#clock.monotonicMs(), wallMs: this.#clock.now() };
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, signal).catch(() => {});
  }
}

type Settled = { readonly failed: false } | { readonly failed: true; readonly error: unknown };

function settled(work: () => Promise<void>): Promise<Settled> {
  return work().then(
    () => ({ failed: false }),
    (error: unknown) => ({ failed: true, error }),
  );
}
