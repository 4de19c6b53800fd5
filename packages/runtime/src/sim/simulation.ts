import type { LogFields, Logger } from "../logger.ts";
import type { Random } from "../random.ts";
import type { TcpConditions } from "./fabric.ts";
import { Fabric, defaultTcpConditions } from "./fabric.ts";
import { Host } from "./host.ts";
import type { LinkConditions } from "./links.ts";
import { Links, defaultLinkConditions } from "./links.ts";
import type { DiskConditions } from "./platter.ts";
import { Platter } from "./platter.ts";
import { Prng } from "./prng.ts";
import { SimNode } from "./sim-node.ts";
import { TimerQueue } from "./timer-queue.ts";
import { Trace } from "./trace.ts";
import type { World } from "./world.ts";

/** One line that a simulated node logged. */
export interface SimLogLine {
  readonly timeMs: number;
  readonly node: string;
  readonly level: "error" | "warn" | "info" | "debug";
  readonly message: string;
  readonly fields: LogFields;
}

/** What a run depends on: the same options give the same run. */
export interface SimulationOptions {
  /** Everything random of the run follows from this number. */
  readonly seed: number;
  /** The wall time at the start, in milliseconds since the epoch. Default: 2026-01-01T00:00:00Z. */
  readonly startTimeMs?: number;
  /** The links between nodes that nothing else was said about. Default: 1 to 10 ms, no loss. */
  readonly link?: Partial<LinkConditions>;
  readonly tcp?: Partial<TcpConditions>;
  readonly disk?: Partial<DiskConditions>;
  readonly onLog?: (line: SimLogLine) => void;
  /** Gets each line of the trace, e.g. to compare two runs that should be equal. */
  readonly onTrace?: (line: string) => void;
}

/** When a run ends: whichever comes first. */
export interface RunOptions {
  /** Runs up to this virtual time; the time then stands there. */
  readonly untilMs?: number;
  /** Runs until this holds; it is asked before the first and after each step. */
  readonly until?: () => boolean;
}

/** A machine of the simulated network. */
export interface NodeOptions {
  readonly name: string;
  /** IP addresses that no other node has. 127.0.0.1 and ::1 are every node's own. */
  readonly addresses: readonly string[];
  readonly skewMs?: number;
  /** How fast its clocks go: 1.01 is a second in a hundred too fast. Default 1. */
  readonly clockRate?: number;
  readonly disk?: Partial<DiskConditions>;
}

/**
 * Several nodes in one process, under a seed: virtual time, a virtual network and disks that lose data.
 *
 * One virtual timer fires at a time, and all promise work that follows from it settles before the next. As long as
 * the nodes' code reaches the outside only through its `Runtime`, equal seeds give equal runs, to the octet.
 */
export class Simulation {
  readonly seed: number;
  readonly #world: VirtualWorld;
  readonly #fabric: Fabric;
  readonly #links: Links;
  readonly #options: SimulationOptions;
  readonly #observers = new Set<() => void>();
  #running = false;
  #steps = 0;

  constructor(options: SimulationOptions) {
    this.seed = options.seed;
    this.#options = options;
    this.#world = new VirtualWorld(options);
    this.#links = new Links({ ...defaultLinkConditions, ...options.link });
    this.#fabric = new Fabric(this.#world, this.#links, { ...defaultTcpConditions, ...options.tcp });
  }

  /** Virtual milliseconds since the start. */
  get nowMs(): number {
    return this.#world.nowMs;
  }

  /** How many timers have fired. */
  get steps(): number {
    return this.#steps;
  }

  /** How many timers wait. */
  get pendingTimers(): number {
    return this.#world.timers.size;
  }

  /** A hash over everything that happened: equal for equal seeds and scenarios. */
  get traceHash(): string {
    return this.#world.trace.hash;
  }

  /** A source of random numbers for the scenario itself; each purpose has its own. */
  random(purpose: string): Random {
    return this.#world.random(`scenario/${purpose}`);
  }

