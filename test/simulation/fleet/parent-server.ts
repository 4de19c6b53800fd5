import { Authority, parseZoneFile, serveDns } from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";
import { k8gbNameServer } from "../k8gb/k8gb-names.ts";
import { dnsAddressesOf, parentAddress, tags, type BalancedZone } from "./fleet-map.ts";
import type { FleetSettings } from "./fleet-settings.ts";

/**
 * Starts the DNS server of the zones that delegate to the clusters: on port 53, where resolvers ask, and where clusters ask
 * it as their edge server.
 */
export async function startParentServer(runtime: Runtime, settings: FleetSettings): Promise<void> {
  const authority = new Authority({ random: runtime.random, clock: runtime.clock });
  for (const parent of new Set(settings.zones.map((zone) => zone.parent))) {
    const { zone, problems = [] } = parseZoneFile(parentZoneText(parent, settings));
    if (zone === undefined) throw new Error(problems.map(({ message }) => message).join("; "));
    authority.setZone(zone);
  }
  const listen = [...new Set([53, settings.edgePort])].map((port) => ({ address: parentAddress, port }));
  await serveDns(runtime, { authority, listen });
}

function parentZoneText(parent: string, settings: FleetSettings): string {
  const zones = settings.zones.filter((zone) => zone.parent === parent);
  const isInside = ({ name }: BalancedZone): boolean =>
    zones.some((other) => name !== other.name && name.endsWith(`.${other.name}`));
  const lines = [
    `$ORIGIN ${parent}.`,
    `$TTL 30`,
    `@ IN SOA ns.${parent}. hostmaster.${parent}. 1 3600 600 86400 30`,
    `@ IN NS ns.${parent}.`,
    `ns IN A ${parentAddress}`,
    // A zone inside of another is reached through that one, whose servers are the same.
    ...zones
      .filter((zone) => !isInside(zone))
      .flatMap((zone) => tags.map((tag) => `${zone.name}. IN NS ${k8gbNameServer(zone, tag)}.`)),
    ...zones.flatMap((zone) =>
      tags.flatMap((tag) =>
        dnsAddressesOf(tag, settings).map((address) => `${k8gbNameServer(zone, tag)}. IN A ${address}`),
      ),
    ),
  ];
  return `${lines.join("\n")}\n`;
}
