/** `2026-01-02T03:04:05Z`: RFC 3339 in UTC and whole seconds, as metadata carries it. */
export function formatTime(ms: number): string {
  return `${new Date(Math.floor(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}

/** `2026-01-02T03:04:05.678000Z`: RFC 3339 with exactly six decimals (MicroTime), as leases carry it. */
export function formatMicroTime(ms: number): string {
  const micros = Math.round((ms % 1) * 1000);
  return `${new Date(Math.floor(ms)).toISOString().slice(0, 23)}${String(micros).padStart(3, "0")}Z`;
}

/** Milliseconds since the epoch of an RFC 3339 time (fractions kept to the microsecond), or `undefined`. */
export function parseTime(text: string): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
