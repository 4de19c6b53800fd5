import type { Revision, Storage, StorageEvent, WatchBatch } from "../storage.ts";
import { text } from "./storage-fixtures.ts";

/** A watch that is read all the time, and what it delivered. */
export interface Follower {
  readonly after: Revision;
  readonly batches: readonly WatchBatch[];
  readonly events: readonly StorageEvent[];
  readonly ended: Promise<void>;
  failure: unknown;
  /** Waits for so many events, and shows them. */
  take(count: number): Promise<string[]>;
  /** Waits until the watch is complete up to a revision. */
  until(revision: Revision): Promise<void>;
  stop(): Promise<void>;
}

/** Reads a watch from now on. */
export function follow(store: Storage, options: { prefix: string; after: Revision }): Follower {
  const stop = new AbortController();
  const batches: WatchBatch[] = [];
  const events: StorageEvent[] = [];
  let wake: (() => void)[] = [];
  const watch = store.watch({ ...options, signal: stop.signal });
  const notify = (): void => {
    const waiting = wake;
    wake = [];
    for (const resolve of waiting) resolve();
  };
  const holds = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise<void>((resolve) => wake.push(resolve));
  };
  const read = async (): Promise<void> => {
    try {
      for await (const batch of watch) {
        batches.push(batch);
        events.push(...batch.events);
        notify();
      }
    } catch (error) {
      follower.failure = error;
    }
    notify();
  };
  const follower: Follower = {
    after: options.after,
    batches,
    events,
    failure: undefined,
    ended: Promise.resolve().then(read),
    async take(count) {
      await holds(() => events.length >= count);
      return events.map(described);
    },
    until: (revision) => holds(() => (batches.at(-1)?.progress ?? 0) >= revision),
    async stop() {
      stop.abort();
      await follower.ended;
    },
  };
  return follower;
}

/** All events behind a revision up to now, as text. */
export async function eventsAfter(store: Storage, after: Revision): Promise<string[]> {
  const watch = follow(store, { prefix: "", after });
  await watch.until(store.revision());
  await watch.stop();
  return watch.events.map(described);
}

function described(event: StorageEvent): string {
  const { previous } = event;
  const was = previous === undefined ? "nothing" : `${text(previous.value)}@${previous.modRevision}`;
  return event.type === "put"
    ? `put ${event.revision} ${event.record.key}=${text(event.record.value)}, was ${was}`
    : `delete ${event.revision} ${event.key}, was ${was}`;
}

