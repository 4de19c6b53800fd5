/**
 * One life of a simulated node, from its start to its crash. Whatever it holds open registers its release here, so
 * that nothing of a crashed node stays behind: no timer, no listener on a signal, no socket.
 */
export class Boot {
  #alive = true;
  readonly #releases = new Set<() => void>();
  #paused = false;
  /** What reached the process while it was paused, the oldest first. */
  readonly #held: (() => void)[] = [];
  /** How long the machine was suspended, in the world's time: its monotonic clock stood still meanwhile. */
  suspendedMs = 0;

  get alive(): boolean {
    return this.#alive;
  }

  /** True while none of its code runs. */
  get paused(): boolean {
    return this.#paused;
  }

  pause(): void {
    this.#paused = true;
  }

  /** Runs the process again, and returns what came for it meanwhile. */
  resume(): readonly (() => void)[] {
    this.#paused = false;
    return this.#held.splice(0);
  }

  /** Calls the process from outside: now, or as soon as it runs again. */
  enter(callback: () => void): void {
    if (this.#paused) this.#held.push(callback);
    else callback();
  }

  /** Runs `release` when the boot ends. The returned function forgets it. */
  onEnd(release: () => void): () => void {
    this.#releases.add(release);
    return () => this.#releases.delete(release);
  }

  /** Ends the boot. Promises that its code waits for stay pending for ever and are collected with it. */
  end(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#held.length = 0;
    for (const release of this.#releases) release();
    this.#releases.clear();
  }

  /** How many releases are registered; for tests against leaks. */
  get held(): number {
    return this.#releases.size;
  }
}

/** What the code of a crashed node gets to wait for. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
