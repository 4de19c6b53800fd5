import { hostNameProblem, isInZone } from "../decide/dns-name.ts";
import { nameServerProblem, zoneOfLocalTargetsZone } from "../decide/zone-names.ts";
import type { ZoneDelegationSpec } from "../resources/zone-delegation.ts";

/** Why a ZoneDelegation cannot be served, or `undefined` where it can. */
export function zoneProblem(
  spec: ZoneDelegationSpec | undefined,
  of: { readonly geoTags: readonly string[]; readonly prefix: string },
): string | undefined {
  if (spec === undefined) return "spec is missing; set loadBalancedZone, parentZone and dnsZoneNegTTL";
  const { loadBalancedZone, parentZone } = spec;
  for (const [field, name] of Object.entries({ loadBalancedZone, parentZone })) {
    const problem = hostNameProblem(name);
    if (problem !== undefined) return `spec.${field} ${name} is no zone name: ${problem}`;
  }
  if (loadBalancedZone === parentZone || !isInZone(loadBalancedZone, parentZone))
    return `spec.loadBalancedZone ${loadBalancedZone} must be below spec.parentZone ${parentZone}`;
  if (zoneOfLocalTargetsZone(loadBalancedZone) !== undefined)
    return `spec.loadBalancedZone ${loadBalancedZone} is what clusters publish to each other; use another name`;
  for (const geoTag of of.geoTags) {
    const problem = nameServerProblem(spec, geoTag, of.prefix);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
