import { LeaderElector, type KubeClient, type LeaderTerm } from "@meridian/controller";
import type { Runtime } from "@meridian/runtime";

/** Among which replicas one is to lead. */
export interface LeadingOptions {
  /** Absent: there is one replica, and it leads. */
  readonly election?: {
    readonly client: Pick<KubeClient, "get" | "create" | "update">;
    readonly namespace: string;
    /** For people. */
    readonly candidate: string;
  };
  /** This replica leads from now on: what others left undone is its to do. */
  readonly onLead: () => void;
}

const leaseName = "meridian-operator";
/** Before this replica stands again after it has lost the lead. */
const againMs = 2_000;

/**
 * Which of several replicas of a cluster's operator writes what is decided. All of them follow the cluster, ask peers and
 * answer DNS, so that one takes over without asking anybody; with two writers whose peers told them at different moments
 * they would write over each other.
 *
 * That nobody leads, since the API server is away, withdraws nothing: nothing could be written anyway.
 */
export class Leading {
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: LeadingOptions;
  readonly #elector: LeaderElector | undefined;
  #term: LeaderTerm | undefined;

  constructor(runtime: Pick<Runtime, "clock" | "random" | "log">, options: LeadingOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#elector = options.election && new LeaderElector(runtime, { ...options.election, name: leaseName });
  }

  get isLeading(): boolean {
    return this.#elector === undefined || this.#term?.leading === true;
  }

  /** Stands for election until the signal aborts, and gives the lead back then. */
  async run(signal: AbortSignal): Promise<void> {
    while (this.#elector !== undefined && !signal.aborted) {
      try {
        await this.#elector.run(signal, (term) => this.#lead(term));
      } catch (error) {
        if (!signal.aborted) this.#runtime.log.warn("this operator leads no more", { error });
      }
      this.#term = undefined;
      await this.#runtime.clock.sleep(againMs, signal).catch(() => {});
    }
  }

  async #lead(term: LeaderTerm): Promise<void> {
    this.#term = term;
    this.#runtime.log.info("this operator leads");
    this.#options.onLead();
    if (!term.signal.aborted)
      await new Promise<void>((resolve) =>
        term.signal.addEventListener("abort", () => resolve(), { once: true }),
      );
  }
}
