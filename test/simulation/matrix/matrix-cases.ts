import type { Application, GslbStrategySpec } from "../fleet/application.ts";
import { forTags, targetsOf, zoneName, type Tag } from "../fleet/fleet-map.ts";

/** One strategy with the primary healthy or not; of the other strategies the same cluster is. */
export interface MatrixCase {
  readonly name: string;
  readonly strategy: GslbStrategySpec;
  readonly isPrimaryHealthy: boolean;
}

export const primary: Tag = "eu";

const strategies: readonly (readonly [string, GslbStrategySpec])[] = [
  ["failover", { type: "failover", primaryGeoTag: primary }],
  ["roundRobin", { type: "roundRobin" }],
  ["roundRobin with weights", { type: "roundRobin", weight: { eu: 5, us: 3, za: 2 } }],
  ["geoip", { type: "geoip" }],
];

export const matrixCases: readonly MatrixCase[] = strategies.flatMap(([name, strategy]) =>
  [true, false].map((isPrimaryHealthy) => ({ name, strategy, isPrimaryHealthy })),
);

/** The application of the case with this index. */
export function applicationOf(index: number): Application {
  const name = `app-${index}`;
  const host = `${name}.${zoneName}`;
  const targets = forTags((tag) => targetsOf(tag, index, { v4: 1, v6: 0 }));
  return { name, host, question: host, zone: zoneName, targets };
}
