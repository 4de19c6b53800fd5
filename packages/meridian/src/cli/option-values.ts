import { MeridianError } from "../meridian-error.ts";

/** Collects everything wrong with a command line, so that a person corrects it once and not mistake by mistake. */
export class OptionReader {
  readonly #problems: string[] = [];

  /** A whole number within bounds; `fallback` where the option was not given. */
  integer(
    text: string | undefined,
    rule: { readonly option: string; readonly min: number; readonly max: number; readonly fallback: number },
  ): number {
    if (text === undefined) return rule.fallback;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= rule.min && value <= rule.max) return value;
    this.problem(`${rule.option} ${text}: must be a whole number from ${rule.min} to ${rule.max}`);
    return rule.fallback;
  }

  /** One of a few words; `fallback` where the option was not given. */
  oneOf<T extends string>(
    text: string | undefined,
    rule: { readonly option: string; readonly values: readonly T[]; readonly fallback: T },
  ): T {
    if (text === undefined) return rule.fallback;
    const value = rule.values.find((candidate) => candidate === text);
    if (value !== undefined) return value;
    this.problem(`${rule.option} ${text}: must be one of ${rule.values.join(", ")}`);
    return rule.fallback;
  }

  problem(text: string): void {
    this.#problems.push(text);
  }

  /** @throws MeridianError `Usage` that lists everything reported before. */
  finish(): void {
    if (this.#problems.length > 0) throw new MeridianError("Usage", this.#problems.join("; "));
  }
}
