import type { MetricObjectWithValues, MetricValue, Registry } from "prom-client";

type Family = MetricObjectWithValues<MetricValue<string> & { readonly metricName?: string }>;

/** promlint's abbreviations and its units that are no base units. */
const abbreviations = new Set(
  "s ms us ns sec b kb mb gb tb pb m h d msec usec nsec".split(" "),
);
const otherUnits = new Set(
  "minute minutes hour hours day days milliseconds microseconds nanoseconds kilobytes megabytes gigabytes bits percent milliamperes".split(
    " ",
  ),
);

/** What Prometheus' own linter (`promtool check metrics`, promlint) has against metrics, by its rules on names, labels and helps. */
export async function lintMetrics(registry: Registry): Promise<string[]> {
  const families = (await registry.getMetricsAsJSON()) as unknown as Family[];
  return families.flatMap((family) => lint(family));
}

function lint({ name, help, type, values }: Family): string[] {
  const problems: string[] = [];
  const check = (isWrong: boolean, problem: string): void => {
    if (isWrong) problems.push(`${name}: ${problem}`);
  };
  const kind = String(type);
  const isBucketed = kind === "histogram" || kind === "summary";
  const words = name.split("_");
  check(help.trim() === "", "no help text");
  check(kind === "counter" && !name.endsWith("_total"), 'counter metrics should have "_total" suffix');
  check(kind !== "counter" && name.endsWith("_total"), 'non-counter metrics should not have "_total" suffix');
  for (const suffix of ["_count", "_sum", "_bucket"])
    check(!isBucketed && name.endsWith(suffix), `non-histogram metrics should not have "${suffix}" suffix`);
  check(name.includes(":"), "metric names should not contain ':'");
  check(/[a-z][A-Z]/.test(name), "metric names should be written in 'snake_case' not 'camelCase'");
  check(
    words.some((word) => ["gauge", "counter", "histogram", "summary"].includes(word)),
    "metric name should not include its type",
  );
  check(words.some((word) => abbreviations.has(word)), "metric names should not contain abbreviated units");
  check(words.some((word) => otherUnits.has(word)), "use base units");
  // Of some families the labels stand within the names of lines.
  const inNames = values.flatMap(({ metricName = "" }) =>
    [...metricName.matchAll(/([A-Za-z0-9_]+)="/g)].map(([, label = ""]) => label),
  );
  const labels = new Set([...inNames, ...values.flatMap(({ labels: found }) => Object.keys(found))]);
  for (const label of labels) {
    check(/[a-z][A-Z]/.test(label), `label ${label} should be written in 'snake_case'`);
    check(!isBucketed && (label === "le" || label === "quantile"), `label ${label} is reserved`);
  }
  return problems;
}
