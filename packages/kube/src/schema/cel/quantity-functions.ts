import type { Environment } from "@marcbachmann/cel-js";
import { parseQuantity } from "../../quantity.ts";

const sync = { async: false } as const;
const nanosOfOne = 1_000_000_000n;

class CelQuantity {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** `quantity` and what can be asked of one (kube-apiserver's quantity library). */
export function registerQuantities(env: Environment): void {
  const on = (signature: string, handler: (a: CelQuantity, b: CelQuantity) => unknown): void => {
    env.registerFunction(`kubernetes.Quantity.${signature}`, handler, sync);
  };
  env.registerType("kubernetes.Quantity", CelQuantity);
  env.registerFunction("isQuantity(string): bool", (text: string) => parseQuantity(text) !== undefined, sync);
  env.registerFunction("quantity(string): kubernetes.Quantity", quantityOf, sync);
  env.registerOperator(
    "kubernetes.Quantity == kubernetes.Quantity",
    (a: CelQuantity, b: CelQuantity) => a.nanos === b.nanos,
  );
  on("sign(): int", ({ nanos }) => (nanos > 0n ? 1n : nanos < 0n ? -1n : 0n));
  on("isInteger(): bool", ({ nanos }) => nanos % nanosOfOne === 0n);
  on("asInteger(): int", ({ nanos }) => {
    if (nanos % nanosOfOne !== 0n) throw new Error("cannot convert value to integer");
    return nanos / nanosOfOne;
  });
  on("asApproximateFloat(): double", ({ nanos }) => Number(nanos) / 1e9);
  on("isGreaterThan(kubernetes.Quantity): bool", (a, b) => a.nanos > b.nanos);
  on("isLessThan(kubernetes.Quantity): bool", (a, b) => a.nanos < b.nanos);
  on("compareTo(kubernetes.Quantity): int", (a, b) =>
    a.nanos > b.nanos ? 1n : a.nanos < b.nanos ? -1n : 0n,
  );
  on("add(kubernetes.Quantity): kubernetes.Quantity", (a, b) => new CelQuantity(a.nanos + b.nanos));
  on("sub(kubernetes.Quantity): kubernetes.Quantity", (a, b) => new CelQuantity(a.nanos - b.nanos));
}

function quantityOf(text: string): CelQuantity {
  const quantity = parseQuantity(text);
  if (quantity === undefined) throw new Error(`quantity parse error: ${JSON.stringify(text.slice(0, 64))}`);
  return new CelQuantity(quantity.nanos);
}
