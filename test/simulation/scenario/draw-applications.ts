import type { Random } from "@meridian/runtime";
import type { Application, GslbStrategySpec } from "../fleet/application.ts";
import { chance, integer, pick } from "../fleet/draws.ts";
import type { FleetSettings } from "../fleet/fleet-settings.ts";
import { forTags, tags, targetsOf, zoneName, type Tag } from "../fleet/fleet-map.ts";

/** The longest threshold that a scenario sets. */
export const thresholdSecondsMax = 30;

export function drawApplications(random: Random, settings: FleetSettings): readonly Application[] {
  return Array.from({ length: integer(random, 2, 4) }, (_, index) => {
    const name = `app-${index}`;
    const isWildcard = chance(random, 0.15);
    // The first one's host is in the zone that every fleet has, where others may want it.
    const zone = index === 0 ? zoneName : pick(random, settings.zones).name;
    const base = `${name}.${zone}`;
    return {
      name,
      zone,
      host: isWildcard ? `*.${base}` : base,
      question: isWildcard ? `shop.${base}` : base,
      targets: forTags((tag) => drawTargets(random, tag, index)),
    };
  });
}

function drawTargets(random: Random, tag: Tag, index: number): readonly string[] {
  const families = pick(random, [
    { v4: 1, v6: 0 },
    { v4: 2, v6: 0 },
    { v4: 1, v6: 1 },
    { v4: 0, v6: 1 },
    // More than 512 octets hold, now and then.
    chance(random, 0.1) ? { v4: 40, v6: 0 } : { v4: 2, v6: 2 },
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
    default: {
      // k8gb takes one without a primary, and so do its users.
      const primary = chance(random, 0.9) ? { primaryGeoTag: pick(random, tags) } : {};
      return { type: "failover", ...primary, ...common };
    }
  }
}

/** Weights for all clusters or some; now and then one is zero. */
function drawWeights(random: Random): Readonly<Record<string, number>> {
  const weighted = tags.filter(() => chance(random, 0.8));
  return Object.fromEntries(
    (weighted.length > 0 ? weighted : tags).map((tag) => [
      tag,
      chance(random, 0.15) ? 0 : integer(random, 1, 9),
    ]),
  );
}
