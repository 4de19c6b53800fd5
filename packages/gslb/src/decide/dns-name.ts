/** Limits of a DNS name in text form (RFC 1035 §2.3.4): 255 octets on the wire are 253 characters here. */
export const nameLengthMax = 253;
/** Characters of one label (RFC 1035 §2.3.4). */
export const labelLengthMax = 63;

/** The form in which names are compared: lower case, without the trailing dot. */
export function canonicalName(name: string): string {
  const lower = name.toLowerCase();
  return lower.endsWith(".") ? lower.slice(0, -1) : lower;
}

/** Whether `name` is `zone` or below it, compared label by label and without case: `mycloud.example.com` is not in `cloud.example.com`. */
export function isInZone(name: string, zone: string): boolean {
  const canonical = canonicalName(name);
  const canonicalZone = canonicalName(zone);
  return canonical === canonicalZone || canonical.endsWith(`.${canonicalZone}`);
}

/** The longest of the zones that the name is in, in its own spelling; `undefined` where it is in none. */
export function zoneOf(name: string, zones: Iterable<string>): string | undefined {
  let longest: string | undefined;
  for (const zone of zones) {
    if (isInZone(name, zone) && (longest === undefined || zone.length > longest.length)) longest = zone;
  }
  return longest;
}

/**
 * Why a text cannot be a DNS host name, or `undefined` where it can: letters, digits, hyphens and underscores in labels
 * of 1 to 63 characters, 253 in all. The first label may be `*`.
 */
export function hostNameProblem(host: string): string | undefined {
  const name = host.endsWith(".") ? host.slice(0, -1) : host;
  if (name === "") return "it is empty";
  if (name.length > nameLengthMax) return `it has ${name.length} characters, and DNS allows ${nameLengthMax}`;
  for (const [index, label] of name.split(".").entries()) {
    if (label === "") return "it has an empty label";
    if (label.length > labelLengthMax)
      return `its label ${label} has ${label.length} characters, and DNS allows ${labelLengthMax}`;
    if (index === 0 && label === "*") continue;
    if (!/^[a-zA-Z0-9_]([a-zA-Z0-9_-]*[a-zA-Z0-9_])?$/.test(label))
      return `its label ${label} has characters other than letters, digits, - and _, or a - at an end${hint(label)}`;
  }
  return undefined;
}

function hint(label: string): string {
  return /[^\0-~]/.test(label) ? "; write names of other scripts as xn--..." : "";
}
