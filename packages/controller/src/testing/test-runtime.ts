import type { Clock, Runtime } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import type { SimLogLine, SimNode } from "@meridian/runtime/sim";

/** What a runtime for tests starts from. */
export interface TestRuntimeOptions {
  /** Everything random follows from it. Default 1. */
  readonly seed?: number;
  /** The wall time at the start, in ms since the epoch. Default 2026-01-01T00:00:00Z. */
  readonly startTimeMs?: number;
}

/** A runtime in which nothing happens by itself: its time goes on when the test says so. */
export interface TestRuntime {
  readonly runtime: Runtime;
  readonly clock: FakeClock;
  /** Everything that was logged, the oldest first. */
  readonly logged: readonly SimLogLine[];
}

/** Makes a runtime for tests: its clock, its random numbers, its log, and a network and a disk with nobody else. */
export function testRuntime(options: TestRuntimeOptions = {}): TestRuntime {
  const logged: SimLogLine[] = [];
  const simulation = new Simulation({
    seed: options.seed ?? 1,
    ...(options.startTimeMs === undefined ? {} : { startTimeMs: options.startTimeMs }),
    onLog: (line) => logged.push(line),
  });
  const node = simulation.node({ name: "test", addresses: ["10.0.0.1"] });
  return { runtime: node.runtime, clock: new FakeClock(simulation, node), logged };
}

/** A clock that stands still until it is told to go on; it then goes from timer to timer without waiting. */
export class FakeClock implements Clock {
  readonly #simulation: Simulation;
  readonly #node: SimNode;
  #failure: Error | undefined;

  constructor(simulation: Simulation, node: SimNode) {
    this.#simulation = simulation;
    this.#node = node;
    simulation.onStep(() => {
      if (this.#failure !== undefined) throw this.#failure;
    });
  }

  now(): number {
    return this.#node.runtime.clock.now();
  }

  monotonicMs(): number {
    return this.#node.runtime.clock.monotonicMs();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#node.runtime.clock.sleep(ms, signal);
  }

  after(ms: number, callback: () => void): () => void {
    return this.#node.runtime.clock.after(ms, callback);
  }

  /** How many timers wait: 0 after everything was stopped, if nothing was left behind. */
  get pendingTimers(): number {
    return this.#simulation.pendingTimers;
  }

  /** Lets so much time pass. One timer fires after the other, and what follows from each settles before the next. */
  advance(ms: number): Promise<void> {
    return this.#simulation.run({ untilMs: this.#simulation.nowMs + ms });
  }

  /** Lets time pass until something holds. @throws Error when it does not within the time (default ten minutes) */
  until(
    condition: () => boolean,
    { withinMs = 600_000 }: { readonly withinMs?: number } = {},
  ): Promise<void> {
    return this.#simulation.run({ until: condition, untilMs: this.#simulation.nowMs + withinMs });
  }

  /** Lets time pass until the promise has settled, and returns its outcome. */
  outcome<T>(promise: Promise<T>, { withinMs = 600_000 }: { readonly withinMs?: number } = {}): Promise<T> {
    return this.#simulation.complete(promise, { untilMs: this.#simulation.nowMs + withinMs });
  }

  /** Ends the wait that is under way and all later ones with this error: for fakes that know why a test cannot succeed. */
  fail(error: Error): void {
    this.#failure ??= error;
  }

  /** Sets the wall clock ahead or back; the monotonic clock goes on as it did. */
  jumpWall(ms: number): void {
    this.#node.skewMs += ms;
  }
}
