import type { Revision } from "../storage/storage.ts";

/** Who a write came from: the user as authenticated, and the field manager that the request named or its program. */
export interface Writer {
  readonly user: string;
  readonly manager: string;
}

/** Most writes whose writer is remembered. */
const entriesMax = 1_000;

/**
 * Who wrote the newest revisions. It is for people who look: the store knows nothing of users, and after a restart nobody
 * remembers.
 */
export class WriteLedger {
  readonly #writers = new Map<Revision, Writer>();

  note(revision: Revision, writer: Writer): void {
    this.#writers.set(revision, writer);
    if (this.#writers.size <= entriesMax) return;
    for (const oldest of this.#writers.keys()) {
      this.#writers.delete(oldest);
      return;
    }
  }

  /** `undefined` for what the server wrote by itself, and for what is forgotten. */
  writerOf(revision: Revision): Writer | undefined {
    return this.#writers.get(revision);
  }
}
