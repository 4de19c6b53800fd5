/**
 * The answers that go on for as long as the server runs. There may be thousands, so that each is a member of one set
 * instead of a listener of one signal.
 */
export class OpenStreams {
  readonly #ends = new Set<() => void>();

  constructor(closing: AbortSignal) {
    closing.addEventListener("abort", () => this.#endAll(), { once: true });
  }

  /** Calls `end` once when the server closes, unless the returned function was called before. */
  onClose(end: () => void): () => void {
    this.#ends.add(end);
    return () => this.#ends.delete(end);
  }

  #endAll(): void {
    const ends = [...this.#ends];
    this.#ends.clear();
    for (const end of ends) end();
  }
}
