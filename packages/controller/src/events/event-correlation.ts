import { formatTime } from "@meridian/kube";
import type { Event, KubeObject, ObjectReference } from "@meridian/kube";

/** What to tell the user about an object. */
export interface EventNote {
  readonly type: "Normal" | "Warning";
  /** CamelCase, one word per cause. */
  readonly reason: string;
  /** What was done or tried, CamelCase. Default `Reconcile`. */
  readonly action?: string;
  /** A sentence; cut at 1024 characters. */
  readonly message: string;
}

/** A note, about whom, and when. */
export interface TimedNote extends EventNote {
  readonly about: ObjectReference;
  readonly atMs: number;
}

/** Who reports. */
export interface EventSource {
  readonly component: string;
  readonly instance: string;
}

/** What is to be written for a note; `undefined`: nothing, the object talks too much. */
export type EventWrite =
  | { readonly verb: "create"; readonly event: Event }
  | {
      readonly verb: "patch";
      readonly ref: { readonly namespace: string; readonly name: string };
      readonly body: { readonly count: number; readonly lastTimestamp: string; readonly message: string };
      /** What to create where the server has forgotten the event. */
      readonly event: Event;
    };

/** Different messages of one reason about one object within `similarWithinMs`, before they are written as one event. */
const similarMessagesMax = 10;
const similarWithinMs = 600_000;
/** Notes about one object: a burst, and then one per `tokenEveryMs`. */
const burst = 25;
const tokenEveryMs = 300_000;
/** Remembered events, reasons and objects each; the least recently used is forgotten. */
const memoryMax = 4096;
/** An event's name is an object name (253) with a suffix. */
const objectNameMax = 230;
const messageMax = 1024;

/**
 * Decides what notes become, as client-go's recorder does: the same note again counts up its event, many similar ones
 * become one, and an object that talks too much is not listened to. Remembers a bounded past; does no I/O.
 */
export class EventCorrelator {
  readonly #source: EventSource;
  readonly #suffix: () => string;
  readonly #buckets = new Map<string, { readonly tokens: number; readonly atMs: number }>();
  readonly #similar = new Map<string, { readonly messages: ReadonlySet<string>; readonly atMs: number }>();
  readonly #written = new Map<string, Event>();

  /** `suffix` makes the hexadecimal end of an event's name, different each time. */
  constructor(source: EventSource, suffix: () => string) {
    this.#source = source;
    this.#suffix = suffix;
  }

  correlate(note: TimedNote): EventWrite | undefined {
    const object = keyOf([note.about.kind, note.about.namespace, note.about.name, note.about.uid]);
    if (!this.#takeToken(object, note.atMs)) return undefined;

    const group = keyOf([object, note.type, note.reason]);
    const many = this.#areMany(group, note);
    const text = many ? `(combined from similar events): ${note.message}` : note.message;
    const message = text.length > messageMax ? `${text.slice(0, messageMax - 1)}…` : text;
    const key = many ? group : keyOf([group, message]);

    const before = this.#written.get(key);
    const event =
      before === undefined ? this.#newEvent(note, message) : counted(before, { ...note, message });
    remember(this.#written, key, event);
    if (before === undefined) return { verb: "create", event };
    const { name = "", namespace = "" } = before.metadata;
    const { count = 1, lastTimestamp } = event;
    return {
      verb: "patch",
      ref: { namespace, name },
      body: { count, lastTimestamp: lastTimestamp ?? "", message },
      event,
    };
  }

  /** The same event under a new name, for a server that has forgotten it. Later counts go to the new one. */
  renamed(event: Event): Event {
    const renamed = {
      ...event,
      metadata: { ...event.metadata, name: this.#nameFor(event.involvedObject.name ?? "") },
    };
    for (const [key, written] of this.#written) {
      if (written.metadata.name === event.metadata.name) this.#written.set(key, renamed);
    }
    return renamed;
  }

  #takeToken(object: string, atMs: number): boolean {
    const bucket = this.#buckets.get(object) ?? { tokens: burst, atMs };
    const tokens = Math.min(burst, bucket.tokens + (atMs - bucket.atMs) / tokenEveryMs);
    const enough = tokens >= 1;
    remember(this.#buckets, object, { tokens: enough ? tokens - 1 : tokens, atMs });
    return enough;
  }

  #areMany(group: string, { message, atMs }: TimedNote): boolean {
    const before = this.#similar.get(group);
    const fresh = before === undefined || atMs - before.atMs > similarWithinMs ? [] : before.messages;
    const messages = new Set(fresh);
    // One more than the limit is enough to know; the set never grows beyond.
    if (messages.size <= similarMessagesMax) messages.add(message);
    remember(this.#similar, group, { messages, atMs });
    return messages.size > similarMessagesMax;
  }

  #newEvent(note: TimedNote, message: string): Event {
    const { component, instance } = this.#source;
    const at = formatTime(note.atMs);
    const { about } = note;
    return {
      apiVersion: "v1",
      kind: "Event",
      metadata: {
        name: this.#nameFor(about.name ?? ""),
        // Events of cluster-scoped objects live in `default`, as everywhere.
        namespace: about.namespace === undefined || about.namespace === "" ? "default" : about.namespace,
      },
      involvedObject: about,
      type: note.type,
      reason: note.reason,
      message,
      count: 1,
      firstTimestamp: at,
      lastTimestamp: at,
      source: { component, ...(instance === "" ? {} : { host: instance }) },
      reportingComponent: component,
      reportingInstance: instance,
    };
  }

  #nameFor(objectName: string): string {
    return `${objectName.slice(0, objectNameMax).replace(/[^a-z0-9]+$/, "")}.${this.#suffix()}`;
  }
}

/** How an event names an object. */
export function referenceTo(object: KubeObject): ObjectReference {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

function counted(event: Event, note: { readonly message: string; readonly atMs: number }): Event {
  return {
    ...event,
    message: note.message,
    count: (event.count ?? 1) + 1,
    lastTimestamp: formatTime(note.atMs),
  };
}

/** Puts an entry at the young end of a map that forgets its oldest. */
function remember<V>(memory: Map<string, V>, key: string, value: V): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size <= memoryMax) return;
  for (const oldest of memory.keys()) {
    memory.delete(oldest);
    return;
  }
}

const keyOf = (parts: readonly (string | undefined)[]): string => JSON.stringify(parts);
