import { canonicalName, isInZone, nameLengthMax } from "./dns-name.ts";
import type { GslbPolicy } from "./gslb-policy.ts";
import type { Strategy } from "./strategy.ts";
import { textHash } from "./text-hash.ts";
import { localTargetsZone } from "./zone-names.ts";

/** How a cluster that carries a host balances it; what its peers need to answer for the host as it does. */
export type PublishedPolicy = Pick<
  GslbPolicy,
  "strategy" | "strategyName" | "ttlSeconds" | "splitBrainThresholdSeconds"
>;

/**
 * The name of a host in the view that a cluster gives of a zone: `app._localtargets.x` for `app.x`. A TXT record there says
 * that the cluster carries the host, address records say where it serves it now.
 *
 * That is one character more than `localtargets-app.x` has. A host for which DNS has no room for it has a name made of its hashes,
 * `-<hash>._localtargets.x`, which no host can have, and is spelled out in the TXT record.
 */
export function publishedName(host: string, zone: string): string {
  const name = canonicalName(host);
  const plain = `${name.slice(0, name.length - canonicalName(zone).length)}${localTargetsZone(zone)}`;
  return plain.length <= nameLengthMax ? plain : `${hashLabel(name)}.${localTargetsZone(zone)}`;
}

/** Whether DNS has room for that name: the zone alone may be too long. */
export function isPublishable(host: string, zone: string): boolean {
  return publishedName(host, zone).length <= nameLengthMax;
}

/** The TXT data under that name: how the host is balanced and, where the name does not tell, which host it is. */
export function publishedText(host: string, zone: string, policyText: string): string {
  const name = publishedName(host, zone);
  return publishedHost(name, zone) === undefined
    ? `${policyText} "${spelling}${canonicalName(host)}"`
    : policyText;
}

/**
 * The host that a name in a zone's view is about; `undefined` for the view's apex and for names outside, and for a name of
 * hashes where `text`, its TXT data, does not spell out the host.
 */
export function publishedHost(name: string, zone: string, text = ""): string | undefined {
  const suffix = `.${localTargetsZone(zone)}`;
  const canonical = canonicalName(name);
  if (!canonical.endsWith(suffix)) return undefined;
  if (!canonical.startsWith("-")) return `${canonical.slice(0, -suffix.length)}.${canonicalName(zone)}`;
  const [host] = stringsOf(text).flatMap((each) =>
    each.startsWith(spelling) ? [each.slice(spelling.length)] : [],
  );
  return host !== undefined && isInZone(host, zone) && publishedName(host, zone) === canonical
    ? host
    : undefined;
}

const spelling = "host=";

function hashLabel(name: string): string {
  const backwards = name.split("").toReversed().join("");
  return `-${textHash(name).toString(36)}-${textHash(backwards).toString(36)}`;
}

function stringsOf(data: string): readonly string[] {
  return [...data.matchAll(/"([^"\\]*)"/g)].map(([, text = ""]) => text);
}

const version = "v=1";
/** A string of a TXT record has at most 255 octets; what needs more names no cluster. */
const valueLengthMax = 200;

/**
 * A carried host's TXT data in presentation form: `"v=1" "strategy=failover" "primary=eu" "threshold=60"`, for weights one
 * `"weight=eu:35"` each. Without a policy, since the spec is invalid, only the version. The TTL is the record's own.
 */
export function publishedPolicyText(policy: PublishedPolicy | undefined): string {
  const parts = [version];
  if (policy !== undefined) {
    const { strategy, strategyName, splitBrainThresholdSeconds: threshold } = policy;
    parts.push(`strategy=${strategyName}`);
    if (strategy.type === "failover") parts.push(`primary=${encoded(strategy.primaryGeoTag)}`);
    if (threshold > 0) parts.push(`threshold=${threshold}`);
    if (strategy.type === "roundRobin")
      for (const [tag, weight] of Object.entries(strategy.weight ?? {}).sort(byTag))
        parts.push(`weight=${encoded(tag)}:${weight}`);
  }
  return parts.map((part) => `"${part}"`).join(" ");
}

/** Reads such TXT data; `undefined` where it says nothing that is understood. */
export function parsePublishedPolicy(data: string, ttlSeconds: number): PublishedPolicy | undefined {
  const parts = stringsOf(data);
  const values = (key: string): readonly string[] =>
    parts.flatMap((part) => (part.startsWith(`${key}=`) ? part.slice(key.length + 1) : []));
  const [strategyName = ""] = values("strategy");
  const strategy = strategyOf(strategyName, values);
  if (!parts.includes(version) || strategy === undefined) return undefined;
  const threshold = Number(values("threshold")[0] ?? 0);
  return {
    strategy,
    strategyName,
    ttlSeconds,
    splitBrainThresholdSeconds: Number.isSafeInteger(threshold) && threshold > 0 ? threshold : 0,
  };
}

function strategyOf(name: string, values: (key: string) => readonly string[]): Strategy | undefined {
  switch (name) {
    case "geoip":
      return { type: "geoip" };
    case "failover":
      return { type: "failover", primaryGeoTag: decoded(values("primary")[0] ?? "") };
    case "roundRobin": {
      const weights = values("weight").flatMap((text): [string, number][] => {
        const [tag = "", weight = ""] = text.split(":");
        return /^\d{1,4}$/.test(weight) ? [[decoded(tag), Number(weight)]] : [];
      });
      return weights.length === 0
        ? { type: "roundRobin" }
        : { type: "roundRobin", weight: Object.fromEntries(weights) };
    }
    default:
      return undefined;
  }
}

function byTag([a]: readonly [string, number], [b]: readonly [string, number]): number {
  return a < b ? -1 : 1;
}

function encoded(text: string): string {
  const value = encodeURIComponent(text);
  return value.length > valueLengthMax ? "" : value;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
