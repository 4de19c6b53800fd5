import type { Gslb } from "../resources/gslb.ts";
import type { ServiceHealthPolicy } from "./health.ts";
import type { Strategy } from "./strategy.ts";

/** TTL of answers where a Gslb names none. */
const defaultTtlSeconds = 30;
/** The longest TTL that there is (RFC 2181 §8). */
export const ttlSecondsMax = 2_147_483_647;
const weightMax = 1000;

/** What a Gslb asks for, checked, with defaults filled in. Never written back. */
export interface GslbPolicy {
  readonly strategy: Strategy;
  /** As it stands in the object, for labels and metrics. */
  readonly strategyName: string;
  readonly ttlSeconds: number;
  readonly splitBrainThresholdSeconds: number;
  readonly healthPolicy: ServiceHealthPolicy;
}

/** A rule that a Gslb breaks. */
export interface PolicyProblem {
  readonly field: string;
  /** One line: what is wrong, with its value, and what to write instead. */
  readonly message: string;
}

/** What a Gslb asks for, or every rule that it breaks. */
export type ParsedPolicy =
  | { readonly policy: GslbPolicy; readonly problems?: undefined }
  | { readonly policy?: undefined; readonly problems: readonly PolicyProblem[] };

/** Reads what a Gslb asks for, or reports everything that is wrong with it, whichever clusters there are. */
export function parseGslbPolicy(gslb: Gslb): ParsedPolicy {
  const problems: PolicyProblem[] = [];
  const problem = (field: string, message: string): void => {
    problems.push({ field: `spec.strategy.${field}`, message: `spec.strategy.${field} ${message}` });
  };
  const spec = gslb.spec ?? {};
  const given = spec.strategy ?? {};
  const name = given.type ?? "";

  const ttl = given.dnsTtlSeconds ?? 0;
  if (!Number.isInteger(ttl) || ttl < 0 || ttl > ttlSecondsMax)
    problem(
      "dnsTtlSeconds",
      `is ${ttl}; it must be from 0 to ${ttlSecondsMax} (0 means ${defaultTtlSeconds})`,
    );
  const threshold = given.splitBrainThresholdSeconds ?? 0;
  if (!Number.isInteger(threshold) || threshold < 0)
    problem("splitBrainThresholdSeconds", `is ${threshold}; it must be 0 (off) or more`);

  const weights = Object.entries(given.weight ?? {});
  if (weights.length > 0 && name !== "roundRobin")
    problem("weight", `is only for type roundRobin, and type is ${name}; remove it or change the type`);
  for (const [tag, weight] of weights) {
    if (!/^[a-zA-Z\-\d]+$/.test(tag))
      problem(`weight.${tag}`, "is no geo tag; a tag has only letters, digits and -");
    if (!Number.isInteger(weight) || weight < 0 || weight > weightMax)
      problem(`weight.${tag}`, `is ${weight}; a weight must be from 0 to ${weightMax}`);
  }

  const strategy = strategyOf(name, given.primaryGeoTag ?? "", weights);
  if (strategy === undefined)
    problem(
      "type",
      `is ${JSON.stringify(name)}; it must be roundRobin, failover or geoip (in this spelling)`,
    );
  if (strategy === undefined || problems.length > 0) return { problems };
  const policy: GslbPolicy = {
    strategy,
    strategyName: name,
    ttlSeconds: ttl === 0 ? defaultTtlSeconds : ttl,
    splitBrainThresholdSeconds: threshold,
    healthPolicy: spec.serviceHealthPolicy === "All" ? "All" : "Any",
  };
  return { policy };
}

/**
 * What is wrong with weights in view of the clusters that there are. It is told and stops nothing: a cluster may leave the fleet, or
 * join it, before or after the Gslbs that name it are changed.
 *
 * @param fleet every cluster's tag, the own one included, and whether others may join
 */
export function weightProblems(
  { strategy }: Pick<GslbPolicy, "strategy">,
  { geoTags, isFleetOpen = false }: { readonly geoTags: readonly string[]; readonly isFleetOpen?: boolean },
): readonly string[] {
  if (strategy.type !== "roundRobin" || isFleetOpen) return [];
  return Object.keys(strategy.weight ?? {})
    .filter((tag) => !geoTags.includes(tag))
    .map(
      (tag) =>
        `spec.strategy.weight.${tag} names a cluster that is not in the fleet (${geoTags.join(", ")}), and counts for nothing; remove it or add the cluster`,
    );
}

/** What works but probably not as meant: said in the Accepted condition's message and in an event, never refused. */
export function policyWarnings(
  { strategy }: Pick<GslbPolicy, "strategy">,
  geoTags: readonly string[],
): readonly string[] {
  if (strategy.type !== "failover") return [];
  const primary = strategy.primaryGeoTag;
  if (primary === "")
    return [
      `spec.strategy.primaryGeoTag is not set, so failover acts like roundRobin; name the primary cluster (${geoTags.join(", ")})`,
    ];
  return geoTags.includes(primary)
    ? []
    : [
        `spec.strategy.primaryGeoTag ${primary} is not in the fleet (${geoTags.join(", ")}), so failover acts like roundRobin; name one of them`,
      ];
}

function strategyOf(
  type: string,
  primaryGeoTag: string,
  weights: readonly (readonly [string, number])[],
): Strategy | undefined {
  switch (type) {
    case "roundRobin":
      return weights.length === 0 ? { type } : { type, weight: Object.fromEntries(weights) };
    case "geoip":
      return { type };
    case "failover":
      return { type, primaryGeoTag };
    default:
      return undefined;
  }
}
