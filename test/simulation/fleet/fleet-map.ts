import type { ClusterPlace, FleetLayout } from "@meridian/meridian";

/** The clusters of the simulated fleet; a cluster's name is its geo tag and its node's name. */
export const tags = ["eu", "us", "za"] as const;
export type Tag = (typeof tags)[number];

export const parentName = "parent";
export const clientName = "client";
export const parentAddress = "10.0.0.53";
export const clientAddress = "10.9.0.1";
export const zoneName = "cloud.example.com";
export const parentZoneName = "example.com";

export function peersOf(tag: Tag): readonly Tag[] {
  return tags.filter((other) => other !== tag);
}

/** Where everything listens: one address and, as in a real fleet, one DNS port for all. */
export const layout: FleetLayout = {
  addressing: { kind: "own-addresses", network: 0 },
  parent: { dns: { address: parentAddress, port: 53 } },
  claim: { address: parentAddress, port: 1 },
  clusters: tags.map(placeOf),
};

export function placeOf(tag: Tag): ClusterPlace {
  const address = `10.${tags.indexOf(tag) + 1}.0.1`;
  return {
    name: tag,
    geoTag: tag,
    apiServer: { address, port: 6443 },
    operator: { address, port: 6444 },
    dns: { address, port: 53 },
  };
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
    ...Array.from({ length: kinds.v4 }, (_, n) => `198.18.${cluster}.${index * 8 + n + 1}`),
    ...Array.from({ length: kinds.v6 }, (_, n) => `2001:db8:${cluster}::${index * 8 + n + 1}`),
  ];
}

/** Whose target it is, by the scheme of `targetsOf`; `undefined` for an address that no cluster has. */
export function ownerOf(target: string): Tag | undefined {
  const match = /^(?:198\.18\.|2001:db8:)([1-3])(?:\.|::)/.exec(target);
  return match === null ? undefined : tags[Number(match[1]) - 1];
}
