import type { KubeClient } from "@meridian/controller";
import { isAlreadyExists } from "@meridian/kube";
import type { ConfiguredZone } from "../config/dns-zones.ts";
import { zoneObjectName } from "../decide/zone-names.ts";
import { zoneDelegationType } from "../resources/resource-types.ts";
import type { ZoneDelegation } from "../resources/zone-delegation.ts";

/** The ZoneDelegation of a configured zone. */
function configuredZoneDelegation(zone: ConfiguredZone): ZoneDelegation {
  return {
    apiVersion: `${zoneDelegationType.group}/${zoneDelegationType.version}`,
    kind: zoneDelegationType.kind,
    metadata: { name: zoneObjectName(zone.loadBalancedZone) },
    spec: {
      loadBalancedZone: zone.loadBalancedZone,
      parentZone: zone.parentZone,
      dnsZoneNegTTL: zone.negativeTtlSeconds,
      doFinalize: false,
    },
  };
}

/** Creates the ZoneDelegations of configured zones that are not there. One that exists wins over the configuration. */
export async function createConfiguredZones(
  client: KubeClient,
  zones: readonly ConfiguredZone[],
  options: { readonly exists: (name: string) => boolean; readonly signal: AbortSignal },
): Promise<void> {
  for (const zone of zones) {
    const object = configuredZoneDelegation(zone);
    if (options.exists(object.metadata.name!)) continue;
    try {
      await client.create<ZoneDelegation>(zoneDelegationType, object, { signal: options.signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}
