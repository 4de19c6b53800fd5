import type { KubeObject } from "@meridian/kube";

/** How one object of the copy has changed. */
export interface Change<T extends KubeObject> {
  readonly key: string;
  /** Absent: it was not there. */
  readonly before: T | undefined;
  /** Absent: it is gone. */
  readonly after: T | undefined;
  /** The last state of a deleted object, where the deletion itself was seen. */
  readonly final?: T | undefined;
}

/** What a handler has still to be told about one object. Later changes are merged into it. */
export interface Pending<T extends KubeObject> {
  /** What the handler knows. */
  readonly before: T | undefined;
  /** How it is now. */
  readonly after: T | undefined;
  readonly final: T | undefined;
  readonly initial: boolean;
  readonly resync: boolean;
}

/** One call of a handler. */
export type Call<T extends KubeObject> =
  | { readonly event: "add"; readonly object: T; readonly initial: boolean }
  | { readonly event: "update"; readonly old: T; readonly object: T; readonly resync: boolean }
  | { readonly event: "delete"; readonly object: T; readonly missed: boolean };

/** What is pending after one more change: the handler still knows what it knew before the first of them. */
export function mergeChange<T extends KubeObject>(
  pending: Pending<T> | undefined,
  change: Omit<Change<T>, "key">,
): Pending<T> {
  return {
    before: pending === undefined ? change.before : pending.before,
    after: change.after,
    final: change.final ?? pending?.final,
    initial: pending?.initial ?? false,
    resync: false,
  };
}

/**
 * The calls that take a handler from what it knows to what is. An object of the same name with another uid is another
 * object: the one goes and the other comes, also where nobody saw the moment between.
 */
export function callsOf<T extends KubeObject>(pending: Pending<T>): readonly Call<T>[] {
  const { before, after, final, initial, resync } = pending;
  const gone = (object: T): Call<T> => ({
    event: "delete",
    object: final ?? object,
    missed: final === undefined,
  });
  if (before === undefined) return after === undefined ? [] : [{ event: "add", object: after, initial }];
  if (after === undefined) return [gone(before)];
  if (before.metadata.uid !== after.metadata.uid)
    return [gone(before), { event: "add", object: after, initial: false }];
  if (before === after && !resync) return [];
  return [{ event: "update", old: before, object: after, resync }];
}
