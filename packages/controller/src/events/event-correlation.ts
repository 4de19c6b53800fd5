import { formatMicroTime, utf8Length } from "@meridian/kube";
import type { EventSeries, KubeObject, ObjectReference, SeriesEvent } from "@meridian/kube";

/** What to tell the user about an object. */
export interface EventNote {
  readonly type: "Normal" | "Warning";
  /** CamelCase, one word per cause. */
  readonly reason: string;
  /** What was done or tried, CamelCase. Default `Reconcile`. */
  readonly action?: string;
  /** A sentence; cut at 1024 bytes. */
  readonly message: string;
}

/** A note, about whom, and when: by the wall clock, for people. */
export interface TimedNote extends EventNote {
  readonly about: ObjectReference;
  readonly atMs: number;
}

/** Who reports. */
export interface EventSource {
  readonly component: string;
  readonly instance: string;
}

/** What is to be written. */
export type EventWrite =
  | { readonly verb: "create"; readonly event: SeriesEvent }
  | {
      readonly verb: "patch";
      readonly ref: { readonly namespace: string; readonly name: string };
      readonly body: { readonly series: EventSeries };
    };

/** The same note again and again: one Event, with the number of times. */
interface Series {
  event: SeriesEvent;
  count: number;
  /** By the wall clock. */
  lastAtMs: number;
  /** The same moment by the clock that only rises, as all that follows. */
  lastSeenMs: number;
  /** How many times the server knows of; 0: the Event is not there. */
  written: number;
  /** When the next write may follow. */
  dueAtMs: number;
  /** The wait after the next write. */
  gapMs: number;
}

/** Different messages of one reason about one object within `similarWithinMs`, before they are written as one event. */
const similarMessagesMax = 10;
const similarWithinMs = 600_000;
/** New Events about one object: a burst, and then one per `tokenEveryMs`. */
const burst = 25;
const tokenEveryMs = 300_000;
/** What did not happen for so long begins anew when it happens again. */
const seriesEndsAfterMs = 360_000;
/** The second time is written at once, then the number of times at growing intervals, so that it costs little. */
const gapMsFirst = 10_000;
const gapMsMax = seriesEndsAfterMs;
/** Remembered events, reasons and objects each; the least recently used is forgotten. */
const memoryMax = 4096;
/** Events that wait to be written. */
const dirtyMax = 1000;
/** An event's name is an object name (253) with a suffix. */
const objectNameMax = 230;
const messageBytesMax = 1024;

/**
 * Decides what notes become: the same note again is a series of one Event, many similar ones become one, and an object that
 * talks too much is not listened to. Remembers a bounded past; does no I/O.
 */
export class EventCorrelator {
  readonly #source: EventSource;
  readonly #suffix: () => string;
  readonly #buckets = new Map<string, { readonly tokens: number; readonly atMs: number }>();
  readonly #similar = new Map<string, { readonly messages: ReadonlySet<string>; readonly atMs: number }>();
  readonly #series = new Map<string, Series>();
  /** Series of which the server does not know all yet, in the order in which they became so. */
  readonly #dirty = new Set<Series>();

  /** `suffix` makes the hexadecimal end of an event's name, different each time. */
  constructor(source: EventSource, suffix: () => string) {
    this.#source = source;
    this.#suffix = suffix;
  }

