/**
 * A running hash over everything that happens in a simulation. Two runs of the same seed and scenario have equal
 * hashes; if not, something outside the runtime's interfaces leaked in (a real clock, a real random number).
 */
export class Trace {
  #high = 0x811c9dc5;
  #low = 0xcbf29ce4;
  #events = 0;
  readonly #onLine: ((line: string) => void) | undefined;

  constructor(onLine?: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** Records an event, and the octets that it carries, if any. */
  add(nowMs: number, event: string, octets?: Uint8Array): void {
    this.#events++;
    const line = `${nowMs.toFixed(3)} ${event}`;
    for (let i = 0; i < line.length; i++) this.#mix(line.charCodeAt(i));
    if (octets !== undefined) for (let i = 0; i < octets.length; i++) this.#mix(octets[i] as number);
    this.#onLine?.(line);
  }

  get events(): number {
    return this.#events;
  }

  /** 16 hexadecimal digits. */
  get hash(): string {
    return [this.#high, this.#low].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  #mix(value: number): void {
    this.#high = Math.imul(this.#high ^ value, 0x01000193);
    this.#low = Math.imul((this.#low << 5) ^ (this.#low >>> 27) ^ value, 0x9e3779b1);
  }
}
