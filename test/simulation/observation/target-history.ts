/** Until when each target was there. */
export class TargetHistory {
  readonly #last = new Map<string, number>();

  /** Says which targets are there now; those that were and are not any more were until now. */
  set(targets: readonly string[], nowMs: number): void {
    const present = new Set(targets);
    for (const [target, untilMs] of this.#last)
      if (untilMs === Infinity && !present.has(target)) this.#last.set(target, nowMs);
    for (const target of targets) this.#last.set(target, Infinity);
  }

  /** When the target was last there: Infinity while it is, undefined where it never was. */
  last(target: string): number | undefined {
    return this.#last.get(target);
  }
}
