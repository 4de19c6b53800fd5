import { podType } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import type { LabEvent, LabState, ServerCounters, SmallControllerState } from "../lab-state.ts";
import { composeState, historyRecord, noCounters } from "./compose-state.ts";
import type { LabCopy } from "./lab-copy.ts";
import { LabLog } from "./lab-log.ts";
import { PendingNews } from "./pending-news.ts";
import type { Truth, TruthReading } from "./truth.ts";
import { VersionLine } from "./version-line.ts";

/** Changes that come together are shown together. */
const settleMs = 15;
/** Lag and the like move without an event. */
const tickMs = 250;
/** While somebody watches, the server is looked at this often, too: its counters move a little later than its answers. */
const lookEveryTicks = 4;
/** Writes that are remembered to count how far a copy is behind. */
const writesMax = 1_000;
/** A copy may hear of a write that comes just after the truth was read: then it is read again, so often. */
const readingsMax = 5;

/** What is there to be seen besides the truth. */
export interface LabScene {
  readonly copies: readonly LabCopy[];
  readonly controller: SmallControllerState;
  readonly historyMax: number;
}

/** Looks at the truth and at the copies, tells the log what is new, and hands out states. */
export class LabView {
  readonly #runtime: Runtime;
  readonly #truth: Truth;
  readonly #scene: () => LabScene;
  readonly #inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  readonly #signal: AbortSignal;
  readonly #instance: string;
  readonly #log: LabLog;
  readonly #listeners = new Set<(state: LabState) => void>();
  readonly #pending = new PendingNews();
  #lookIsDue = false;
  #line = new VersionLine("0");
  #reading: TruthReading | undefined;
  #seenVersion = 0;
  #writes: readonly number[] = [];
  #countedBefore: ServerCounters = noCounters;
  #stateText = "";
  #state: LabState | undefined;

  constructor(
    runtime: Runtime,
    options: {
      readonly truth: Truth;
      readonly scene: () => LabScene;
      /** Runs one after another what must not mix. */
      readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
      readonly signal: AbortSignal;
    },
  ) {
    this.#runtime = runtime;
    this.#truth = options.truth;
    this.#scene = options.scene;
    this.#inTurn = options.inTurn;
    this.#signal = options.signal;
    this.#instance = runtime.random.uuid();
    this.#log = new LabLog(runtime.clock);
  }

  get line(): VersionLine {
    return this.#line;
  }

  /** The truth as it was looked at last. */
  get reading(): TruthReading | undefined {
    return this.#reading;
  }

  /** What the server had counted when the lab began. */
  get countedBefore(): ServerCounters {
    return this.#countedBefore;
  }

  /** The newest state. */
  get state(): LabState {
    if (this.#state === undefined) throw new Error("the lab has no state before it was looked at");
    return this.#state;
  }

  /** Calls `listener` with each new state until the returned function is called. */
  subscribe(listener: (state: LabState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Begins anew: versions and counters are counted from here, and the log is empty. */
  begin(zero: string, countedBefore: ServerCounters): void {
    this.#line = new VersionLine(zero);
    this.#countedBefore = countedBefore;
    this.#seenVersion = 0;
    this.#writes = [];
    this.#pending.clear();
    this.#log.clear();
  }

  tell(event: LabEvent): void {
    this.#log.add(event);
  }

  /** Tells of what has to do with a write, when that write has been told of. */
  tellInOrder(event: LabEvent): void {
    this.#pending.add(event);
    this.lookSoon();
  }

  /** Writes to Pods after a version, as far as they have been seen. */
  behind(resourceVersion: string): number {
    const version = this.#line.versionOf(resourceVersion);
    return this.#writes.filter((write) => write > version).length;
  }

  /** Looks within a moment, once for whatever happens until then. */
  lookSoon(): void {
    if (this.#lookIsDue || this.#signal.aborted) return;
    this.#lookIsDue = true;
    this.#runtime.clock.after(settleMs, () => {
      void this.#inTurn(async () => {
        this.#lookIsDue = false;
        try {
          await this.look();
        } catch (error) {
          if (!this.#signal.aborted) this.#runtime.log.warn("the lab cannot see its API server", { error });
        }
      });
    });
  }

  /** Looks at the copies every now and then, until the signal aborts. */
  watchTheClock(): void {
    let cancel = (): void => {};
    let ticks = 0;
    const tick = (): void => {
      const reading = this.#reading;
      const isDue = ++ticks % lookEveryTicks === 0 && this.#listeners.size > 0;
      if (reading !== undefined && (isDue || this.#isAhead(reading))) this.lookSoon();
      else if (reading !== undefined && !this.#lookIsDue) this.#publish(reading);
      cancel = this.#runtime.clock.after(tickMs, tick);
    };
    tick();
    this.#signal.addEventListener("abort", () => cancel(), { once: true });
  }

  /** Reads the truth, keeps the history at its length, and hands out what is there now. */
  async look(): Promise<void> {
    const signal = this.#signal;
    for (let readings = 1; !signal.aborted; readings++) {
      let reading = await this.#truth.read();
      this.#noteWrites(reading);
      const keep = this.#scene().historyMax;
      if (reading.changes.length > keep) {
        await this.#truth.compact({ keep });
        reading = await this.#truth.read();
        this.#noteWrites(reading);
      }
      this.#reading = reading;
      if (readings < readingsMax && this.#isAhead(reading)) continue;
      for (const event of this.#pending.takeAll()) this.#log.add(event);
      return this.#publish(reading);
    }
  }

  #isAhead(reading: TruthReading): boolean {
    const version = this.#line.versionOf(reading.resourceVersion);
    return this.#scene().copies.some(({ informer }) => this.#line.versionOf(informer.version) > version);
  }

  /** Tells of writes that have not been told of, each with what belongs to it. */
  #noteWrites(reading: TruthReading): void {
    for (const event of this.#pending.takeIncidents(this.#seenVersion)) this.#log.add(event);
    for (const change of reading.changes) {
      const { by, change: kind, name, version } = historyRecord(change, this.#line);
      if (version <= this.#seenVersion) continue;
      this.#seenVersion = version;
      if (change.resource !== podType.plural) continue;
      this.#writes = [...this.#writes, version].slice(-writesMax);
      if (by.who === "controller") {
        for (const event of this.#pending.takeActs({ change: kind, name })) this.#log.add(event);
      }
      this.#log.add({ code: writeCodes[kind], name, version, by });
      for (const event of this.#pending.takeIncidents(version)) this.#log.add(event);
    }
  }

  #publish(reading: TruthReading): void {
    const { controller, copies, historyMax } = this.#scene();
    const oldestResumable = this.#line.versionOf(reading.compactedResourceVersion);
    for (const copy of copies) {
      const behind = this.behind(copy.informer.version);
      const about = { line: this.#line, writes: this.#writes, behind, oldestResumable };
      for (const event of copy.news(about)) this.#log.add(event);
    }
    const state = composeState({
      instance: this.#instance,
      line: this.#line,
      reading,
      writes: this.#writes,
      historyMax,
      countedBefore: this.#countedBefore,
      copies,
      controller,
      log: this.#log.entries,
    });
    const text = JSON.stringify(state);
    if (text === this.#stateText) return;
    this.#stateText = text;
    this.#state = { counter: (this.#state?.counter ?? 0) + 1, ...state };
    for (const listener of this.#listeners) listener(this.#state);
  }
}

const writeCodes = { created: "podCreated", changed: "podChanged", deleted: "podDeleted" } as const;
