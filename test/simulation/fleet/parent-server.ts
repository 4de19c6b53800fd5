import {
  Authority,
  createRequestPipeline,
  parseTsigKeyFile,
  parseZoneFile,
  serveDns,
  TsigKeyring,
  UpdateServer,
  type Zone,
} from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";
import { k8gbNameServer } from "../k8gb/k8gb-names.ts";
import { parentKeyName, parentKeyText } from "./fleet-keys.ts";
import { dnsAddressesOf, parentAddress, tags, type BalancedZone, type Tag } from "./fleet-map.ts";
import type { FleetSettings } from "./fleet-settings.ts";

/**
 * Starts the DNS server of the zones that delegate to the clusters: on port 53, where resolvers ask, and where clusters ask
 * it as their edge server. It takes updates of each cluster for its own part.
 */
export async function startParentServer(runtime: Runtime, settings: FleetSettings): Promise<Authority> {
  const { random, clock, log } = runtime;
  const authority = new Authority({ random, clock });
  const zones = [...new Set(settings.zones.map((zone) => zone.parent))].map((parent) =>
    parentZone(parent, settings),
  );
  for (const zone of zones) authority.setZone(zone);
  const updates = await UpdateServer.open(runtime, {
    authority,
    zones: zones.map((zone) => ({
      zone,
      journal: `journal-of-${zone.origin}`,
      rules: rulesOf(zone, settings),
    })),
  });
  const keyring = new TsigKeyring();
  keyring.replace(tags.flatMap((tag) => parseTsigKeyFile(parentKeyText(tag))));
  authority.requests = createRequestPipeline({ clock, log, keyring, authority, update: updates.handle });
  const listen = [...new Set([53, settings.edgePort])].map((port) => ({ address: parentAddress, port }));
  await serveDns(runtime, { authority, listen });
  return authority;
}

/** Whether a cluster's part of the delegation is there from the start. */
function isGiven(tag: Tag, settings: FleetSettings): boolean {
  return !settings.dynamicParent || settings.kinds[tag] === "k8gb";
}

function parentZone(parent: string, settings: FleetSettings): Zone {
  const zones = settings.zones.filter((zone) => zone.parent === parent);
  const isInside = ({ name }: BalancedZone): boolean =>
    zones.some((other) => name !== other.name && name.endsWith(`.${other.name}`));
  const given = tags.filter((tag) => isGiven(tag, settings));
  const lines = [
    `$ORIGIN ${parent}.`,
    `$TTL 30`,
    `@ IN SOA ns.${parent}. hostmaster.${parent}. 1 3600 600 86400 30`,
    `@ IN NS ns.${parent}.`,
    `ns IN A ${parentAddress}`,
    // A zone inside of another is reached through that one, whose servers are the same.
    ...zones
      .filter((zone) => !isInside(zone))
      .flatMap((zone) => given.map((tag) => `${zone.name}. IN NS ${k8gbNameServer(zone, tag)}.`)),
    ...zones.flatMap((zone) =>
      given.flatMap((tag) =>
        dnsAddressesOf(tag, settings).map((address) => `${k8gbNameServer(zone, tag)}. IN A ${address}`),
      ),
    ),
  ];
  const { zone, problems = [] } = parseZoneFile(`${lines.join("\n")}\n`);
  if (zone === undefined) throw new Error(problems.map(({ message }) => message).join("; "));
  return zone;
}

/** A cluster's key may change the NS set of the balanced zones, and the addresses of its own server. */
function rulesOf(parent: Zone, settings: FleetSettings): Parameters<UpdateServer["add"]>[0]["rules"] {
  const zones = settings.zones.filter((zone) => zone.parent === parent.origin);
  return tags.flatMap((tag) =>
    zones.flatMap((zone) => [
      { key: parentKeyName(tag), match: "exact" as const, name: zone.name, types: ["NS"] },
      {
        key: parentKeyName(tag),
        match: "exact" as const,
        name: k8gbNameServer(zone, tag),
        types: ["A", "AAAA"],
      },
    ]),
  );
}
