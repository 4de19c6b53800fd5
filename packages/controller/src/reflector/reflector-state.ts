import { afterFailure, noFailures } from "./backoff.ts";
import type { Backoff } from "./backoff.ts";
import { compareVersions } from "./compare-versions.ts";
import type { Failure } from "./failure.ts";

/**
 * Where a reflector is in following a collection.
 *
 *     empty ----first page----> listing --last page--> watching <--end, broken, busy--+
 *       ^  \--------only page---------------------------^  |   \----------------------+
 *       |                                                  | expired, refused, out of order
 *       +--------------------------------------------------+
 *     streaming --marked bookmark--> watching        (where the initial state comes as a stream)
 *
 * `version` is the one to ask for next: `"0"` (any) at first, later the last one seen, and `""` (the newest) where the
 * server could not serve that one.
 */
export type ReflectorPlace =
  /** Nothing is asked yet. `whole`: without pages, since the history went away between two. */
  | { readonly at: "empty"; readonly version: string; readonly whole: boolean }
  | {
      readonly at: "listing";
      readonly version: string;
      readonly whole: boolean;
      readonly continueToken: string;
      /** Version of the first page: with an inconsistent continuation the later ones may be newer. */
      readonly listVersion: string;
    }
  /** The initial state arrives as ADDED events. */
  | { readonly at: "streaming"; readonly version: string }
  /** `initial`: opened without a version, so that the ADDED events at its start are the state, in no order. */
  | { readonly at: "watching"; readonly version: string; readonly initial: boolean };

/** All that a reflector remembers. A plain value: each step makes the next one. */
export interface ReflectorState {
  readonly place: ReflectorPlace;
  readonly backoff: Backoff;
  /** What must pass before the next request. */
  readonly pause: { readonly failures: number; readonly atLeastMs: number } | undefined;
  /** Whether to ask for the initial state as a stream; false for good once the server has shown that it cannot. */
  readonly streams: boolean;
}

/** What happened. Times are monotonic. */
export type ReflectorInput =
  | { readonly seen: "page"; readonly version: string; readonly continueToken: string; readonly atMs: number }
  | {
      readonly seen: "event";
      readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
      readonly version: string;
      /** The bookmark that ends the initial state of a stream. */
      readonly endsInitial: boolean;
      /** The version of this object in the copy, if it is there. */
      readonly storedVersion: string | undefined;
      readonly atMs: number;
    }
  | { readonly seen: "failure"; readonly failure: Failure; readonly atMs: number }
  /** A watch that was open is over; `failure` is set if the server said why. */
  | {
      readonly seen: "watch end";
      readonly failure: Failure;
      readonly events: number;
      readonly lastedMs: number;
      readonly atMs: number;
    }
  | { readonly seen: "pause over" };

/**
 * What to do with the objects that came with the input: `collect` them beside the copy, `replace` the copy with what was
 * collected, `apply` the event to the copy, `leave` the stream that they came by, or nothing.
 */
export type ReflectorEffect = "collect" | "replace" | "apply" | "leave" | "none";

/** What an input leads to. */
export interface ReflectorStep {
  readonly state: ReflectorState;
  readonly effect: ReflectorEffect;
}

/** A reflector that has done nothing yet. */
export function initialReflectorState(options: { readonly streams: boolean }): ReflectorState {
  const { streams } = options;
  return { place: emptyPlace("0", streams), backoff: noFailures, pause: undefined, streams };
}

/** The next state, and what is to be done with the objects at hand. Pure. */
export function reflectorStep(state: ReflectorState, input: ReflectorInput): ReflectorStep {
  switch (input.seen) {
    case "pause over":
      return unchanged({ ...state, pause: undefined });
    case "page":
      return afterPage(state, input);
    case "event":
      return afterEvent(state, input);
    case "failure":
      return unchanged(
        isWatch(state.place) ? afterWatchFailure(state, input) : afterListFailure(state, input),
      );
    case "watch end":
      return unchanged(afterWatchEnd(state, input));
  }
}

/** Pages are for versions that mean "any" or "the newest"; a limit turns "not older than N" into "exactly N". */
export function isPaged(place: { readonly version: string; readonly whole: boolean }): boolean {
  return !place.whole && (place.version === "" || place.version === "0");
}

type Seen<S extends ReflectorInput["seen"]> = Extract<ReflectorInput, { readonly seen: S }>;

function afterPage(state: ReflectorState, page: Seen<"page">): ReflectorStep {
  const { place } = state;
  if (isWatch(place)) return unchanged(state);
  const listVersion = place.at === "listing" ? place.listVersion : page.version;
  if (page.continueToken === "") {
    const initial = listVersion === "" || listVersion === "0";
    return {
      state: { ...state, place: { at: "watching", version: listVersion, initial } },
      effect: "replace",
    };
  }
  if (place.at === "listing" && place.continueToken === page.continueToken) {
    // A server that hands out the same page for ever: take the list in one piece.
    return unchanged(pausing(state, { at: "empty", version: place.version, whole: true }, page));
  }
  const { version, whole } = place;
  const next = { at: "listing", version, whole, continueToken: page.continueToken, listVersion } as const;
  return { state: { ...state, place: next }, effect: "collect" };
}

function afterEvent(state: ReflectorState, event: Seen<"event">): ReflectorStep {
  const { place } = state;
  if (place.at === "streaming") {
    if (event.type !== "BOOKMARK") return { state, effect: "collect" };
    if (!event.endsInitial) return unchanged(state);
    return { state: moved(state, event.version), effect: "replace" };
  }
  if (place.at !== "watching") return unchanged(state);

  const effect = event.type === "BOOKMARK" ? "none" : "apply";
  // Each object of the initial block has its own old version: resuming from one would skip the others.
  if (place.initial) return { state: event.type === "ADDED" ? state : moved(state, event.version), effect };
  if (event.version === "") return { state, effect };

  const order = compareVersions(event.version, place.version);
  if (order === undefined || order > 0) return { state: moved(state, event.version), effect };
  if (event.type === "BOOKMARK") return order === 0 ? unchanged(state) : outOfOrder(state, event);
  return isKnown(event) ? unchanged(state) : outOfOrder(state, event);
}

