import type { History } from "./history.ts";
import type { RecordTree } from "./record-tree.ts";
import type { Revision } from "./storage.ts";

/** A state is kept every so many revisions, so that no read undoes more events than this. */
const checkpointRevisions = 4_096;

/** Most states kept beside the checkpoints: the lists whose pages are open, roughly. */
const readStatesMax = 64;

/**
 * The states at older revisions, for lists whose pages are open and for exact reads.
 *
 * A state that somebody reads is made from the nearest younger one by undoing the events between, then kept for the
 * next page; dropping it costs time later and never correctness.
 *
 * ```text
 * kept: 9 (newest)     events: 8 put a (before: a@3)   9 delete b (before: b@5)
 * at(7) -> 9 with b@5, with a@3
 * ```
 */
export class PastStates {
  readonly #history: History;
  /** Insertion order is order of use. */
  readonly #read = new Map<number, RecordTree>();
  readonly #checkpoints = new Map<number, RecordTree>();

  constructor(history: History) {
    this.#history = history;
  }

  /** Tells of each new state, after its events were appended to the history. */
  advance(from: Revision, to: Revision, tree: RecordTree): void {
    if (Math.floor(from / checkpointRevisions) !== Math.floor(to / checkpointRevisions)) {
      this.#checkpoints.set(to, tree);
    }
  }

  /** Keeps a state that the next page will ask for. */
  keep(revision: Revision, tree: RecordTree): void {
    this.#read.delete(revision);
    this.#read.set(revision, tree);
    if (this.#read.size > readStatesMax) {
      const [oldest] = this.#read.keys();
      this.#read.delete(oldest!);
    }
  }

  /** The state at a revision that the history can tell; `newest` is the state at its end. */
  at(revision: Revision, newest: RecordTree): RecordTree {
    const kept = this.#read.get(revision);
    if (kept !== undefined) {
      this.keep(revision, kept);
      return kept;
    }
    let from: number = this.#history.newest;
    let tree = newest;
    for (const states of [this.#read, this.#checkpoints]) {
      for (const [candidate, state] of states) {
        if (candidate >= revision && candidate < from) {
          from = candidate;
          tree = state;
        }
      }
    }
    for (let undone = from; undone > revision; undone--) {
      const event = this.#history.at(undone);
      if (event.previous !== undefined) tree = tree.with(event.previous);
      else if (event.type === "put") tree = tree.without(event.record.key);
    }
    this.keep(revision, tree);
    return tree;
  }

  /** Drops the states that can no longer be asked for. */
  compact(compacted: Revision): void {
    for (const states of [this.#read, this.#checkpoints]) {
      for (const revision of states.keys()) if (revision < compacted) states.delete(revision);
    }
  }
}
