import type { FamilyTargets } from "./address-family.ts";

/** More than a DNS server takes; a Gslb's weights are far below. */
const weightMax = 1_000_000;

/** Targets that share a weight: those of one cluster. */
export interface WeightGroup {
  readonly geoTag: string;
  readonly weight: number;
  readonly targets: readonly string[];
}

/**
 * The labels that carry weights in a DNSEndpoint, one per address: `weight-<tag>-<index>-<weight>: <address>`.
 * A cluster without a weight gets none.
 */
export function weightLabels(
  weights: Readonly<Record<string, number>>,
  targets: ReadonlyMap<string, FamilyTargets>,
  family: keyof FamilyTargets,
): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  for (const [tag, families] of targets) {
    const weight = weights[tag];
    if (weight === undefined) continue;
    for (const [index, target] of families[family].entries())
      labels[`weight-${tag}-${index}-${weight}`] = target;
  }
  return labels;
}

/**
 * The groups in a DNSEndpoint's labels, or `undefined` where it has no weights. Geo tags may contain dashes.
 *
 * Addresses without a label (of clusters that have no weight) form one group with the mean of the given weights, so
 * that an incomplete map neither hides a cluster nor turns weighting off. An address in two groups counts in the first.
 */
export function weightGroups(
  labels: Readonly<Record<string, string>>,
  targets: readonly string[],
): readonly WeightGroup[] | undefined {
  const groups = new Map<string, { geoTag: string; weight: number; targets: string[] }>();
  const remaining = new Set(targets);
  for (const key of Object.keys(labels).sort()) {
    const match = /^weight-(.+)-(\d+)-(\d+)$/i.exec(key);
    const target = labels[key]!;
    if (match === null || !remaining.delete(target)) continue;
    const geoTag = match[1]!;
    const weight = Math.min(weightMax, Number(match[3]));
    const group = groups.get(`${geoTag} ${weight}`) ?? { geoTag, weight, targets: [] };
    groups.set(`${geoTag} ${weight}`, group);
    group.targets.push(target);
  }
  if (groups.size === 0) return undefined;
  const given = [...groups.values()];
  const mean = Math.round(given.reduce((sum, group) => sum + group.weight, 0) / given.length);
  return remaining.size === 0 ? given : [...given, { geoTag: "", weight: mean, targets: [...remaining] }];
}
