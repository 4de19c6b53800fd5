import type { Random } from "@meridian/runtime";
import type { Application, GslbStrategySpec } from "../fleet/application.ts";
import { chance, integer, pick } from "../fleet/draws.ts";
import { tags, targetsOf, zoneName, type Tag } from "../fleet/fleet-map.ts";

/** The longest threshold that a scenario sets. */
export const thresholdSecondsMax = 30;

export function drawApplications(random: Random): readonly Application[] {
  return Array.from({ length: integer(random, 2, 4) }, (_, index) => {
    const name = `app-${index}`;
    const isWildcard = chance(random, 0.15);
    const base = `${name}.${zoneName}`;
    return {
      name,
      host: isWildcard ? `*.${base}` : base,
      question: isWildcard ? `shop.${base}` : base,
      targets: Object.fromEntries(tags.map((tag) => [tag, drawTargets(random, tag, index)])) as Record<
        Tag,
        readonly string[]
      >,
    };
  });
}

function drawTargets(random: Random, tag: Tag, index: number): readonly string[] {
  const families = pick(random, [
    { v4: 1, v6: 0 },
    { v4: 2, v6: 0 },
    { v4: 1, v6: 1 },
    { v4: 0, v6: 1 },
  ]);
  return targetsOf(tag, index, families);
}

export function drawStrategy(random: Random): GslbStrategySpec {
  const threshold = pick(random, [undefined, 0, 5, 15, thresholdSecondsMax]);
  const common = {
    dnsTtlSeconds: integer(random, 1, 30),
    ...(threshold === undefined ? {} : { splitBrainThresholdSeconds: threshold }),
  };
  switch (integer(random, 0, 4)) {
    case 0:
      return { type: "roundRobin", ...common };
    case 1:
      return { type: "roundRobin", weight: drawWeights(random), ...common };
    case 2:
      return { type: "geoip", ...common };
    default:
      return { type: "failover", primaryGeoTag: pick(random, tags), ...common };
  }
}

/** Weights for all clusters or some; none is zero, since that would take a cluster out of the answer. */
function drawWeights(random: Random): Readonly<Record<string, number>> {
  const weighted = tags.filter(() => chance(random, 0.8));
  return Object.fromEntries(
    (weighted.length > 0 ? weighted : tags).map((tag) => [tag, integer(random, 1, 9)]),
  );
}
