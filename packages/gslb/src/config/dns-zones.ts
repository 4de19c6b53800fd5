import { canonicalName } from "../decide/dns-name.ts";
import { zonePairProblem } from "../decide/zone-names.ts";
import type { EnvironmentReader } from "./environment-reader.ts";

/** A zone to create a ZoneDelegation for at the start. */
export interface ConfiguredZone {
  readonly loadBalancedZone: string;
  readonly parentZone: string;
  readonly negativeTtlSeconds: number;
}

const example = "example.com:cloud.example.com:30";

/**
 * Reads `DNS_ZONES`: `parent:zone:negative TTL`, joined by `;`. Spaces around parts and one `;` at the end are fine.
 *
 * @param of every cluster's geo tag and the prefix of name servers' names, whose lengths are checked
 */
export function parseDnsZones(
  reader: EnvironmentReader,
  of: { readonly geoTags: readonly string[]; readonly prefix: string },
): readonly ConfiguredZone[] {
  const text = reader.text("DNS_ZONES").trim().replace(/;$/, "");
  if (text.trim() === "") return [];
  const zones: ConfiguredZone[] = [];
  for (const entry of text.split(";")) {
    const parts = entry.split(":").map((part) => part.trim());
    const [parentZone = "", loadBalancedZone = "", ttl = ""] = parts;
    if (parts.length !== 3 || !/^\d+$/.test(ttl)) {
      reader.refuse(
        "DNS_ZONES",
        `hold entries of the form parent:zone:seconds, for example ${example}`,
        entry.trim(),
      );
      continue;
    }
    const zone = { loadBalancedZone, parentZone, negativeTtlSeconds: Number(ttl) };
    const isTwice = zones.some(
      (each) => canonicalName(each.loadBalancedZone) === canonicalName(loadBalancedZone),
    );
    const problem = isTwice ? `${loadBalancedZone} is named twice` : zonePairProblem(zone, of);
    if (problem === undefined) zones.push(zone);
    else reader.refuse("DNS_ZONES", `name usable zones, for example ${example}: ${problem}`, entry.trim());
  }
  return zones;
}
