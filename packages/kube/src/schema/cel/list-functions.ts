import type { Environment } from "@marcbachmann/cel-js";
import { equalCelValues } from "./equal-cel-values.ts";

const sync = { async: false } as const;
type Comparable = bigint | number | string | boolean | Date;

/** The list functions of kube-apiserver's library, and those on sets. */
export function registerLists(env: Environment): void {
  env.registerFunction("list<A>.isSorted(): bool", (list: readonly Comparable[]) =>
    list.every((item, at) => at === 0 || !((list[at - 1] ?? item) > item)),
  );
  env.registerFunction(
    "list<int>.sum(): int",
    (list: readonly bigint[]) => list.reduce((a, b) => a + b, 0n),
    sync,
  );
  env.registerFunction(
    "list<double>.sum(): double",
    (list: readonly number[]) => list.reduce((a, b) => a + b, 0),
    sync,
  );
  env.registerFunction(
    "list<A>.min(): A",
    (list: readonly Comparable[]) => pick(list, (a, b) => a < b),
    sync,
  );
  env.registerFunction(
    "list<A>.max(): A",
    (list: readonly Comparable[]) => pick(list, (a, b) => a > b),
    sync,
  );
  env.registerFunction(
    "list<A>.indexOf(A): int",
    (list: readonly unknown[], item: unknown) => BigInt(list.findIndex((each) => equalCelValues(each, item))),
    sync,
  );
  env.registerFunction(
    "list<A>.lastIndexOf(A): int",
    (list: readonly unknown[], item: unknown) =>
      BigInt(list.findLastIndex((each) => equalCelValues(each, item))),
    sync,
  );

  class Sets {}
  env.registerType("SetsNamespace", Sets);
  env.registerConstant("sets", "SetsNamespace", new Sets());
  const contains = (list: readonly unknown[], items: readonly unknown[]): boolean =>
    items.every((item) => list.some((each) => equalCelValues(each, item)));
  type Lists = readonly [unknown, readonly unknown[], readonly unknown[]];
  env.registerFunction(
    "SetsNamespace.contains(list<A>, list<A>): bool",
    (...[, a, b]: Lists) => contains(a, b),
    sync,
  );
  env.registerFunction(
    "SetsNamespace.equivalent(list<A>, list<A>): bool",
    (...[, a, b]: Lists) => contains(a, b) && contains(b, a),
    sync,
  );
  env.registerFunction(
    "SetsNamespace.intersects(list<A>, list<A>): bool",
    (...[, a, b]: Lists) => a.some((item) => b.some((each) => equalCelValues(each, item))),
    sync,
  );
}

function pick(list: readonly Comparable[], better: (a: Comparable, b: Comparable) => boolean): Comparable {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error("min/max called on empty list");
  return rest.reduce((best, each) => (better(each, best) ? each : best), first);
}
