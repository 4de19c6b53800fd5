/** Runs one after another what must not mix. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when all that came before is done, however that ended; settles as the work does. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  /** Resolves when all that has come so far is done. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
