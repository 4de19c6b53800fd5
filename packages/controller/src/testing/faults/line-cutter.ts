const lineFeed = 10;

/** Cuts octets that arrive in any portions into lines, each with its line feed. */
export class LineCutter {
  #parts: Uint8Array[] = [];

  /** The lines that are complete now. The octets may be reused afterwards. */
  push(octets: Uint8Array): readonly Uint8Array[] {
    const lines: Uint8Array[] = [];
    let start = 0;
    for (let end = octets.indexOf(lineFeed); end >= 0; end = octets.indexOf(lineFeed, start)) {
      lines.push(joined([...this.#parts, octets.subarray(start, end + 1)]));
      this.#parts = [];
      start = end + 1;
    }
    if (start < octets.length) this.#parts.push(octets.slice(start));
    return lines;
  }

  /** What came after the last line feed. */
  get rest(): Uint8Array {
    return joined(this.#parts);
  }
}

/** One array of several. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
