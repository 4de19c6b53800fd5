/**
 * A duration as `kubectl` prints ages: `45s`, `5m30s`, `3h15m`, `2d3h`, `400d`, `3y120d`: the larger the coarser. Up to two seconds in the
 * future (clocks differ) count as `0s`; more is `<invalid>`.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, "m", `${seconds % 60}s`);
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, "h", `${minutes % 60}m`);
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return withRest(days, "d", `${hours % 24}h`);
  if (days < 2 * daysOfYear) return `${days}d`;
  const years = Math.floor(days / daysOfYear);
  return years < 8 ? withRest(years, "y", `${days % daysOfYear}d`) : `${years}y`;
}

const daysOfYear = 365;

const withRest = (count: number, unit: string, rest: string): string =>
  rest.startsWith("0") ? `${count}${unit}` : `${count}${unit}${rest}`;
