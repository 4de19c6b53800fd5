import { StorageError } from "./storage.ts";
import type { Revision, StorageEvent } from "./storage.ts";

/**
 * The events after the compacted revision, oldest first, one per revision without a gap.
 *
 * ```text
 * compacted = 4     events:  5 put a   6 put b   7 delete a     revision = 7
 * after(5, …)  ->            6 put b   7 delete a
 * compact(6)   ->                      7 delete a               compacted = 6
 * ```
 *
 * An event shares its records with the tree and with its neighbours, so the history costs the superseded values only;
 * `sizeBytes` counts those.
 */
export class History {
  #compacted: number;
  #events: StorageEvent[] = [];
  /** When each event came in, by the caller's clock. */
  #times: number[] = [];
  /** Entries before it are forgotten and wait for the next tidying of the arrays. */
  #head = 0;
  #sizeBytes = 0;

  constructor(compacted: Revision) {
    this.#compacted = compacted;
  }

  get compacted(): Revision {
    return this.#compacted as Revision;
  }

  /** The newest revision; the compacted one where there is no event. */
  get newest(): Revision {
    return (this.#compacted + this.length) as Revision;
  }

  get length(): number {
    return this.#events.length - this.#head;
  }

  /** Bytes of the values that only the history keeps, and a flat cost per event. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  append(event: StorageEvent, atMs: number): void {
    if (event.revision !== this.newest + 1) {
      throw new Error(`history broken: revision ${event.revision} after ${this.newest}`);
    }
    this.#events.push(event);
    this.#times.push(atMs);
    this.#sizeBytes += costOf(event);
  }

  /** The event of a revision in (compacted, newest]. */
  at(revision: number): StorageEvent {
    const event = this.#events[this.#head + revision - this.#compacted - 1];
    if (event === undefined || event.revision !== revision)
      throw new Error(`history has no revision ${revision}`);
    return event;
  }

  /** All events, in a new array. */
  all(): readonly StorageEvent[] {
    return this.#events.slice(this.#head);
  }

  /** When the event of a revision in (compacted, newest] came in. */
  timeAt(revision: number): number {
    return this.#times[this.#head + revision - this.#compacted - 1]!;
  }

  /** @throws StorageError `Compacted`, `FutureRevision` where the state at `revision` cannot be told. */
  checkReadable(revision: Revision): void {
    if (revision < this.#compacted) {
      throw new StorageError(
        "Compacted",
        `cannot read revision ${revision}: the history up to ${this.#compacted} was compacted; ` +
          "list again and go on from the list's revision",
      );
    }
    if (revision > this.newest) {
      throw new StorageError(
        "FutureRevision",
        `cannot read revision ${revision}: the newest is ${this.newest}; retry once this store has caught up`,
      );
    }
  }

  /** Forgets the events up to and including `revision`, which must be within the history. */
  compact(revision: Revision): void {
    while (this.#compacted < revision) {
      this.#sizeBytes -= costOf(this.#events[this.#head]!);
      this.#head += 1;
      this.#compacted += 1;
    }
    // Moving the rest costs its length, so it waits until as much is forgotten: constant per event over time.
    if (this.#head > 1_024 && this.#head * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#head);
      this.#times = this.#times.slice(this.#head);
      this.#head = 0;
    } else {
      // The values go at once, the slots later.
      for (let i = this.#head - 1; i >= 0 && this.#events[i] !== forgotten; i--) this.#events[i] = forgotten;
    }
  }
}

/** Octets that keeping one event takes beside values: the event, its record, and its share of the tree's old nodes. */
const eventCostBytes = 256;

function costOf(event: StorageEvent): number {
  return eventCostBytes + (event.previous?.value.byteLength ?? 0);
}

const forgotten: StorageEvent = {
  type: "delete",
  revision: 0 as Revision,
  key: "",
  previous: {
    key: "",
    value: new Uint8Array(0),
    modRevision: 0 as Revision,
    createRevision: 0 as Revision,
  },
};
