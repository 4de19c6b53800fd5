/** What was opened, to be closed in the reverse order. One that fails to close does not keep the others open. */
export class ClosingStack {
  #closers: (() => PromiseLike<void>)[] = [];

  use<T extends AsyncDisposable>(opened: T): T {
    this.defer(() => opened[Symbol.asyncDispose]());
    return opened;
  }

  defer(close: () => PromiseLike<void>): void {
    this.#closers.push(close);
  }

  /** Closes everything once. @throws the first failure, after all were tried */
  async close(): Promise<void> {
    const closers = this.#closers.reverse();
    this.#closers = [];
    const failures: unknown[] = [];
    for (const close of closers) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
