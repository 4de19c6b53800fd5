/**
 * One life of a simulated node, from its start to its crash. Whatever it holds open registers its release here, so
 * that nothing of a crashed node stays behind: no timer, no listener on a signal, no socket.
 */
export class Boot {
  #alive = true;
  readonly #releases = new Set<() => void>();

  get alive(): boolean {
    return this.#alive;
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
