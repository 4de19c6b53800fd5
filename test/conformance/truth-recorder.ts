import type { Storage } from "@meridian/apiserver";

/** One change of a ConfigMap, as the store told it. */
export interface RecordedChange {
  readonly version: number;
  readonly name: string;
  /** Absent: deleted. */
  readonly object: RecordedObject | undefined;
}

export interface RecordedObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
}

const prefix = "/registry/core/configmaps/default/";

/**
 * Notes every change of the ConfigMaps in `default` from beside the API server, over all its restarts. It sits in the
 * server's process, so it has a change before any client across a network can.
 */
export class TruthRecorder {
  readonly changes: RecordedChange[] = [];
  #progress: number | undefined;

  /** Follows one opened store until the signal aborts or its process ends; the next one is followed without a gap. */
  async follow(storage: Storage, signal: AbortSignal): Promise<void> {
    const start = storage.revision();
    const after = (this.#progress ?? start) as typeof start;
    // The whole store is followed, so that no compaction of what others wrote gets ahead of this.
    for await (const batch of storage.watch({ prefix: "", after, signal })) {
      for (const event of batch.events) this.#note(event);
      this.#progress = Math.max(this.#progress ?? 0, batch.progress);
    }
  }

  /** The states of all objects at a version: `name uid@version data`, sorted. */
  stateAt(version: number, selects: (object: RecordedObject) => boolean): string {
    const state = new Map<string, string>();
    for (const change of this.changes) {
      if (change.version > version) break;
      if (change.object === undefined || !selects(change.object)) state.delete(change.name);
      else state.set(change.name, stateText(change.object, change.version));
    }
    return [...state.values()].sort().join("\n");
  }

  #note(event: RecordedEvent): void {
    const key = event.type === "put" ? event.record.key : event.key;
    if (!key.startsWith(prefix)) return;
    const name = key.slice(prefix.length);
    const object =
      event.type === "put"
        ? (JSON.parse(new TextDecoder().decode(event.record.value)) as RecordedObject)
        : undefined;
    const last = this.changes.at(-1);
    if (last !== undefined && event.revision <= last.version) {
      throw new Error(`the store told revision ${event.revision} after ${last.version}`);
    }
    this.changes.push({ version: event.revision, name, object });
  }
}

type RecordedEvent =
  ReturnType<Storage["watch"]> extends AsyncIterable<infer Batch>
    ? Batch extends { readonly events: readonly (infer Event)[] }
      ? Event
      : never
    : never;

/** What of an object must be equal in the truth and in a copy. */
export function stateText(object: RecordedObject, version: number | string | undefined): string {
  const { name, uid, labels } = object.metadata;
  const sorted = (map: Readonly<Record<string, string>> = {}): string =>
    JSON.stringify(Object.entries(map).sort());
  return `${name} ${uid}@${version} ${sorted(labels)} ${sorted(object.data)}`;
}
