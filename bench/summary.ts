/** Of a sample: count, extremes and percentiles, rounded to two decimals. */
export interface Summary {
  readonly n: number;
  readonly min: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export function summary(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => {
    const value = sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
    return Math.round(value * 100) / 100;
  };
  return { n: sorted.length, min: at(0.000001), p50: at(0.5), p99: at(0.99), max: at(1) };
}
