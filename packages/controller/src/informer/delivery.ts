import type { RawObject } from "./raw-object.ts";

/** How one object of the copy has changed. */
export interface Change<T> {
  readonly key: string;
  /** Absent: it was not there. */
  readonly before: RawObject<T> | undefined;
  /** Absent: it is gone. */
  readonly after: RawObject<T> | undefined;
  /** The last state of a deleted object, where the deletion itself was seen. */
  readonly final?: RawObject<T> | undefined;
}

/** What a handler has still to be told about one object. Later changes are merged into it. */
export interface Pending<T> {
  /** What the handler knows. */
  readonly before: RawObject<T> | undefined;
  /** How it is now. */
  readonly after: RawObject<T> | undefined;
  readonly final: RawObject<T> | undefined;
  readonly initial: boolean;
  readonly resync: boolean;
}

/** One call of a handler. */
export type Call<T> =
  | { readonly event: "add"; readonly object: RawObject<T>; readonly initial: boolean }
  | {
      readonly event: "update";
      readonly old: RawObject<T>;
      readonly object: RawObject<T>;
      readonly resync: boolean;
    }
  | { readonly event: "delete"; readonly object: RawObject<T>; readonly missed: boolean };

/** What is pending after one more change: the handler still knows what it knew before the first of them. */
export function mergeChange<T>(pending: Pending<T> | undefined, change: Omit<Change<T>, "key">): Pending<T> {
  return {
    before: pending === undefined ? change.before : pending.before,
    after: change.after,
    // The first deletion is that of the object that the handler knows; those after it are of its successors.
    final: pending?.final ?? change.final,
    initial: pending?.initial ?? false,
    resync: false,
  };
}

/**
 * The calls that take a handler from what it knows to what is. An object of the same name with another uid is another
 * object: the one goes and the other comes, also where nobody saw the moment between.
 */
export function callsOf<T>(pending: Pending<T>): readonly Call<T>[] {
  const { before, after, final, initial, resync } = pending;
  if (before === undefined) return after === undefined ? [] : [{ event: "add", object: after, initial }];
  if (after === undefined) return [gone(before, final)];
  if (before === after) return resync ? [{ event: "update", old: before, object: after, resync }] : [];
  if (!before.hasUidOf(after)) return [gone(before, final), { event: "add", object: after, initial: false }];
  return [{ event: "update", old: before, object: after, resync }];
}

/** The end of the object that the handler knows; that of a successor, which came and went meanwhile, is none of its affair. */
function gone<T>(before: RawObject<T>, final: RawObject<T> | undefined): Call<T> {
  return final !== undefined && before.hasUidOf(final)
    ? { event: "delete", object: final, missed: false }
    : { event: "delete", object: before, missed: true };
}

/** What a handler knows after one of these calls. */
export function knownAfter<T>(call: Call<T>): RawObject<T> | undefined {
  return call.event === "delete" ? undefined : call.object;
}
