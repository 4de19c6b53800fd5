import { canonicalName, hostNameProblem, isInZone } from "./dns-name.ts";

/** A load-balanced zone and the zone that delegates it. */
export interface ZonePair {
  readonly loadBalancedZone: string;
  readonly parentZone: string;
}

/**
 * The name of a cluster's DNS server for a zone: `gslb-ns-eu-cloud.example.com` for prefix `gslb-ns-`, tag `eu` and
 * zone `cloud.example.com` under `example.com`. It lies in the parent, which holds its address.
 */
export function nameServerName(zone: ZonePair, geoTag: string, prefix: string): string {
  return `${prefix}${geoTag}-${zonePart(zone)}.${canonicalName(zone.parentZone)}`;
}

/** The geo tags of the name servers among some names, in canonical form; names of other servers are passed over. */
export function geoTagsOfNameServers(
  zone: ZonePair,
  names: Iterable<string>,
  prefix: string,
): readonly string[] {
  const tags = new Set<string>();
  for (const name of names) {
    const tag = geoTagOfNameServer(zone, name, prefix);
    const isOurs = canonicalName(nameServerName(zone, tag, prefix)) === canonicalName(name);
    if (isOurs && /^[\p{L}\p{N}-]+$/u.test(tag)) tags.add(tag);
  }
  return [...tags].sort();
}

/** The geo tag in a name server's name: the reverse of `nameServerName`, for any tag, dashes included. */
export function geoTagOfNameServer(zone: ZonePair, name: string, prefix: string): string {
  let rest = canonicalName(name);
  if (rest.startsWith(prefix.toLowerCase())) rest = rest.slice(prefix.length);
  if (prefix !== defaultNameServerPrefix && rest.startsWith(defaultNameServerPrefix))
    rest = rest.slice(defaultNameServerPrefix.length);
  return rest.replaceAll(`-${zonePart(zone)}.${canonicalName(zone.parentZone)}`, "");
}

/** What name servers' names begin with unless `GLUEA_PREFIX` says otherwise. */
export const defaultNameServerPrefix = "gslb-ns-";

/** Why a cluster's name server cannot be named for a zone, or `undefined` where it can. */
export function nameServerProblem(zone: ZonePair, geoTag: string, prefix: string): string | undefined {
  const name = nameServerName(zone, geoTag, prefix);
  const problem = hostNameProblem(name);
  return problem === undefined ? undefined : `the name server name ${name} cannot be used: ${problem}`;
}

/**
 * Why a zone cannot be served, or `undefined` where it can.
 *
 * @param of every cluster's geo tag and the prefix of name servers' names, whose lengths are checked
 */
export function zonePairProblem(
  { loadBalancedZone, parentZone }: ZonePair,
  of: { readonly geoTags: readonly string[]; readonly prefix: string },
): string | undefined {
  for (const [field, name] of Object.entries({ loadBalancedZone, parentZone })) {
    const problem = hostNameProblem(name);
    if (problem !== undefined) return `${field} ${name} is no zone name: ${problem}`;
  }
  if (
    canonicalName(loadBalancedZone) === canonicalName(parentZone) ||
    !isInZone(loadBalancedZone, parentZone)
  )
    return `loadBalancedZone ${loadBalancedZone} must be below parentZone ${parentZone}`;
  if (isAmongPublished(loadBalancedZone))
    return `loadBalancedZone ${loadBalancedZone} is what clusters publish to each other; use another name`;
  for (const geoTag of of.geoTags) {
    const problem = nameServerProblem({ loadBalancedZone, parentZone }, geoTag, of.prefix);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** What objects about a zone are called: its name with dashes for dots. Two zones may share it. */
export function zoneObjectName(zone: string): string {
  return canonicalName(zone).replaceAll(".", "-");
}

/** The zone in which a cluster publishes what it says of itself; NOTIFYs between clusters are about it. */
export function localTargetsZone(zone: string): string {
  return `_localtargets.${canonicalName(zone)}`;
}

/** The load-balanced zone that a `_localtargets.` zone belongs to, or `undefined` where it is none. */
export function zoneOfLocalTargetsZone(name: string): string | undefined {
  const canonical = canonicalName(name);
  return canonical.startsWith("_localtargets.") ? canonical.slice("_localtargets.".length) : undefined;
}

/** Whether names of a zone would be those under which clusters tell each other what they serve. */
function isAmongPublished(zone: string): boolean {
  const labels = canonicalName(zone).split(".");
  return labels.includes("_localtargets") || labels[0]!.startsWith("localtargets-");
}

function zonePart(zone: ZonePair): string {
  const child = canonicalName(zone.loadBalancedZone);
  const parent = canonicalName(zone.parentZone);
  const part = child.endsWith(`.${parent}`) ? child.slice(0, -(parent.length + 1)) : child;
  return part.replaceAll(".", "-");
}
