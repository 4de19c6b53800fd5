import type { BalancedZone } from "../fleet/fleet-map.ts";

const prefix = "gslb-ns-";

/** What k8gb calls the DNS server of a cluster for a zone: dots of the zone's part become dashes. */
export function k8gbNameServer({ name, parent }: BalancedZone, tag: string): string {
  return `${prefix}${tag}-${zonePart(name, parent)}.${parent}`;
}

/** The geo tag in such a name. */
export function k8gbTagOf({ name, parent }: BalancedZone, nameServer: string): string {
  return nameServer.slice(prefix.length).replaceAll(`-${zonePart(name, parent)}.${parent}`, "");
}

/** The first listed zone that the host *contains*, anywhere: k8gb compares no labels. */
export function k8gbZoneOf(host: string, zones: Iterable<BalancedZone>): BalancedZone | undefined {
  for (const zone of zones) if (host.includes(zone.name)) return zone;
  return undefined;
}

function zonePart(name: string, parent: string): string {
  return name.replace(`.${parent}`, "").replaceAll(".", "-");
}
