import { createHash } from "node:crypto";
import { canonicalName } from "../decide/dns-name.ts";
import { zoneObjectName } from "../decide/zone-names.ts";

/**
 * The name of an object about a zone whose `zoneObjectName` another zone has already, as `a.b.example.com` beside
 * `a-b.example.com`: with a digest of the zone's name at the end, so that no third zone has it.
 */
export function apartZoneObjectName(zone: string): string {
  const digest = createHash("sha256").update(canonicalName(zone)).digest("hex");
  return `${zoneObjectName(zone)}-${digest.slice(0, 8)}`;
}
