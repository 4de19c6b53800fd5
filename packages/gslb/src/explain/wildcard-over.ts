import type { HostClaims } from "../controllers/host-claims.ts";
import { canonicalName, isInZone } from "../decide/dns-name.ts";

/** The wildcard host next above a name within its zone, and the Gslb that holds it, if there is one. */
export function wildcardOver(
  host: string,
  zone: string,
  claims: Pick<HostClaims, "holder">,
): { readonly host: string; readonly holder: string } | undefined {
  const labels = canonicalName(host).split(".");
  for (let above = 1; above < labels.length; above += 1) {
    const parent = labels.slice(above).join(".");
    if (!isInZone(parent, zone)) return undefined;
    const holder = claims.holder(`*.${parent}`);
    if (holder !== undefined) return { host: `*.${parent}`, holder };
  }
  return undefined;
}
