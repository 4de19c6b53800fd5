/** An amount as resources have it (`100m`, `1.5Gi`, `2e3`), in billionths; the API knows none smaller. */
export interface Quantity {
  readonly nanos: bigint;
}

/** Parses a quantity (apimachinery `resource.Quantity`), or gives `undefined` for any other text. Fractions of a billionth round up, away from zero. */
export function parseQuantity(text: string): Quantity | undefined {
  if (text.length > quantityCharactersMax) return undefined;
  const parts =
    /^(?<sign>[+-]?)(?:(?<whole>\d+)(?:\.(?<fraction>\d*))?|\.(?<only>\d+))(?:(?<suffix>[numkMGTPE]|[KMGTPE]i)|[eE](?<exponent>[+-]?\d{1,3}))?$/.exec(
      text,
    )?.groups;
  if (parts === undefined) return undefined;
  const fraction = parts["fraction"] ?? parts["only"] ?? "";
  const digits = BigInt((parts["whole"] ?? "") + fraction || "0");
  const { factor, exponent } = scaleOf(parts["suffix"] ?? "", Number(parts["exponent"] ?? "0"));
  const power = exponent + 9 - fraction.length;
  const magnitude =
    power >= 0 ? digits * factor * 10n ** BigInt(power) : divideUp(digits * factor, 10n ** BigInt(-power));
  return { nanos: parts["sign"] === "-" ? -magnitude : magnitude };
}

const quantityCharactersMax = 64;

const decimalExponents: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

function scaleOf(suffix: string, exponent: number): { readonly factor: bigint; readonly exponent: number } {
  const binary = suffix.endsWith("i") ? "KMGTPE".indexOf(suffix.charAt(0)) + 1 : 0;
  if (binary > 0) return { factor: 1024n ** BigInt(binary), exponent: 0 };
  return { factor: 1n, exponent: exponent + (decimalExponents[suffix] ?? 0) };
}

const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;
