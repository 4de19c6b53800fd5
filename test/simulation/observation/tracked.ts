/** A value and since when it is as it is, in virtual milliseconds. */
export class Tracked<T> {
  #value: T;
  #text: string;
  #sinceMs: number;
  #before: T | undefined;
  #beforeSinceMs: number;

  constructor(value: T, sinceMs: number) {
    this.#value = value;
    this.#text = JSON.stringify(value) ?? "";
    this.#sinceMs = sinceMs;
    this.#beforeSinceMs = sinceMs;
  }

  get value(): T {
    return this.#value;
  }

  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** The value before this one, and since when it had been. */
  get before(): T | undefined {
    return this.#before;
  }

  get beforeSinceMs(): number {
    return this.#beforeSinceMs;
  }

  /** Takes the value as it is now. @returns whether it is another one */
  set(value: T, nowMs: number): boolean {
    // Most values are the very one of before: this is asked at each step.
    if (value === this.#value) return false;
    const text = JSON.stringify(value) ?? "";
    if (text === this.#text) return false;
    this.#before = this.#value;
    this.#beforeSinceMs = this.#sinceMs;
    this.#value = value;
    this.#text = text;
    this.#sinceMs = nowMs;
    return true;
  }
}