  /** Adds a machine, and starts its process. */
  node(options: NodeOptions): SimNode {
    const { name, addresses } = options;
    const host = new Host(name, addresses, this.#world.random(`ports/${name}`));
    this.#fabric.add(host);
    const conditions: DiskConditions = {
      latencyMs: { min: 0.05, max: 2 },
      unsyncedSurvival: 0.5,
      ...this.#options.disk,
      ...options.disk,
    };
    const platter = new Platter(this.#world.random(`disk/${name}`), conditions);
    const node = new SimNode(this.#fabric, host, {
      platter,
      log: this.#logger(name, {}),
      clockRate: options.clockRate ?? 1,
    });
    if (options.skewMs !== undefined) node.skewMs = options.skewMs;
    return node;
  }

  /** Calls `act` at a virtual time, as part of the world: no crash cancels it. The returned function does. */
  schedule(atMs: number, act: () => void): () => void {
    const timer = this.#world.timers.schedule(Math.max(atMs, this.nowMs), act);
    return () => this.#world.timers.cancel(timer);
  }

  /** Calls `observer` after each step, when all has settled. What it throws ends the run. */
  onStep(observer: () => void): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /** Sets the conditions of the links from `a` to `b` and back; what is not given stays. */
  setLink(a: string, b: string, conditions: Partial<LinkConditions>): void {
    this.#links.setConditions(a, b, conditions);
    this.#links.setConditions(b, a, conditions);
  }

  /** Cuts the links between two nodes, or only the one from `a` to `b`. Nobody is told: packets just vanish. */
  partition(a: string, b: string, direction: "both" | "one" = "both"): void {
    const [hostA, hostB] = [this.#fabric.host(a), this.#fabric.host(b)];
    this.#record(`cut ${a} ${b} ${direction}`);
    this.#links.cut(a, b);
    if (direction === "both") this.#links.cut(b, a);
    this.#fabric.suspectBetween(hostA, hostB);
  }

  /** Cuts a node off from all others. */
  isolate(name: string): void {
    for (const other of this.#fabric.hosts) if (other.name !== name) this.partition(name, other.name);
  }

  /** Restores the links between two nodes, or all links. */
  heal(a?: string, b?: string): void {
    this.#record(`heal ${a ?? "all"} ${b ?? ""}`);
    if (a === undefined) return this.#links.healAll();
    for (const other of b === undefined ? this.#fabric.hosts.map((host) => host.name) : [b]) {
      this.#links.heal(a, other);
      this.#links.heal(other, a);
    }
  }

  /**
   * Lets virtual time go on. Without `untilMs` and `until` it runs until no timer waits.
   *
   * Rejects with what a timer's callback or an observer throws, and when `until` was given but never held.
   */
  async run(options: RunOptions = {}): Promise<void> {
    if (this.#running) throw new Error("the simulation runs already; await the earlier run first");
    this.#running = true;
    try {
      await this.#run(options);
    } finally {
      this.#running = false;
    }
  }

  /** Lets time go on until the promise has settled, and returns its outcome. */
  async complete<T>(promise: Promise<T>, options: { readonly untilMs?: number } = {}): Promise<T> {
    let settled = false;
    const note = (): void => {
      settled = true;
    };
    promise.then(note, note);
    await this.run({ ...options, until: () => settled });
    return promise;
  }

  async #run({ untilMs = Infinity, until }: RunOptions): Promise<void> {
    await settle();
    this.#observe();
    while (until?.() !== true) {
      const timer = this.#world.timers.take(untilMs);
      if (timer === undefined) {
        if (Number.isFinite(untilMs)) this.#world.nowMs = Math.max(this.nowMs, untilMs);
        if (until === undefined) return;
        throw new Error(
          `at ${this.nowMs.toFixed(3)} ms of seed ${this.seed} the awaited condition does not hold, ` +
            (Number.isFinite(untilMs) ? "and the time is up" : "and nothing is left to happen"),
        );
      }
      this.#world.nowMs = timer.atMs;
      this.#steps++;
      timer.callback();
      await settle();
      this.#observe();
    }
  }

  #observe(): void {
    for (const observer of this.#observers) observer();
  }

  #record(event: string): void {
    this.#world.trace.add(this.nowMs, event);
  }

  #logger(node: string, bound: LogFields): Logger {
    const at = (level: SimLogLine["level"]) => (message: string, fields?: LogFields) => {
      this.#record(`log ${node} ${level} ${message}`);
      this.#options.onLog?.({ timeMs: this.nowMs, node, level, message, fields: { ...bound, ...fields } });
    };
    return {
      error: at("error"),
      warn: at("warn"),
      info: at("info"),
      debug: at("debug"),
      child: (fields) => this.#logger(node, { ...bound, ...fields }),
    };
  }
}

class VirtualWorld implements World {
  nowMs = 0;
  readonly startTimeMs: number;
  readonly timers: TimerQueue = new TimerQueue();
  readonly trace: Trace;
  readonly #seed: number;
  readonly #sources = new Map<string, Prng>();

  constructor(options: SimulationOptions) {
    this.#seed = options.seed;
    this.startTimeMs = options.startTimeMs ?? 1_767_225_600_000;
    this.trace = new Trace(options.onTrace);
  }

  random(purpose: string): Prng {
    let source = this.#sources.get(purpose);
    if (source === undefined) {
      source = new Prng(this.#seed, purpose);
      this.#sources.set(purpose, source);
    }
    return source;
  }
}

/** Lets all promise work settle: a turn of the event loop starts only when no microtask is left. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
