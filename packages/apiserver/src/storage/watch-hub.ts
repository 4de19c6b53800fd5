import type { History } from "./history.ts";
import type { Revision, StorageEvent, WatchBatch } from "./storage.ts";
import { compactedUnderWatch, keyOf, Watcher } from "./watcher.ts";
import type { WatchSource } from "./watcher.ts";

/** The watchers of one prefix, who all get the same events. */
interface PrefixGroup {
  readonly watchers: Set<Watcher>;
  /** Events of the publication under way that belong here. */
  events: StorageEvent[];
}

/**
 * Hands each event to the watchers of every prefix that its key has.
 *
 * The work per event depends on how many lengths the watched prefixes have, not on the number of watchers: for each
 * length one look-up finds the group. The watchers of a group share one array of events.
 *
 * ```text
 * prefixes "a/" (3 watchers), "b/" (1), "a/x/1" (1)     lengths 2 and 5
 * event a/x/1  ->  look up "a/" and "a/x/1"
 * ```
 */
export class WatchHub implements WatchSource {
  readonly history: History;
  /** Prefix length → prefix → group. */
  readonly #groups = new Map<number, Map<string, PrefixGroup>>();
  #progressTold: Revision;

  constructor(history: History) {
    this.history = history;
    this.#progressTold = history.newest;
  }

  /** @throws StorageError `Compacted`. */
  watch(options: {
    prefix: string;
    after: Revision;
    signal: AbortSignal;
  }): AsyncIterableIterator<WatchBatch> {
    if (options.after < this.history.compacted)
      throw compactedUnderWatch(options.after, this.history.compacted);
    const watcher = new Watcher(this, options);
    if (!watcher.ended) this.#groupOf(options.prefix).watchers.add(watcher);
    return watcher;
  }

  /** Hands over events that are in the history already. */
  publish(events: readonly StorageEvent[]): void {
    const touched = new Set<PrefixGroup>();
    for (const event of events) {
      const key = keyOf(event);
      for (const [length, groups] of this.#groups) {
        if (length > key.length) continue;
        const group = groups.get(length === key.length ? key : key.slice(0, length));
        if (group === undefined) continue;
        group.events.push(event);
        touched.add(group);
      }
    }
    for (const group of touched) {
      const shared = group.events;
      group.events = [];
      for (const watcher of group.watchers) watcher.push(shared, this.history.newest);
    }
  }

  /** Tells waiting watchers how far they are complete. Called every few seconds; costs nothing while nothing moves. */
  tellProgress(): void {
    const { newest } = this.history;
    if (newest === this.#progressTold) return;
    this.#progressTold = newest;
    for (const watcher of this.#watchers()) watcher.pushProgress(newest);
  }

  leave(watcher: Watcher): void {
    const groups = this.#groups.get(watcher.prefix.length);
    const group = groups?.get(watcher.prefix);
    if (groups === undefined || group === undefined) return;
    group.watchers.delete(watcher);
    if (group.watchers.size === 0) groups.delete(watcher.prefix);
    if (groups.size === 0) this.#groups.delete(watcher.prefix.length);
  }

  endAll(): void {
    for (const watcher of this.#watchers()) watcher.end();
  }

  #watchers(): Watcher[] {
    const all: Watcher[] = [];
    for (const groups of this.#groups.values()) {
      for (const group of groups.values()) for (const watcher of group.watchers) all.push(watcher);
    }
    return all;
  }

  #groupOf(prefix: string): PrefixGroup {
    let groups = this.#groups.get(prefix.length);
    if (groups === undefined) this.#groups.set(prefix.length, (groups = new Map<string, PrefixGroup>()));
    let group = groups.get(prefix);
    if (group === undefined) groups.set(prefix, (group = { watchers: new Set(), events: [] }));
    return group;
  }
}
