/** When which object was changed, in microseconds since 1970. */
export type Writes = ReadonlyMap<number, readonly number[]>;

/** What became of writes at a client. */
export interface UpdateDelays {
  readonly delaysMs: readonly number[];
  /** Updates that nobody wrote. */
  readonly unknown: number;
}

/** From the sending of each update to its arrival: the nth arrival of an object is that of its nth write. */
export function updateDelays(
  arrivals: readonly (readonly [index: number, at: number])[],
  writes: Writes,
): UpdateDelays {
  const seen = new Map<number, number>();
  const delaysMs: number[] = [];
  let unknown = 0;
  for (const [index, at] of arrivals) {
    const nth = seen.get(index) ?? 0;
    seen.set(index, nth + 1);
    const sentAt = writes.get(index)?.[nth];
    if (sentAt === undefined) unknown++;
    else delaysMs.push((at - sentAt) / 1000);
  }
  return { delaysMs, unknown };
}
