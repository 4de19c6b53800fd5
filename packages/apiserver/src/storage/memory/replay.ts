import type { RecoveredState } from "../journal.ts";
import { RecordTree } from "../record-tree.ts";
import type { Revision, StorageEvent, StoredRecord } from "../storage.ts";
import type { LogEntry } from "./log-entry.ts";

/** The state that grows while the entries of snapshot and logs are read in their order. */
export class Replay {
  #compacted: number;
  #revision: number;
  #tree: RecordTree = RecordTree.empty;
  #events: StorageEvent[] = [];
  /** Records of a snapshot until its last one is read. */
  #base: StoredRecord[] = [];

  constructor(start: { compacted: Revision; revision: Revision }) {
    this.#compacted = start.compacted;
    this.#revision = start.revision;
  }

  get revision(): Revision {
    return this.#revision as Revision;
  }

  get compacted(): Revision {
    return this.#compacted as Revision;
  }

  /** Throws RangeError where the entry cannot follow what was read before. */
  apply(entry: LogEntry): void {
    switch (entry.kind) {
      case "header":
        if (entry.revision !== this.#revision || entry.compacted !== this.#compacted) {
          throw new RangeError(
            `continues revision ${entry.revision}, but the one before ended at ${this.#revision}`,
          );
        }
        return;
      case "records":
        for (const record of entry.records) this.#base.push(record);
        return;
      case "group":
        this.#takeBase();
        this.#applyGroup(entry);
        return;
      case "end":
        this.#takeBase();
        if (entry.revision !== this.#revision) {
          throw new RangeError(
            `ends at revision ${entry.revision}, but its entries end at ${this.#revision}`,
          );
        }
        return;
    }
  }

  result(): RecoveredState {
    return { compacted: this.compacted, events: this.#events, tree: this.#tree };
  }

  #takeBase(): void {
    if (this.#base.length === 0) return;
    this.#tree = RecordTree.fromSorted(this.#base);
    this.#base = [];
  }

  #applyGroup(group: LogEntry & { kind: "group" }): void {
    if (group.changes.length > 0 && group.first !== this.#revision + 1) {
      throw new RangeError(`revision ${group.first} follows ${this.#revision}`);
    }
    for (const change of group.changes) {
      const revision = (this.#revision + 1) as Revision;
      const previous = this.#tree.get(change.key);
      if (change.type === "put") {
        const createRevision = previous?.createRevision ?? revision;
        const record = { key: change.key, value: change.value, modRevision: revision, createRevision };
        this.#events.push({ type: "put", revision, record, previous });
        this.#tree = this.#tree.with(record);
      } else {
        if (previous === undefined)
          throw new RangeError(`revision ${revision} deletes "${change.key}", which is absent`);
        this.#events.push({ type: "delete", revision, key: change.key, previous });
        this.#tree = this.#tree.without(change.key);
      }
      this.#revision = revision;
    }
    if (group.compacted > this.#revision)
      throw new RangeError(`compacts the future revision ${group.compacted}`);
    if (group.compacted > this.#compacted) {
      this.#events.splice(0, group.compacted - this.#compacted);
      this.#compacted = group.compacted;
    }
  }
}
