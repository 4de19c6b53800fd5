import type { Environment } from "@marcbachmann/cel-js";
import { compilePattern } from "../pattern.ts";
import type { Pattern } from "../pattern.ts";
import { celDuration } from "./cel-value.ts";
import type { CostMeter } from "./cost-meter.ts";

const sync = { async: false } as const;

/** Matches that `findAll` gives at most. */
const matchesMax = 10_000;

/** Registers what rewritten rules call to report their cost, and the bounded forms of functions that have no bound in the library. */
export function registerMeter(env: Environment, meter: CostMeter): void {
  const walk = (range: unknown, steps: bigint): unknown => {
    meter.charge(1 + lengthOf(range) * Number(steps));
    return range;
  };
  const read = (value: unknown): unknown => {
    meter.chargeFor(value);
    return value;
  };
  env.registerFunction("meteredWalk(list<A>, int): list<A>", walk, sync);
  env.registerFunction("meteredWalk(map<K, V>, int): map<K, V>", walk, sync);
  env.registerFunction("meteredRead(A): A", read, sync);

  const patterns = new PatternCache(meter);
  const matches = (text: string, pattern: string): boolean => patterns.get(pattern, text).matches(text);
  // The library's own `string.matches` is never called: rules are rewritten to the bounded one.
  env.registerFunction("matches(string, string): bool", matches, sync);
  env.registerFunction("meteredMatches(string, string): bool", matches, sync);
  env.registerFunction("string.meteredMatches(string): bool", matches, sync);
  const findAll = (max: number) => (text: string, pattern: string) =>
    patterns.get(pattern, text).findAll(text, max);
  env.registerFunction(
    "string.find(string): string",
    (text: string, pattern: string) => findAll(1)(text, pattern)[0] ?? "",
    sync,
  );
  env.registerFunction("string.findAll(string): list<string>", findAll(matchesMax), sync);
  env.registerFunction(
    "string.findAll(string, int): list<string>",
    (text: string, pattern: string, max: bigint) =>
      findAll(max < 0n ? matchesMax : Math.min(Number(max), matchesMax))(text, pattern),
    sync,
  );
  env.registerFunction("meteredDuration(string): google.protobuf.Duration", requireDuration, sync);
}

function lengthOf(range: unknown): number {
  if (Array.isArray(range)) return range.length;
  if (range instanceof Map) return range.size;
  return typeof range === "object" && range !== null ? Object.keys(range).length : 1;
}

function requireDuration(text: string): unknown {
  const duration = celDuration(text);
  if (duration === undefined) throw new Error(`invalid duration ${JSON.stringify(text.slice(0, 64))}`);
  return duration;
}

/** An expression is mostly a literal of the rule, so the last ones are kept compiled. */
class PatternCache {
  static readonly #keptMax = 16;
  readonly #meter: CostMeter;
  readonly #kept = new Map<string, Pattern>();

  constructor(meter: CostMeter) {
    this.#meter = meter;
  }

  /** Charges for matching the text: RE2 takes time proportional to the lengths of both. */
  get(pattern: string, text: string): Pattern {
    this.#meter.charge(Math.ceil((text.length + 1) / 10) * Math.ceil((pattern.length + 1) / 4));
    const kept = this.#kept.get(pattern);
    if (kept !== undefined) return kept;
    this.#meter.charge(pattern.length * 20);
    const compiled = compilePattern(pattern);
    if (this.#kept.size >= PatternCache.#keptMax) this.#kept.clear();
    this.#kept.set(pattern, compiled);
    return compiled;
  }
}
