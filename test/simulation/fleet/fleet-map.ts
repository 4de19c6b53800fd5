import type { ClusterPlace } from "@meridian/meridian";

/** The clusters of the simulated fleet; a cluster's name is its geo tag and its node's name. */
export const tags = ["eu", "us", "za"] as const;
export type Tag = (typeof tags)[number];

/** What a cluster runs. */
export type ClusterKind = "meridian" | "k8gb";

/** A zone that clusters balance, and the zone that delegates it. */
export interface BalancedZone {
  readonly name: string;
  readonly parent: string;
}

export const parentName = "parent";
export const clientName = "client";
export const parentAddress = "10.0.0.53";
export const clientAddress = "10.9.0.1";
/** The zone that every fleet balances. */
export const zoneName = "cloud.example.com";
/** The zones that a fleet may balance: one beside, one inside of another, one under another parent. */
export const balancedZones: readonly BalancedZone[] = [
  { name: zoneName, parent: "example.com" },
  { name: "deep.cloud.example.com", parent: "example.com" },
  { name: "apps.example.org", parent: "example.org" },
];

export function peersOf(tag: Tag): readonly Tag[] {
  return tags.filter((other) => other !== tag);
}

/** One value for each cluster. */
export function forTags<T>(of: (tag: Tag, index: number) => T): Readonly<Record<Tag, T>> {
  return Object.fromEntries(tags.map((tag, index) => [tag, of(tag, index)])) as Record<Tag, T>;
}

export function placeOf(tag: Tag): ClusterPlace {
  const address = `10.${tags.indexOf(tag) + 1}.0.1`;
  return {
    name: tag,
    geoTag: tag,
    apiServer: { address, port: 6443 },
    operator: { address, port: 6444 },
    dns: { address, port: 53 },
    metrics: { address, port: 8080 },
  };
}

/** Where a cluster's DNS server is reached, in the order of text; port 53. */
export function dnsAddressesOf(
  tag: Tag,
  of: { readonly secondAddress: Readonly<Record<Tag, boolean>> },
): readonly string[] {
  const { address } = placeOf(tag).dns;
  return of.secondAddress[tag] ? [address, address.replace(/1$/, "2")] : [address];
}

export function tokenOf(tag: Tag): string {
  return `token-of-${tag}`;
}

/** Addresses at which a cluster serves an application; no two clusters and no two applications share one. */
export function targetsOf(
  tag: Tag,
  index: number,
  kinds: { readonly v4: number; readonly v6: number },
): string[] {
  const cluster = tags.indexOf(tag) + 1;
  return [
    ...Array.from({ length: kinds.v4 }, (_, n) => `198.18.${16 * cluster + index}.${n + 1}`),
    ...Array.from({ length: kinds.v6 }, (_, n) => `2001:db8:${cluster}::${index * 8 + n + 1}`),
  ];
}

/** Whose target it is, by the scheme of `targetsOf`; `undefined` for an address that no cluster has. */
export function ownerOf(target: string): Tag | undefined {
  const match = /^(?:198\.18\.(\d+)\.|2001:db8:([1-3])::)/.exec(target);
  if (match === null) return undefined;
  return tags[(match[1] === undefined ? Number(match[2]) : Number(match[1]) >> 4) - 1];
}

/** The networks in which clients of a site are; the targets of a cluster are at the site of its name. */
export const clientNetworks: Readonly<Record<Tag, string>> = forTags(
  (_tag, index) => `192.0.2.${64 * index}/26`,
);

/** Some client of each site, for its subnet. */
export const siteClients: Readonly<Record<Tag, string>> = forTags(
  (_tag, index) => `192.0.2.${64 * index + 1}`,
);

/** At which site an address is, client or target; `undefined` where nobody knows. */
export function siteOf(address: string): string | undefined {
  const match = /^192\.0\.2\.(\d+)$/.exec(address);
  return match === null ? ownerOf(address) : tags[Number(match[1]) >> 6];
}

/** What `siteOf` says, as the map that Meridian reads. */
export const geoMapText: string = JSON.stringify({
  networks: Object.fromEntries(
    tags.flatMap((tag, index) =>
      [clientNetworks[tag], `198.18.${16 * (index + 1)}.0/20`, `2001:db8:${index + 1}::/48`].map(
        (network) => [network, { datacenter: tag }],
      ),
    ),
  ),
});
