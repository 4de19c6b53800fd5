import type { Gslb } from "./gslb.ts";
import type { ObjectKind } from "./object-kind.ts";
import { gslbType, legacyGslbType } from "./resource-types.ts";
import type { ResourceType } from "@meridian/kube";

/** Gslbs of the legacy group, which a cluster may have or not. */
export const legacyGslbs: ObjectKind<Gslb> = {
  group: legacyGslbType.group,
  plural: legacyGslbType.plural,
  kind: legacyGslbType.kind,
  namespaced: legacyGslbType.namespaced,
  versions: [legacyGslbType.version],
};

/** A label of a legacy Gslb by which its user asks to have it made one of the present group. Only the value `true` counts. */
export const migrationRequestedLabel = "k8gb.io/migration-requested";
/** The label that says that it was. Only the value `true` counts. */
export const migratedLabel = "k8gb.io/migrated-to-k8gb-io";
/** Keeps a legacy Gslb until nothing that its successor needs would be collected with it. */
export const migrationFinalizer = "k8gb.io/legacy-migration-protection";

/** Whether it is one of the legacy group. */
export function isLegacy(gslb: Pick<Gslb, "apiVersion">): boolean {
  return gslb.apiVersion?.startsWith(`${legacyGslbType.group}/`) ?? false;
}

/** The type to write it by. */
export function typeOfGslb(gslb: Gslb): ResourceType {
  return isLegacy(gslb) ? legacyGslbType : gslbType;
}

export function isMigrationRequested(legacy: Gslb): boolean {
  return legacy.metadata.labels?.[migrationRequestedLabel] === "true";
}

export function isMigrated(legacy: Gslb): boolean {
  return legacy.metadata.labels?.[migratedLabel] === "true";
}

/** Whether it is about to end, so that nothing is made for it any more: it is being deleted, or another is to follow it. */
export function isEnding(gslb: Gslb): boolean {
  return gslb.metadata.deletionTimestamp !== undefined || (isLegacy(gslb) && isMigrationRequested(gslb));
}
