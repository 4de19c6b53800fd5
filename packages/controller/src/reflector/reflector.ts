import { StatusError } from "@meridian/kube";
import type { KubeObject } from "@meridian/kube";
import type { Clock, Logger, Random } from "@meridian/runtime";
import type { ObjectReading } from "../client/object-reading.ts";
import { describeTarget } from "../client/resource-path.ts";
import { expectSpeech } from "../client/silence.ts";
import type { Silence } from "../client/silence.ts";
import type { RawWatch } from "../client/watch-stream.ts";
import { ControllerError } from "../controller-error.ts";
import { deadlineSignal } from "../deadline-signal.ts";
import { backoffMs } from "./backoff.ts";
import { failureOf } from "./failure.ts";
import type {
  FailureNotice,
  FailureVerdict,
  LastFailure,
  ReflectorCounts,
  ReflectorOptions,
} from "./reflector-options.ts";
import { initialReflectorState, isPaged, reflectorStep } from "./reflector-state.ts";
import type { ReflectorEffect, ReflectorInput, ReflectorPlace, ReflectorState } from "./reflector-state.ts";

/** A server that streams the initial state and then says nothing for so long never will. */
const silentStreamMs = 10_000;
/** One that has not said by then that the state is complete never will: it does not know that it should. */
const endlessStreamMs = 60_000;

/**
 * Lists a collection, follows its changes, and does so again whenever the stream breaks or the history is gone. What to
 * do next is decided by `reflectorStep`; this class does it. No failure ends it, only the signal does.
 */
