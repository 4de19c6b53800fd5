import { canonicalName, hostNameProblem, isInZone, labelLengthMax, nameLengthMax } from "./dns-name.ts";
import { isPublishable, publishedName } from "./published-host.ts";
import { localTargetsZone } from "./zone-names.ts";

const prefix = "localtargets-";

/**
 * The name under which a cluster publishes its own targets of a host. For a wildcard host it is the literal label:
 * `*.x` gives `localtargets-*.x`, which is no wildcard.
 */
export function localTargetsName(host: string): string {
  return `${prefix}${host}`;
}

/** The host that such a name is of. */
export function hostOfLocalTargetsName(name: string): string {
  return name.slice(prefix.length);
}

/** Whether a name is such a one; case does not matter. */
export function isLocalTargetsName(name: string): boolean {
  return name.slice(0, prefix.length).toLowerCase() === prefix;
}

/**
 * Why a host cannot be balanced: it is no host name, its `localtargets-` name would break a limit of DNS, or peers could
 * not find that name in the host's zone (which may be not known).
 */
export function balancedHostProblem(host: string, zone?: string): string | undefined {
  const problem = hostNameProblem(host);
  if (problem !== undefined) return problem;
  if (isLocalTargetsName(host))
    return `names that start with ${prefix} are what clusters publish to each other`;
  if (zone !== undefined && canonicalName(host) === canonicalName(zone))
    return `it is the zone itself, and ${localTargetsName(host)}, under which its targets would be published, is outside of it; use a name below ${zone}`;
  if (zone !== undefined && isInZone(host, localTargetsZone(zone)))
    return `names in ${localTargetsZone(zone)} are what clusters publish to each other`;
  const name = localTargetsName(host.endsWith(".") ? host.slice(0, -1) : host);
  if (name.length > nameLengthMax)
    return `${name}, under which its targets are published, has ${name.length} characters, and DNS allows ${nameLengthMax}; shorten the host by ${name.length - nameLengthMax}`;
  if (zone !== undefined && !isPublishable(host, zone))
    return `${publishedName(host, zone)}, under which peers are told of it, is longer than DNS allows; use a zone with a shorter name`;
  const first = name.split(".")[0]!;
  if (first.length > labelLengthMax)
    return `${first}, the first label under which its targets are published, has ${first.length} characters, and DNS allows ${labelLengthMax}; shorten the host's first label to ${labelLengthMax - prefix.length}`;
  return undefined;
}
