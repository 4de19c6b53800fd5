import { eventType, isNotFound, isStatusError } from "@meridian/kube";
import type { Event, KubeObject } from "@meridian/kube";
import type { Clock, Logger, Random } from "@meridian/runtime";
import type { KubeClient } from "../client/kube-client.ts";
import { Fifo } from "../queue/fifo.ts";
import { EventCorrelator, referenceTo } from "./event-correlation.ts";
import type { EventNote, EventWrite, TimedNote } from "./event-correlation.ts";

/** Who reports, and through which client. */
export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, "create" | "patch">;
  /** Who reports, for example `k8gb`. */
  readonly component: string;
  /** Which instance of it, for example the Pod's name. */
  readonly instance?: string;
}

/** Notes that wait to be written; a note beyond them is dropped. */
const queueMax = 1000;
/** Attempts to write one event, and the wait between two. */
const attemptsMax = 12;
const retryMs = 10_000;

/**
 * Writes core/v1 Events in the background. Notes that repeat are counted, many similar ones become one, and an object
 * gets at most 25 at once and then one per five minutes. Recording never waits and never fails; what cannot be written is
 * dropped and counted.
 */
export class EventRecorder {
  readonly #clock: Pick<Clock, "now" | "sleep">;
  readonly #random: Pick<Random, "float">;
  readonly #log: Logger;
  readonly #client: EventRecorderOptions["client"];
  readonly #correlator: EventCorrelator;
  readonly #notes = new Fifo<TimedNote>();
  #wake: (() => void) | undefined;
  #dropped = 0;

  constructor(
    runtime: {
      readonly clock: Pick<Clock, "now" | "sleep">;
      readonly random: Pick<Random, "bytes" | "float">;
      readonly log: Logger;
    },
    options: EventRecorderOptions,
  ) {
    this.#clock = runtime.clock;
    this.#random = runtime.random;
    this.#log = runtime.log.child({ recorder: options.component });
    this.#client = options.client;
    const source = { component: options.component, instance: options.instance ?? "" };
    this.#correlator = new EventCorrelator(source, () => hex(runtime.random.bytes(8)));
  }

  /** Notes that were never written: the queue was full, the object talked too much, or the server refused. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Queues a note about an object. */
  record(about: KubeObject, note: EventNote): void {
    if (this.#notes.length >= queueMax) {
      this.#dropped++;
      return;
    }
    this.#notes.push({ ...note, about: referenceTo(about), atMs: this.#clock.now() });
    this.#wake?.();
  }

  /** Writes until the signal aborts, then resolves. Notes that are queued then stay unwritten. */
  async run(signal: AbortSignal): Promise<void> {
    const wake = (): void => this.#wake?.();
    signal.addEventListener("abort", wake);
    try {
      while (!signal.aborted) {
        const note = this.#notes.shift();
        if (note === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
        else await this.#writeNote(note, signal);
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }

  /** Never throws. */
  async #writeNote(note: TimedNote, signal: AbortSignal): Promise<void> {
    const write = this.#correlator.correlate(note);
    if (write === undefined) {
      this.#dropped++;
      return;
    }
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#write(write, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (attempt >= attemptsMax || isFinal(error)) {
          this.#dropped++;
          const { kind, namespace, name } = note.about;
          this.#log.warn("event not written", { kind, namespace, name, reason: note.reason, error });
          return;
        }
      }
      // All recorders of a fleet fail together when a server goes; the jitter lets them come back apart.
      await this.#clock.sleep(retryMs * (1 - this.#random.float() / 2), signal).catch(() => {});
      if (signal.aborted) return;
    }
  }

  async #write(write: EventWrite, signal: AbortSignal): Promise<void> {
    if (write.verb === "patch") {
      try {
        await this.#client.patch<Event>(eventType, write.ref, { type: "merge", body: write.body, signal });
        return;
      } catch (error) {
        // The server forgets events after an hour: then this one begins anew.
        if (!isNotFound(error)) throw error;
      }
    }
    const event = write.verb === "create" ? write.event : this.#correlator.renamed(write.event);
    await this.#client.create<Event>(eventType, event, { signal });
  }
}

/** True where trying again would end the same way. */
function isFinal(error: unknown): boolean {
  return isStatusError(error) && error.code >= 400 && error.code < 500 && error.code !== 429;
}

const hex = (octets: Uint8Array): string =>
  Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join("");
