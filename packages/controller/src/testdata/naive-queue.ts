interface NaiveWish {
  readonly key: string;
  readonly priority: number;
  readonly readyAtMs: number;
}

/**
 * A work queue as slow and plain as it can be: lists that are searched from the start. Nothing of it is taken from the real
 * one, which must do the same.
 */
export class NaiveQueue {
  nowMs = 0;
  readonly held: Set<string> = new Set();
  /** What is asked for and not handed out, in no order. */
  #wishes: NaiveWish[] = [];
  /** Keys that are ready, in the order in which they became so at their priority. */
  #line: { readonly key: string; readonly priority: number }[] = [];
  /** When each namespace last came, or had its turn, by priority; who waits longest is next. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  add(key: string, priority: number, afterMs: number): void {
    const before = this.#wishes.find((each) => each.key === key) ?? { key, priority, readyAtMs: Infinity };
    const wish = {
      key,
      priority: Math.max(before.priority, priority),
      readyAtMs: Math.min(before.readyAtMs, this.nowMs + afterMs),
    };
    // One that is due at another time than before is behind those that were due then already.
    if (wish.readyAtMs === before.readyAtMs) {
      this.#wishes = this.#wishes.map((each) => (each.key === key ? wish : each));
    } else {
      this.#wishes = [...this.#wishes.filter((each) => each.key !== key), wish];
    }
    this.#update([key]);
  }

  advance(ms: number): void {
    this.nowMs += ms;
    const due = this.#wishes.filter(({ readyAtMs }) => readyAtMs <= this.nowMs);
    due.sort((a, b) => a.readyAtMs - b.readyAtMs);
    this.#update(due.map(({ key }) => key));
  }

  get ready(): number {
    return this.#line.length;
  }

  get delayed(): number {
    return this.#wishes.filter(({ key, readyAtMs }) => readyAtMs > this.nowMs && !this.held.has(key)).length;
  }

  take(): string | undefined {
    const highest = Math.max(...this.#line.map(({ priority }) => priority));
    const candidates = this.#line.filter(({ priority }) => priority === highest);
    const turnOf = (key: string): number => this.#turns.get(`${highest} ${key.split("/")[0]}`) ?? 0;
    const first = candidates.reduce<(typeof candidates)[number] | undefined>(
      (best, each) => (best === undefined || turnOf(each.key) < turnOf(best.key) ? each : best),
      undefined,
    );
    if (first === undefined) return undefined;
    this.#line = this.#line.filter(({ key }) => key !== first.key);
    this.#wishes = this.#wishes.filter(({ key }) => key !== first.key);
    this.held.add(first.key);
    this.#turns.set(`${highest} ${first.key.split("/")[0]}`, ++this.#turn);
    return first.key;
  }

  done(key: string): void {
    this.held.delete(key);
    // It begins to wait only now: of keys that are due at the same time it is the last.
    const wish = this.#wishes.find((each) => each.key === key);
    if (wish !== undefined) this.#wishes = [...this.#wishes.filter((each) => each !== wish), wish];
    this.#update([key]);
  }

  #update(keys: readonly string[]): void {
    for (const key of keys) {
      const wish = this.#wishes.find((each) => each.key === key);
      if (wish === undefined || this.held.has(key) || wish.readyAtMs > this.nowMs) continue;
      const { priority } = wish;
      if (this.#line.some((each) => each.key === key && each.priority === priority)) continue;
      this.#line = this.#line.filter((each) => each.key !== key);
      const lane = `${priority} ${key.split("/")[0]}`;
      const isNew = !this.#line.some((each) => `${each.priority} ${each.key.split("/")[0]}` === lane);
      if (isNew) this.#turns.set(lane, ++this.#turn);
      this.#line.push({ key, priority });
    }
  }
}
