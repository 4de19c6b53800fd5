import type { KubeClient } from "@meridian/controller";
import { isAlreadyExists, isConflict, isNotFound } from "@meridian/kube";
import type { Logger } from "@meridian/runtime";
import type { ConfiguredZone } from "../config/dns-zones.ts";
import { canonicalName } from "../decide/dns-name.ts";
import { ttlSecondsMax } from "../decide/gslb-policy.ts";
import { zoneObjectName } from "../decide/zone-names.ts";
import { apartZoneObjectName } from "../delegation/apart-zone-object-name.ts";
import { zoneDelegationType } from "../resources/resource-types.ts";
import type { ZoneDelegation, ZoneDelegationSpec } from "../resources/zone-delegation.ts";

/**
 * The annotation of a ZoneDelegation that says which entry of `DNS_ZONES` it was last brought in line with. What the settings
 * change after that is changed in the object; what a person changed in the object stays.
 */
export const configuredZoneAnnotation = "meridian/configured-zone";

/** What the objects are brought in line with. */
export interface ConfiguredZonesOptions {
  readonly client: Pick<KubeClient, "create" | "update">;
  readonly zones: readonly ConfiguredZone[];
  /** The ZoneDelegations that there are. */
  readonly present: () => readonly ZoneDelegation[];
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Creates the ZoneDelegations of configured zones that are not there, and brings those in line whose settings changed. An
 * object that was made otherwise wins over the settings, and is followed once it says the same.
 */
export async function applyConfiguredZones(options: ConfiguredZonesOptions): Promise<void> {
  for (const zone of options.zones) {
    const present = options
      .present()
      .find(
        ({ spec }) => canonicalName(spec?.loadBalancedZone ?? "") === canonicalName(zone.loadBalancedZone),
      );
    try {
      if (present === undefined) await create(zone, options);
      else await bringInLine(present, zone, options);
    } catch (error) {
      // Somebody else was first: what is there now is seen the next time.
      if (!isAlreadyExists(error) && !isConflict(error) && !isNotFound(error)) throw error;
    }
  }
}

/** What works in a ZoneDelegation but probably not as meant; `undefined` where nothing is. */
export function zoneWarning(zone: ZoneDelegation, zones: readonly ConfiguredZone[]): string | undefined {
  const ttl = zone.spec?.dnsZoneNegTTL ?? 0;
  const isTaken = ttl >= 0 && ttl <= ttlSecondsMax;
  const warnings = [
    isTaken
      ? undefined
      : `spec.dnsZoneNegTTL is ${ttl}; a TTL is from 0 to ${ttlSecondsMax}, and the nearest is used`,
    configurationDifference(zone, zones),
  ].filter((warning) => warning !== undefined);
  return warnings.length === 0 ? undefined : warnings.join("; ");
}

/** Why a ZoneDelegation is not what `DNS_ZONES` says, `undefined` where it is or where `DNS_ZONES` says nothing of it. */
export function configurationDifference(
  { spec }: ZoneDelegation,
  zones: readonly ConfiguredZone[],
): string | undefined {
  const zone = zones.find(
    ({ loadBalancedZone }) => canonicalName(loadBalancedZone) === canonicalName(spec?.loadBalancedZone ?? ""),
  );
  if (zone === undefined || spec === undefined) return undefined;
  const wanted = entryOf(specOf(zone));
  return entryOf(spec) === wanted
    ? undefined
    : `DNS_ZONES says ${wanted}, and this object, which wins, ${entryOf(spec)}; make them alike`;
}

async function create(
  zone: ConfiguredZone,
  { client, present, log, signal }: ConfiguredZonesOptions,
): Promise<void> {
  const plain = zoneObjectName(zone.loadBalancedZone);
  const isTaken = present().some(({ metadata }) => metadata.name === plain);
  const spec = specOf(zone);
  const object: ZoneDelegation = {
    apiVersion: `${zoneDelegationType.group}/${zoneDelegationType.version}`,
    kind: zoneDelegationType.kind,
    metadata: {
      name: isTaken ? apartZoneObjectName(zone.loadBalancedZone) : plain,
      annotations: { [configuredZoneAnnotation]: entryOf(spec) },
    },
    spec: { ...spec, doFinalize: false },
  };
  await client.create<ZoneDelegation>(zoneDelegationType, object, { signal });
  log.info("ZoneDelegation saved", { zone: zone.loadBalancedZone });
}

async function bringInLine(
  present: ZoneDelegation,
  zone: ConfiguredZone,
  { client, log, signal }: ConfiguredZonesOptions,
): Promise<void> {
  const { spec, metadata } = present;
  if (spec === undefined || metadata.deletionTimestamp !== undefined) return;
  const wanted = specOf(zone);
  const last = metadata.annotations?.[configuredZoneAnnotation];
  const isSame = entryOf(spec) === entryOf(wanted);
  if (last === entryOf(wanted) || (last === undefined && !isSame)) return;
  const [lastParent, , lastTtl] = (last ?? "").split(":");
  const next: ZoneDelegationSpec = {
    ...spec,
    ...(lastParent === wanted.parentZone ? {} : { parentZone: wanted.parentZone }),
    ...(lastTtl === String(wanted.dnsZoneNegTTL) ? {} : { dnsZoneNegTTL: wanted.dnsZoneNegTTL }),
  };
  const annotations = { ...metadata.annotations, [configuredZoneAnnotation]: entryOf(wanted) };
  const object: ZoneDelegation = { ...present, metadata: { ...metadata, annotations }, spec: next };
  await client.update<ZoneDelegation>(zoneDelegationType, object, { signal });
  log.info("ZoneDelegation saved", { zone: zone.loadBalancedZone });
}

function specOf(zone: ConfiguredZone): ZoneDelegationSpec {
  const { loadBalancedZone, parentZone, negativeTtlSeconds: dnsZoneNegTTL } = zone;
  return { loadBalancedZone, parentZone, dnsZoneNegTTL };
}

function entryOf({ parentZone, loadBalancedZone, dnsZoneNegTTL }: ZoneDelegationSpec): string {
  return `${parentZone}:${loadBalancedZone}:${dnsZoneNegTTL}`;
}
