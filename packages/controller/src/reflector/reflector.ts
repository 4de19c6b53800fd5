import { StatusError, objectKey } from "@meridian/kube";
import type { KubeObject, ResourceType } from "@meridian/kube";
import type { Clock, Logger, Random } from "@meridian/runtime";
import type { KubeClient } from "../client/kube-client.ts";
import type { WatchEvent, WatchStream } from "../client/requests.ts";
import { describeTarget } from "../client/resource-path.ts";
import { ControllerError } from "../controller-error.ts";
import { deadlineSignal } from "../deadline-signal.ts";
import { backoffMs } from "./backoff.ts";
import { failureOf } from "./failure.ts";
import { initialReflectorState, isPaged, reflectorStep } from "./reflector-state.ts";
import type { ReflectorEffect, ReflectorInput, ReflectorPlace, ReflectorState } from "./reflector-state.ts";

/** The copy that a reflector keeps. All calls are synchronous, and none may throw. */
export interface ReflectorTarget<T extends KubeObject> {
  /** The collection is exactly this. */
  replace(objects: ReadonlyMap<string, T>): void;
  apply(type: "ADDED" | "MODIFIED" | "DELETED", object: T): void;
  /** The version of an object in the copy. */
  versionOf(key: string): string | undefined;
}

/** What to follow. */
export interface ReflectorOptions<T extends KubeObject> {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly type: ResourceType;
  readonly target: ReflectorTarget<T>;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly pageSize: number;
  readonly watchList: boolean;
}

/** What a reflector has seen. */
export interface ReflectorCounts {
  /** Times that the whole collection was taken, as a list or as a stream. */
  readonly replaces: number;
  /** Watches that the server has opened. */
  readonly watches: number;
  /** Times that the history was gone when it was needed. */
  readonly expired: number;
  readonly events: number;
  readonly bookmarks: number;
  /** Failures of any kind, each followed by another attempt. */
  readonly failures: number;
}

/** A server that takes the initial state as a stream and then says nothing for so long never will. */
const silentStreamMs = 10_000;

/**
 * Lists a collection, follows its changes, and does so again whenever the stream breaks or the history is gone. What to
 * do next is decided by `reflectorStep`; this class does it. No failure ends it, only the signal does.
 */
