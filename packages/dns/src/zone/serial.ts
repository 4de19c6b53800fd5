/** Whether a zone serial is newer than another (RFC 1982 §3.2). Serials that are 2^31 apart are not comparable: false. */
export function isNewerSerial(candidate: number, current: number): boolean {
  const ahead = (candidate - current) >>> 0;
  return ahead > 0 && ahead < 0x8000_0000;
}

/** The serial that a zone moves to: `wanted` where that is newer, else the next one. It never goes back. */
export function nextSerial(current: number, wanted?: number): number {
  return wanted !== undefined && isNewerSerial(wanted, current) ? wanted >>> 0 : (current + 1) >>> 0;
}
