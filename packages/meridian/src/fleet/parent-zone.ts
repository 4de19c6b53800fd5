import { nameServerName, playgroundZone, type FleetLayout } from "./fleet-layout.ts";

/**
 * The parent zone's file: it delegates the balanced zone to every cluster, with glue. In a single-address fleet the
 * glue names the one address, and a resolver cannot follow it, since glue carries no port.
 */
export function parentZoneText(layout: FleetLayout): string {
  const { name, parent } = playgroundZone;
  const lines = [
    `$ORIGIN ${parent}.`,
    `$TTL 30`,
    `@ IN SOA ns.${parent}. hostmaster.${parent}. 1 3600 600 86400 30`,
    `@ IN NS ns.${parent}.`,
    `ns IN A ${layout.parent.dns.address}`,
    ...layout.clusters.map((cluster) => `${name}. IN NS ${nameServerName(cluster.geoTag)}.`),
    ...layout.clusters.map((cluster) => `${nameServerName(cluster.geoTag)}. IN A ${cluster.dns.address}`),
  ];
  return `${lines.join("\n")}\n`;
}