export class Reflector<T extends KubeObject> {
  readonly #clock: Pick<Clock, "monotonicMs" | "after" | "sleep">;
  readonly #random: Pick<Random, "float">;
  readonly #log: Logger;
  readonly #options: ReflectorOptions<T>;
  readonly #selection: {
    readonly namespace?: string;
    readonly labelSelector?: string;
    readonly fieldSelector?: string;
  };
  #state: ReflectorState;
  /** Objects on their way into the copy: pages of a list, or the start of a stream. */
  #collected = new Map<string, T>();
  #connected = false;
  #version = "";
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #counts = { replaces: 0, watches: 0, expired: 0, events: 0, bookmarks: 0, failures: 0 };

  constructor(
    runtime: {
      readonly clock: Pick<Clock, "monotonicMs" | "after" | "sleep">;
      readonly random: Pick<Random, "float">;
      readonly log: Logger;
    },
    options: ReflectorOptions<T>,
  ) {
    const { namespace, labelSelector, fieldSelector } = options;
    this.#clock = runtime.clock;
    this.#random = runtime.random;
    this.#log = runtime.log.child({ reflector: describeTarget(options.type, { namespace }) });
    this.#options = options;
    this.#selection = {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
    this.#state = initialReflectorState({ streams: options.watchList });
  }

  /** Whether a watch is open. */
  get connected(): boolean {
    return this.#connected;
  }

  /** What the copy is complete up to; empty before the first time. */
  get version(): string {
    return this.#version;
  }

  get counts(): ReflectorCounts {
    return this.#counts;
  }

  /** Milliseconds since the server last said anything about the collection. */
  silentMs(): number {
    return this.#clock.monotonicMs() - this.#heardAtMs;
  }

  /** Follows until the signal aborts, then resolves. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        if (this.#state.pause !== undefined) await this.#pause(this.#state.pause, signal);
        else if (this.#state.place.at === "empty" || this.#state.place.at === "listing") {
          await this.#list(this.#state.place, signal);
        } else await this.#watch(this.#state.place, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#connected = false;
    }
  }

  async #pause(
    pause: { readonly failures: number; readonly atLeastMs: number },
    signal: AbortSignal,
  ): Promise<void> {
    const waitMs = Math.max(backoffMs(pause.failures, this.#random.float()), pause.atLeastMs);
    await this.#clock.sleep(waitMs, signal);
    this.#step({ seen: "pause over" });
  }

  async #list(
    place: Extract<ReflectorPlace, { readonly at: "empty" | "listing" }>,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, type, pageSize } = this.#options;
    if (place.at === "empty") this.#collected = new Map();
    try {
      const page = await client.list<T>(type, {
        ...this.#selection,
        signal,
        ...(isPaged(place) ? { limit: pageSize } : {}),
        // The continuation carries the version itself; both together are refused.
        ...(place.at === "listing"
          ? { continueToken: place.continueToken }
          : place.version === ""
            ? {}
            : { resourceVersion: place.version }),
      });
      for (const item of page.items) this.#collected.set(objectKey(item.metadata), item);
      const { resourceVersion: version = "", continue: continueToken = "" } = page.metadata;
      this.#heard();
      this.#step({ seen: "page", version, continueToken, atMs: this.#clock.monotonicMs() });
    } catch (error) {
      if (signal.aborted) throw error;
      this.#failed("list failed", error, {
        seen: "failure",
        failure: failureOf(error),
        atMs: this.#clock.monotonicMs(),
      });
    }
  }

  async #watch(
    place: Extract<ReflectorPlace, { readonly at: "streaming" | "watching" }>,
    signal: AbortSignal,
  ): Promise<void> {
    this.#collected = new Map();
    const { client, type } = this.#options;
    using bounds = deadlineSignal(this.#clock, { signal });
    let stream: WatchStream<T>;
    try {
      stream = await client.watch<T>(type, {
        ...this.#selection,
        signal: bounds.signal,
        timeoutSeconds: 300 + Math.floor(this.#random.float() * 301),
        ...(place.version === "" ? {} : { resourceVersion: place.version }),
        ...(place.at === "streaming"
          ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" as const }
          : {}),
      });
    } catch (error) {
      if (signal.aborted) throw error;
      this.#failed("watch failed", error, {
        seen: "failure",
        failure: failureOf(error),
        atMs: this.#clock.monotonicMs(),
      });
      return;
    }

    const openedAtMs = this.#heard();
    this.#counts.watches++;
    this.#connected = true;
    const eventsBefore = this.#counts.events + this.#counts.bookmarks;
    let ending: unknown;
    try {
      if ((await this.#follow(stream, (reason) => bounds.abort(reason))) === "left") return;
    } catch (error) {
      if (signal.aborted) throw error;
      ending = error;
    } finally {
      this.#connected = false;
      stream.close();
    }
    const atMs = this.#clock.monotonicMs();
    const events = this.#counts.events + this.#counts.bookmarks - eventsBefore;
    const failure = ending === undefined ? ({ kind: "ended" } as const) : failureOf(ending, { opened: true });
    const input = { seen: "watch end", failure, events, lastedMs: atMs - openedAtMs, atMs } as const;
    if (ending !== undefined) return this.#failed("watch broken", ending, input);
    this.#step(input);
    if (this.#state.pause === undefined) return;
    this.#counts.failures++;
    this.#log.warn("watch ended at once", { lastedMs: input.lastedMs, events, version: place.version });
  }

  /** Takes events until the stream ends or the machine leaves it. @throws what the stream throws, or its ERROR event. */
  async #follow(stream: WatchStream<T>, abort: (reason: unknown) => void): Promise<"ended" | "left"> {
    let cancelSilence = this.#expectEvents(abort);
    try {
      for await (const event of stream) {
        cancelSilence();
        this.#heard();
        if (event.type === "ERROR") throw new StatusError(event.object);
        if (this.#take(event) === "leave") return "left";
        cancelSilence = this.#expectEvents(abort);
      }
      return "ended";
    } finally {
      cancelSilence();
    }
  }

  /** While the initial state comes as a stream, silence is a failure; in a watch it is normal. */
  #expectEvents(abort: (reason: unknown) => void): () => void {
    if (this.#state.place.at !== "streaming") return noop;
    return this.#clock.after(silentStreamMs, () =>
      abort(
        new ControllerError(
          "DeadlineExceeded",
          `the initial state was not completed: ${silentStreamMs} ms without an event`,
        ),
      ),
    );
  }

  #take(event: Exclude<WatchEvent<T>, { readonly type: "ERROR" }>): ReflectorEffect {
    const { type, object } = event;
    if (object.kind !== this.#options.type.kind) {
      this.#log.debug("event of another kind skipped", { kind: object.kind });
      return "none";
    }
    const key = objectKey(object.metadata);
    const bookmark = type === "BOOKMARK";
    const effect = this.#step({
      seen: "event",
      type,
      version: object.metadata.resourceVersion ?? "",
      endsInitial: bookmark && object.metadata.annotations?.["k8s.io/initial-events-end"] === "true",
      storedVersion: bookmark ? undefined : this.#options.target.versionOf(key),
      atMs: this.#clock.monotonicMs(),
    });
    this.#counts[bookmark ? "bookmarks" : "events"]++;
    if (bookmark) return effect;
    if (effect === "apply") this.#options.target.apply(type, object);
    else if (effect === "collect" && type === "DELETED") this.#collected.delete(key);
    else if (effect === "collect") this.#collected.set(key, object);
    return effect;
  }

  /** Takes one step of the machine. Replacing the copy happens here, since both pages and bookmarks lead to it. */
  #step(input: ReflectorInput): ReflectorEffect {
    const { state, effect } = reflectorStep(this.#state, input);
    this.#state = state;
    if (effect === "replace") {
      const collected = this.#collected;
      this.#collected = new Map();
      this.#counts.replaces++;
      this.#version = state.place.version;
      this.#options.target.replace(collected);
    } else if (state.place.at === "watching" && !state.place.initial) {
      this.#version = state.place.version;
    }
    return effect;
  }

  #failed(
    message: string,
    error: unknown,
    input: Extract<ReflectorInput, { readonly failure: unknown }>,
  ): void {
    this.#counts.failures++;
    if (input.failure.kind === "expired") this.#counts.expired++;
    this.#step(input);
    const { place, pause } = this.#state;
    // A watch that ends in its middle is resumed without a gap: nobody needs to know of it.
    const level = pause === undefined ? "debug" : "warn";
    this.#log[level](message, { error, failure: input.failure.kind, next: place.at, version: place.version });
  }

  #heard(): number {
    this.#heardAtMs = this.#clock.monotonicMs();
    return this.#heardAtMs;
  }
}

const noop = (): void => {};