/** True for an event of the past whose object the copy already has in this or a newer state. */
function isKnown(event: Seen<"event">): boolean {
  if (event.storedVersion === undefined) return event.type === "DELETED";
  const order = compareVersions(event.storedVersion, event.version);
  return order !== undefined && (order > 0 || (order === 0 && event.type !== "DELETED"));
}

/** The stream went back in time: a confused proxy, or a server that was restored from a backup. Trust nothing. */
function outOfOrder(state: ReflectorState, at: { readonly atMs: number }): ReflectorStep {
  return { state: soon(state, emptyPlace("", state.streams), at), effect: "leave" };
}

function afterListFailure(state: ReflectorState, { failure, atMs }: Seen<"failure">): ReflectorState {
  const place = state.place as Exclude<ReflectorPlace, WatchPlace>;
  const at = { atMs, ...retryAfter(failure) };
  switch (failure.kind) {
    case "expired":
      // The pages outlived the history: once more without pages, and then from the newest version.
      if (place.at === "listing" && !place.whole)
        return { ...state, place: { ...listAt(place.version), whole: true } };
      return place.version === "" ? pausing(state, listAt(""), at) : { ...state, place: listAt("") };
    case "too large":
      return place.version === "" ? pausing(state, listAt(""), at) : { ...state, place: listAt("") };
    case "busy":
    case "unreachable":
      return pausing(state, place, at);
    case "refused":
      return pausing(state, listAt(""), at);
    case "ended":
    case "other":
      return pausing(state, { ...listAt(place.version), whole: place.whole }, at);
  }
}

function afterWatchFailure(state: ReflectorState, { failure, atMs }: Seen<"failure">): ReflectorState {
  const { place } = state;
  const { version } = place;
  const at = { atMs, ...retryAfter(failure) };
  if (failure.kind === "busy" || failure.kind === "unreachable") return pausing(state, place, at);
  if (place.at === "streaming") {
    // The classic list does what the stream could not. Whoever refuses the form refuses it for good.
    const streams = failure.kind !== "refused" && state.streams;
    return { ...state, streams, place: listAt(version === "" ? "0" : version) };
  }
  switch (failure.kind) {
    case "expired":
      return soon(state, emptyPlace(version, state.streams), at);
    case "too large":
      return soon(state, emptyPlace("", state.streams), at);
    case "ended":
    case "refused":
    case "other":
      return pausing(state, emptyPlace(version, state.streams), at);
  }
}

/** A watch that lasted less cannot be told from a server that ends each at once. */
const shortWatchMs = 1000;
/** A watch that lasted so long went well: what goes wrong after it does not follow what went wrong before it. */
const steadyWatchMs = 10_000;

function afterWatchEnd(before: ReflectorState, end: Seen<"watch end">): ReflectorState {
  const state = end.lastedMs < steadyWatchMs ? before : { ...before, backoff: noFailures };
  if (end.failure.kind !== "ended")
    return afterWatchFailure(state, { seen: "failure", failure: end.failure, atMs: end.atMs });
  const { place } = state;
  // Opened, and over before its marked bookmark: such a server may never send one.
  if (place.at === "streaming")
    return { ...state, streams: false, place: listAt(place.version === "" ? "0" : place.version) };
  if (end.lastedMs >= shortWatchMs) return state;
  return end.events === 0
    ? pausing(state, emptyPlace(place.version, state.streams), end)
    : soon(state, place, end);
}

interface FailedAt {
  readonly atMs: number;
  readonly retryAfterMs?: number;
}

/** Goes to `place` after a wait. */
function pausing(state: ReflectorState, place: ReflectorPlace, at: FailedAt): ReflectorState {
  const backoff = afterFailure(state.backoff, at.atMs);
  return { ...state, place, backoff, pause: { failures: backoff.failures, atLeastMs: at.retryAfterMs ?? 0 } };
}

/** Goes to `place` at once where nothing failed lately, else after a wait: for what is no fault of the server's. */
function soon(state: ReflectorState, place: ReflectorPlace, at: FailedAt): ReflectorState {
  const next = pausing(state, place, at);
  if (next.backoff.failures > 1 || at.retryAfterMs !== undefined) return next;
  return { ...next, pause: undefined };
}

/** The collection is to be taken anew: as a stream, or as a list. */
function emptyPlace(version: string, streams: boolean): ReflectorPlace {
  return streams ? { at: "streaming", version: version === "0" ? "" : version } : listAt(version);
}

const listAt = (version: string): Extract<ReflectorPlace, { readonly at: "empty" }> => ({
  at: "empty",
  version,
  whole: false,
});

/** The copy is complete up to `version`. Without one, as some aggregated servers have it, the next watch starts anew. */
const moved = (state: ReflectorState, version: string): ReflectorState => ({
  ...state,
  place: { at: "watching", version, initial: version === "" || version === "0" },
});

const retryAfter = ({ retryAfterMs }: Failure): { readonly retryAfterMs?: number } =>
  retryAfterMs === undefined ? {} : { retryAfterMs };

type WatchPlace = Extract<ReflectorPlace, { readonly at: "streaming" | "watching" }>;
const isWatch = (place: ReflectorPlace): place is WatchPlace =>
  place.at === "streaming" || place.at === "watching";
const unchanged = (state: ReflectorState): ReflectorStep => ({ state, effect: "none" });
