import { isAlreadyExists, isNotFound, isStatusError, seriesEventType } from "@meridian/kube";
import type { KubeObject, SeriesEvent } from "@meridian/kube";
import type { Clock, Logger, Random } from "@meridian/runtime";
import type { KubeClient } from "../client/kube-client.ts";
import { deadlineSignal } from "../deadline-signal.ts";
import { EventCorrelator, referenceTo } from "./event-correlation.ts";
import type { EventNote, EventWrite, PendingWrite } from "./event-correlation.ts";
import { noteProblem } from "./note-problem.ts";

/** Who reports, and through which client. */
export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, "create" | "patch">;
  /** Who reports, for example `k8gb` or `example.com/widgets`. */
  readonly component: string;
  /** Which instance of it, for example the Pod's name. Default: `component`. */
  readonly instance?: string;
}

/** Attempts to write one event, and the wait between two. */
const attemptsMax = 12;
const retryMs = 10_000;
/** How long a stop may take to write what waits. */
const flushMs = 2_000;

/**
 * Writes Events (events.k8s.io/v1) in the background; `kubectl describe` shows them. Notes that repeat are one Event with a
 * count, more than ten similar ones become one, and an object gets at most 25 new ones at once and then one per five
 * minutes. Recording never waits and never fails, so that no reconcile ends by it: what is no note about an object is
 * logged as an error and ignored, as client-go does; what cannot be written is dropped. Both are counted.
 */
export class EventRecorder {
  readonly #clock: Pick<Clock, "now" | "monotonicMs" | "after" | "sleep">;
  readonly #random: Pick<Random, "float">;
  readonly #log: Logger;
  readonly #client: EventRecorderOptions["client"];
  readonly #correlator: EventCorrelator;
  #wake: (() => void) | undefined;
  #dropped = 0;

  constructor(
    runtime: {
      readonly clock: Pick<Clock, "now" | "monotonicMs" | "after" | "sleep">;
      readonly random: Pick<Random, "bytes" | "float">;
      readonly log: Logger;
    },
    options: EventRecorderOptions,
  ) {
    this.#clock = runtime.clock;
    this.#random = runtime.random;
    this.#log = runtime.log.child({ recorder: options.component });
    this.#client = options.client;
    const { component, instance = component } = options;
    this.#correlator = new EventCorrelator({ component, instance }, () => hex(runtime.random.bytes(8)));
  }

  /** Notes that were never written: malformed, too much waited, the object talked too much, or the server refused. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes a note about an object. Never throws: see above for what is no such thing. */
  record(about: KubeObject, note: EventNote): void {
    const problem = noteProblem(about, note);
    if (problem !== undefined) {
      this.#dropped++;
      this.#log.error("event ignored", { problem });
      return;
    }
    const timed = { ...note, about: referenceTo(about), atMs: this.#clock.now() };
    const isTaken = this.#correlator.add(timed, this.#clock.monotonicMs());
    if (isTaken) this.#wake?.();
    else this.#dropped++;
  }

  /** Writes until the signal aborts, then what still waits as far as that takes 2 s at most, and resolves. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const pending = this.#correlator.next(this.#clock.monotonicMs());
      if (pending === undefined) await this.#untilDue(signal);
      else await this.#writeInTime(pending, signal);
    }
    await this.#flush();
  }

  /** Resolves when a write may be due, or the signal has aborted. */
  async #untilDue(signal: AbortSignal): Promise<void> {
    const { dueAtMs } = this.#correlator;
    let cancel = (): void => {};
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      signal.addEventListener("abort", this.#wake, { once: true });
      if (dueAtMs !== undefined) cancel = this.#clock.after(dueAtMs - this.#clock.monotonicMs(), resolve);
    });
    cancel();
    if (this.#wake !== undefined) signal.removeEventListener("abort", this.#wake);
    this.#wake = undefined;
  }

  /** Tries until it is written, or there is no hope. Never throws. */
  async #writeInTime(pending: PendingWrite, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#write(pending, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (attempt >= attemptsMax || isFinal(error)) return this.#drop(pending, error);
      }
      // All recorders of a fleet fail together when a server goes; the jitter lets them come back apart.
      await this.#clock.sleep(retryMs * (1 - this.#random.float() / 2), signal).catch(() => {});
      if (signal.aborted) return;
    }
  }

  async #write({ write, onWritten, onForgotten }: PendingWrite, signal: AbortSignal): Promise<void> {
    try {
      await this.#send(write, signal);
    } catch (error) {
      // The server forgets events after an hour: then this one begins anew.
      if (write.verb === "patch" && isNotFound(error)) return onForgotten();
      // The answer to an earlier attempt was lost.
      if (!(write.verb === "create" && isAlreadyExists(error))) throw error;
    }
    onWritten();
  }

  async #send(write: EventWrite, signal: AbortSignal): Promise<void> {
    if (write.verb === "create")
      await this.#client.create<SeriesEvent>(seriesEventType, write.event, { signal });
    else await this.#client.patch(seriesEventType, write.ref, { type: "merge", body: write.body, signal });
  }

  async #flush(): Promise<void> {
    using bounds = deadlineSignal(this.#clock, { signal: undefined, ms: flushMs });
    while (!bounds.signal.aborted) {
      const pending = this.#correlator.next(Infinity);
      if (pending === undefined) return;
      try {
        await this.#write(pending, bounds.signal);
      } catch (error) {
        if (!isFinal(error)) return;
        this.#drop(pending, error);
      }
    }
  }

  #drop({ about, onDropped }: PendingWrite, error: unknown): void {
    this.#dropped++;
    onDropped();
    const { kind, namespace, name } = about.regarding ?? {};
    this.#log.warn("event not written", { kind, namespace, name, reason: about.reason, error });
  }
}

/** True where trying again would end the same way. */
function isFinal(error: unknown): boolean {
  return isStatusError(error) && error.code >= 400 && error.code < 500 && error.code !== 429;
}

const hex = (octets: Uint8Array): string =>
  Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join("");
