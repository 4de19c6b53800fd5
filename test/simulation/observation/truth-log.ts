import type { KubeObject } from "@meridian/kube";

/** One write as the store acknowledged it; no value for a deletion. */
export interface TruthEvent {
  readonly key: string;
  readonly revision: number;
  readonly value: Uint8Array | undefined;
  /** Virtual time of the acknowledgement. */
  readonly atMs: number;
}

/**
 * Everything that one cluster's store ever acknowledged, kept outside of the cluster: it outlives crashes and
 * compactions, so copies and reopened stores are compared with it.
 */
export class TruthLog {
  readonly #byKey = new Map<string, TruthEvent[]>();
  readonly #decoded = new WeakMap<Uint8Array, KubeObject>();
  readonly #changed = new Set<string>();
  #newest = 0;

  /** The newest revision that was acknowledged. */
  get newest(): number {
    return this.#newest;
  }

  /** Takes one write. A key's revisions must rise. */
  record(event: TruthEvent): void {
    const events = this.#byKey.get(event.key) ?? [];
    const last = events.at(-1);
    if (last !== undefined && last.revision >= event.revision) {
      throw new Error(`the store gave revision ${event.revision} to ${event.key} after ${last.revision}`);
    }
    events.push(event);
    this.#byKey.set(event.key, events);
    this.#changed.add(event.key);
    this.#newest = Math.max(this.#newest, event.revision);
  }

  /** The keys that were written since the last call. */
  takeChanged(): readonly string[] {
    const keys = [...this.#changed];
    this.#changed.clear();
    return keys;
  }

  /** All writes to a key, oldest first. */
  history(key: string): readonly TruthEvent[] {
    return this.#byKey.get(key) ?? [];
  }

  /** What stands at a key; `undefined` where nothing does. */
  current(key: string): TruthEvent | undefined {
    const last = this.#byKey.get(key)?.at(-1);
    return last?.value === undefined ? undefined : last;
  }

  /** What stood at a key at a revision. */
  keyAt(key: string, revision: number): TruthEvent | undefined {
    const found = this.#byKey.get(key)?.findLast((event) => event.revision <= revision);
    return found?.value === undefined ? undefined : found;
  }

  /** The state of a prefix at a revision. */
  at(prefix: string, revision: number): ReadonlyMap<string, TruthEvent> {
    const state = new Map<string, TruthEvent>();
    for (const key of this.#byKey.keys()) {
      if (!key.startsWith(prefix)) continue;
      const event = this.keyAt(key, revision);
      if (event !== undefined) state.set(key, event);
    }
    return state;
  }

  /** The newest revision of a prefix that was written until then; 0 where nothing was. */
  newestOf(prefix: string, untilMs: number): number {
    let newest = 0;
    for (const [key, events] of this.#byKey) {
      if (!key.startsWith(prefix)) continue;
      const last = events.findLast((event) => event.atMs <= untilMs);
      newest = Math.max(newest, last?.revision ?? 0);
    }
    return newest;
  }

  /** The object at a key now, as it rests in the store: without resourceVersion. */
  object<T extends KubeObject>(key: string): T | undefined {
    const event = this.current(key);
    return event === undefined ? undefined : this.decode<T>(event);
  }

  decode<T extends KubeObject>(event: TruthEvent): T | undefined {
    if (event.value === undefined) return undefined;
    const known = this.#decoded.get(event.value);
    if (known !== undefined) return known as T;
    const object = JSON.parse(new TextDecoder().decode(event.value)) as T;
    this.#decoded.set(event.value, object);
    return object;
  }
}
