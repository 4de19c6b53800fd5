import { canonicalName } from "../decide/dns-name.ts";
import { zonePairProblem, type ZonePair } from "../decide/zone-names.ts";
import type { ZoneDelegation } from "../resources/zone-delegation.ts";

/**
 * The annotation of a ZoneDelegation that names what was delegated for it, as `parent:zone` joined by `;`. It stands before the
 * delegation is written and until it is withdrawn, so a zone or parent that was renamed, even while no operator ran,
 * leaves nothing behind.
 */
export const delegatedAnnotation = "meridian/delegated";

/** The pairs in a ZoneDelegation's annotation, the latest at the end; what cannot be read or names no zone is left out. */
export function delegatedPairs(zone: ZoneDelegation): readonly ZonePair[] {
  const text = zone.metadata.annotations?.[delegatedAnnotation] ?? "";
  return text.split(";").flatMap((entry) => {
    const [parentZone = "", loadBalancedZone = "", ...rest] = entry.split(":");
    const pair = { parentZone, loadBalancedZone };
    return rest.length > 0 || zonePairProblem(pair, { geoTags: [], prefix: "" }) !== undefined ? [] : [pair];
  });
}

/** The text of the annotation; `undefined` where nothing is delegated. */
export function delegatedText(pairs: readonly ZonePair[]): string | undefined {
  const texts = pairs.map(
    (pair) => `${canonicalName(pair.parentZone)}:${canonicalName(pair.loadBalancedZone)}`,
  );
  return texts.length === 0 ? undefined : [...new Set(texts)].join(";");
}

/** Whether two pairs are of the same zone and parent. */
export function samePair(a: ZonePair, b: ZonePair): boolean {
  return delegatedText([a]) === delegatedText([b]);
}
