/** `2026-01-02T03:04:05Z`: RFC 3339 in UTC and whole seconds, as metadata carries it. `ms` since the epoch. */
export function formatTime(ms: number): string {
  return `${new Date(Math.floor(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}

/**
 * `2026-01-02T03:04:05.678000Z`: RFC 3339 with exactly six decimals (MicroTime), as leases and events carry it. kube-apiserver refuses
 * any other number of decimals. Fractions of a millisecond are kept.
 */
export function formatMicroTime(ms: number): string {
  const micros = Math.floor(ms * 1000);
  const wholeMs = Math.floor(micros / 1000);
  return `${new Date(wholeMs).toISOString().slice(0, 23)}${String(micros - wholeMs * 1000).padStart(3, "0")}Z`;
}

/**
 * Milliseconds since the epoch of an RFC 3339 time with any number of decimals (microseconds are kept as fractions), or `undefined` for
 * any other text, also for days that do not exist.
 */
export function parseTime(text: string): number | undefined {
  const parts = rfc3339.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const date = `${parts["date"]}T${parts["time"]}`;
  const wholeMs = Date.parse(`${date}${parts["zone"]?.toUpperCase()}`);
  if (Number.isNaN(wholeMs) || !isRealDay(parts["date"] ?? "")) return undefined;
  const micros = Number((parts["fraction"] ?? "").slice(0, 6).padEnd(6, "0"));
  return wholeMs + micros / 1000;
}

const rfc3339 =
  /^(?<date>\d{4}-\d\d-\d\d)[Tt](?<time>\d\d:\d\d:\d\d)(?:\.(?<fraction>\d{1,9}))?(?<zone>[Zz]|[+-]\d\d:\d\d)$/;

/** `Date.parse` takes 30 February for 2 March. */
function isRealDay(date: string): boolean {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}
