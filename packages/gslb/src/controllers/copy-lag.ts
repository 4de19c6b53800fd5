const firstMs = 50;
const lagMsMax = 15_000;

/**
 * How soon to look again at an object whose copy lags behind a write: in a moment at first, since that is all it mostly takes,
 * then later each time, since a watch may be dead for minutes before anybody notices.
 */
export class CopyLag {
  readonly #rounds = new Map<string, number>();

  /** The copy did not show the newest. */
  behind(key: string): { readonly requeueAfterMs: number } {
    const rounds = this.#rounds.get(key) ?? 0;
    this.#rounds.set(key, rounds + 1);
    return { requeueAfterMs: Math.min(lagMsMax, firstMs * 2 ** rounds) };
  }

  /** It did, or the object is gone. */
  caughtUp(key: string): void {
    this.#rounds.delete(key);
  }
}