export class Reflector {
  readonly #clock: Pick<Clock, "monotonicMs" | "after" | "sleep">;
  readonly #random: Pick<Random, "float">;
  readonly #log: Logger;
  readonly #options: ReflectorOptions;
  readonly #selection: {
    readonly namespace?: string;
    readonly labelSelector?: string;
    readonly fieldSelector?: string;
  };
  #state: ReflectorState;
  #connected = false;
  #lastFailure: LastFailure | undefined;
  #version = "";
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #counts = { replaces: 0, watches: 0, expired: 0, events: 0, bookmarks: 0, skipped: 0, failures: 0 };

  constructor(
    runtime: {
      readonly clock: Pick<Clock, "monotonicMs" | "after" | "sleep">;
      readonly random: Pick<Random, "float">;
      readonly log: Logger;
    },
    options: ReflectorOptions,
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

  /** The failure seen last; it stays when things go well again. */
  get lastFailure(): LastFailure | undefined {
    return this.#lastFailure;
  }

  get counts(): ReflectorCounts {
    return this.#counts;
  }

  /** Milliseconds since the server last said anything about the collection. */
  silentMs(): number {
    return this.#clock.monotonicMs() - this.#heardAtMs;
  }

  /** Follows until the signal aborts, then resolves. @throws the failure at which `onFailure` says `stop` */
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
    const { client, type, pageSize, target, wireFormat, compressed } = this.#options;
    if (place.at === "empty") target.discard();
    const query = {
      ...this.#selection,
      ...{ signal, wireFormat, compressed },
      ...(isPaged(place) ? { limit: pageSize } : {}),
      // The continuation carries the version itself; both together are refused.
      ...(place.at === "listing"
        ? { continueToken: place.continueToken }
        : place.version === ""
          ? {}
          : { resourceVersion: place.version }),
    };
    try {
      const page = await client.listRaw(type, query, (item) => target.collect(item));
      const { resourceVersion: version = "", continue: continueToken = "" } = page;
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
    const { client, type, target, wireFormat } = this.#options;
    target.discard();
    using bounds = deadlineSignal(this.#clock, { signal });
    let stream: RawWatch;
    try {
      stream = await client.watchRaw(type, {
        ...this.#selection,
        ...{ signal: bounds.signal, wireFormat },
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
  async #follow(stream: RawWatch, abort: (reason: unknown) => void): Promise<"ended" | "left"> {
    // While the initial state comes as a stream, silence is a failure; in a watch it is normal.
    const giveUp = (why: string): void => {
      if (this.#state.place.at === "streaming") abort(incompleteStream(why));
    };
    using silence =
      this.#state.place.at === "streaming"
        ? expectSpeech(this.#clock, silentStreamMs, () => giveUp(`${silentStreamMs} ms without an event`))
        : undefined;
    const cancel =
      silence === undefined
        ? undefined
        : this.#clock.after(endlessStreamMs, () => giveUp(`no end after ${endlessStreamMs} ms`));
    try {
      return await this.#takeEvents(stream, silence);
    } finally {
      cancel?.();
    }
  }

  async #takeEvents(stream: RawWatch, silence: Silence | undefined): Promise<"ended" | "left"> {
    let refusal: StatusError | undefined;
    let left = false;
    await stream.read(
      (event) => {
        silence?.heard();
        this.#heard();
        if (event.type === "ERROR") {
          refusal = new StatusError(event.object);
          return "stop";
        }
        const effect =
          event.type === "BOOKMARK"
            ? this.#takeBookmark(event.object)
            : this.#take(event.type, event.reading);
        left = effect === "leave";
        this.#options.target.progressed();
        return left ? "stop" : undefined;
      },
      () => this.#skipped(),
    );
    if (refusal !== undefined) throw refusal;
    return left ? "left" : "ended";
  }

  #skipped(): void {
    this.#heard();
    if (this.#counts.skipped++ > 0) return;
    this.#log.warn("event skipped: another kind than the informer's type says, or an unknown type", {
      kind: this.#options.type.kind,
    });
  }

  #takeBookmark({ metadata }: KubeObject): ReflectorEffect {
    const effect = this.#step({
      seen: "event",
      type: "BOOKMARK",
      version: metadata.resourceVersion ?? "",
      endsInitial: metadata.annotations?.["k8s.io/initial-events-end"] === "true",
      storedVersion: undefined,
      atMs: this.#heardAtMs,
    });
    this.#counts.bookmarks++;
    return effect;
  }

  #take(type: "ADDED" | "MODIFIED" | "DELETED", reading: ObjectReading): ReflectorEffect {
    const { target } = this.#options;
    const effect = this.#step({
      seen: "event",
      type,
      version: String(reading.version),
      endsInitial: false,
      storedVersion: target.versionOf(reading.key),
      atMs: this.#heardAtMs,
    });
    this.#counts.events++;
    if (effect === "apply") target.apply(type, reading);
    else if (effect === "collect" && type === "DELETED") target.uncollect(reading.key);
    else if (effect === "collect") target.collect(reading);
    return effect;
  }

  /** Takes one step of the machine. Replacing the copy happens here, since both pages and bookmarks lead to it. */
  #step(input: ReflectorInput): ReflectorEffect {
    const { state, effect } = reflectorStep(this.#state, input);
    this.#state = state;
    if (effect === "replace") {
      this.#counts.replaces++;
      this.#version = state.place.version;
      this.#options.target.replace();
      this.#options.target.progressed();
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
    const notice: FailureNotice = {
      kind: input.failure.kind,
      next: place.at === "watching" ? "watch" : "list",
      failures: pause?.failures ?? 0,
    };
    const text = error instanceof Error ? error.message : String(error);
    this.#lastFailure = { ...notice, message: text, atMs: input.atMs };
    if (this.#verdict(error, notice) === "stop") throw error;
  }

  #verdict(error: unknown, notice: FailureNotice): FailureVerdict {
    try {
      return this.#options.onFailure?.(error, notice);
    } catch (cause) {
      this.#log.error("the hook for failures failed", { error: cause });
      return undefined;
    }
  }

  #heard(): number {
    this.#heardAtMs = this.#clock.monotonicMs();
    return this.#heardAtMs;
  }
}

const incompleteStream = (why: string): ControllerError =>
  new ControllerError("DeadlineExceeded", `the initial state was not completed: ${why}`);