  /** Takes a note at `nowMs`; false where it is dropped, since the object talks too much or too much waits to be written. */
  add(note: TimedNote, nowMs: number): boolean {
    const { about, atMs } = note;
    const object = keyOf([about.apiVersion, about.kind, about.namespace, about.name, about.uid]);
    const group = keyOf([object, note.type, note.reason, note.action]);
    const isMany = this.#areMany(group, note.message, nowMs);
    const key = isMany ? group : keyOf([group, note.message]);

    const present = this.#series.get(key);
    if (present !== undefined && nowMs - present.lastSeenMs <= seriesEndsAfterMs) {
      present.count++;
      present.lastAtMs = atMs;
      present.lastSeenMs = nowMs;
      remember(this.#series, key, present);
      this.#dirty.add(present);
      return true;
    }
    if (this.#dirty.size >= dirtyMax || !this.#takeToken(object, nowMs)) return false;
    const text = isMany ? `(combined from similar events): ${note.message}` : note.message;
    const series: Series = {
      event: this.#newEvent(note, text),
      count: 1,
      lastAtMs: atMs,
      lastSeenMs: nowMs,
      written: 0,
      dueAtMs: nowMs,
      gapMs: 0,
    };
    remember(this.#series, key, series);
    this.#dirty.add(series);
    return true;
  }

  /** Events that wait to be written. */
  get waiting(): number {
    return this.#dirty.size;
  }

  /** When the next write is due; undefined if there is none. */
  get dueAtMs(): number | undefined {
    let first: number | undefined;
    for (const { dueAtMs } of this.#dirty) first = first === undefined ? dueAtMs : Math.min(first, dueAtMs);
    return first;
  }

  /** The write that is due longest, and what to do when it has ended; undefined if none is due by `nowMs`. */
  next(nowMs: number): PendingWrite | undefined {
    for (const series of this.#dirty) if (series.dueAtMs <= nowMs) return this.#pending(series, nowMs);
    return undefined;
  }

  #pending(series: Series, nowMs: number): PendingWrite {
    const { event, count, lastAtMs } = series;
    const { name = "", namespace = "" } = event.metadata;
    const observed = { count, lastObservedTime: formatMicroTime(lastAtMs) };
    const isNew = series.written === 0;
    return {
      about: event,
      write: isNew
        ? { verb: "create", event: count === 1 ? event : { ...event, series: observed } }
        : { verb: "patch", ref: { namespace, name }, body: { series: observed } },
      onWritten: () => {
        series.written = count;
        series.dueAtMs = nowMs + series.gapMs;
        series.gapMs = Math.min(Math.max(gapMsFirst, series.gapMs * 2), gapMsMax);
        if (series.count === count) this.#dirty.delete(series);
      },
      onForgotten: () => {
        series.written = 0;
        const renamed = this.#nameFor(event.regarding?.name ?? "");
        series.event = { ...event, metadata: { ...event.metadata, name: renamed } };
      },
      onDropped: () => {
        series.count = series.written;
        this.#dirty.delete(series);
        if (isNew) for (const [key, each] of this.#series) if (each === series) this.#series.delete(key);
      },
    };
  }

  #takeToken(object: string, atMs: number): boolean {
    const bucket = this.#buckets.get(object) ?? { tokens: burst, atMs };
    const tokens = Math.min(burst, bucket.tokens + (atMs - bucket.atMs) / tokenEveryMs);
    const enough = tokens >= 1;
    remember(this.#buckets, object, { tokens: enough ? tokens - 1 : tokens, atMs });
    return enough;
  }

  #areMany(group: string, message: string, atMs: number): boolean {
    const before = this.#similar.get(group);
    const fresh = before === undefined || atMs - before.atMs > similarWithinMs ? [] : before.messages;
    const messages = new Set(fresh);
    // A message that has an Event of its own stays with it, as long as there is room to remember it.
    if (messages.has(message)) {
      remember(this.#similar, group, { messages, atMs });
      return false;
    }
    const isMany = messages.size >= similarMessagesMax;
    if (!isMany) messages.add(message);
    remember(this.#similar, group, { messages, atMs });
    return isMany;
  }

  #newEvent(note: TimedNote, text: string): SeriesEvent {
    const { component, instance } = this.#source;
    const { about } = note;
    return {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: {
        name: this.#nameFor(about.name ?? ""),
        // Events of cluster-scoped objects live in `default`, as everywhere.
        namespace: about.namespace === undefined || about.namespace === "" ? "default" : about.namespace,
      },
      eventTime: formatMicroTime(note.atMs),
      type: note.type,
      reason: note.reason,
      action: note.action ?? "Reconcile",
      note: cut(text),
      regarding: about,
      reportingController: component,
      reportingInstance: instance,
    };
  }

  #nameFor(objectName: string): string {
    return `${objectName.slice(0, objectNameMax).replace(/[^a-z0-9]+$/, "")}.${this.#suffix()}`;
  }
}

/** A write to be made, and what to call then: exactly one of the three. */
export interface PendingWrite {
  /** The Event, for whoever reports a failure. */
  readonly about: SeriesEvent;
  readonly write: EventWrite;
  readonly onWritten: () => void;
  /** The server has forgotten the Event: it is made anew, under another name. */
  readonly onForgotten: () => void;
  /** It cannot be written. */
  readonly onDropped: () => void;
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

/** As much of a text as the server takes, which counts bytes; no character is cut in two. */
function cut(text: string): string {
  if (utf8Length(text) <= messageBytesMax) return text;
  const ellipsis = "…";
  let bytes = utf8Length(ellipsis);
  let kept = "";
  for (const character of text) {
    bytes += utf8Length(character);
    if (bytes > messageBytesMax) break;
    kept += character;
  }
  return kept + ellipsis;
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
