/** Characters of a duration: more cannot be one, and must not reach an expression. */
const durationCharactersMax = 64;

const nanosecondsOf: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Nanoseconds of a duration as Go writes them (`1h30m`, `-1.5s`, `0`), or `undefined` for any other text. */
export function parseGoDuration(text: string): bigint | undefined {
  if (text.length > durationCharactersMax) return undefined;
  const unsigned = text.replace(/^[+-]/, "");
  if (unsigned === "0") return 0n;
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(unsigned)) return undefined;
  let nanoseconds = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of unsigned.matchAll(
    /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g,
  )) {
    const scale = nanosecondsOf[unit] ?? 0n;
    const decimals = fraction.slice(0, 18);
    nanoseconds += BigInt(whole === "" ? "0" : whole) * scale;
    nanoseconds += (BigInt(decimals === "" ? "0" : decimals) * scale) / 10n ** BigInt(decimals.length);
  }
  if (nanoseconds >= 2n ** 63n) return undefined;
  return text.startsWith("-") ? -nanoseconds : nanoseconds;
}

/** True for a Go duration, and for the spelled-out form `5 minutes` that the format `duration` also takes. */
export function isGoDuration(text: string): boolean {
  return (
    parseGoDuration(text) !== undefined ||
    /^\s*\d{1,9}(?:\.\d{1,9})?\s*(?:nanos?(?:econds?)?|micro(?:s|seconds?)?|mill?i?s?(?:econds?)?|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:(?:ee)?ks?)?)\s*$/i.test(
      text.slice(0, durationCharactersMax + 1),
    )
  );
}
