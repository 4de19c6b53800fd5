import type { EventNote } from "@meridian/controller";

/** What a legacy Gslb's migration is decided from. */
export interface MigrationFacts {
  /** `namespace/name` */
  readonly key: string;
  readonly isDeleting: boolean;
  /** The labels of the request and of its end. */
  readonly isRequested: boolean;
  readonly isMigrated: boolean;
  /** The Gslb of the present group and of this name, where there is one. */
  readonly successor?: {
    /** The fields in which it is not what would have been made of the legacy one. */
    readonly differences: readonly string[];
  };
}

/** What to do about a legacy Gslb, in this order. */
export interface MigrationStep {
  readonly finalizer: "keep" | "drop";
  /** Make its successor; the rest follows when it is there. */
  readonly creates: boolean;
  /** What is the successor's from now on must not be collected with the legacy one. */
  readonly handsOver: boolean;
  readonly marksMigrated: boolean;
  /** Whom to edit, for its user; `once` says the same for as long as there is nothing new to tell. */
  readonly tells?: { readonly once: "deprecated" | "replaced" | "orphaned"; readonly note: EventNote };
}

/**
 * Decides the next step of a legacy Gslb. Its successor, wherever it comes from, is never changed; the move is one-way. One
 * that is deleted before anything follows it takes its DNSEndpoint and Ingress along, as every Gslb does.
 */
export function decideMigration(facts: MigrationFacts): MigrationStep {
  const { key, isDeleting, isRequested, isMigrated, successor } = facts;
  const hasSuccessor = successor !== undefined;
  const nothing = { creates: false, handsOver: false, marksMigrated: false } as const;
  if (isDeleting) return { ...nothing, finalizer: "drop", handsOver: hasSuccessor || isMigrated };
  if (isMigrated && !hasSuccessor)
    return { ...nothing, finalizer: "keep", handsOver: true, tells: orphaned(key) };
  if (hasSuccessor)
    return {
      finalizer: isRequested || isMigrated ? "keep" : "drop",
      creates: false,
      handsOver: true,
      marksMigrated: isRequested && !isMigrated,
      tells: { once: "replaced", note: replacedNote(facts, successor.differences) },
    };
  if (isRequested) return { ...nothing, finalizer: "keep", creates: true };
  return { ...nothing, finalizer: "drop", tells: { once: "deprecated", note: deprecatedNote(key) } };
}

function deprecatedNote(key: string): EventNote {
  return {
    type: "Warning",
    reason: "LegacyDeprecated",
    message: `Gslb ${key} is of the deprecated group k8gb.absa.oss; set its label k8gb.io/migration-requested to "true" to have it made a k8gb.io Gslb`,
  };
}

function orphaned(key: string): NonNullable<MigrationStep["tells"]> {
  const message = `Gslb ${key} was migrated and is ignored, and k8gb.io Gslb ${key} is gone: nothing balances its hosts; make that one, or take the label k8gb.io/migrated-to-k8gb-io away from this one`;
  return { once: "orphaned", note: { type: "Warning", reason: "LegacyIgnored", message } };
}

function replacedNote(
  { key, isRequested, isMigrated }: MigrationFacts,
  differences: readonly string[],
): EventNote {
  if (isRequested && !isMigrated && differences.length === 0)
    return {
      type: "Normal",
      reason: "LegacyMigrated",
      message: `migrated to k8gb.io Gslb ${key}; edit that one, and delete this one at any time: its DNSEndpoint and Ingress stay`,
    };
  const differing =
    differences.length === 0 ? "" : ` and stays as it is, with another ${differences.join(", ")}`;
  const message = isMigrated
    ? `ignored, since it was migrated: edit k8gb.io Gslb ${key}`
    : `ignored, since k8gb.io Gslb ${key} already exists${differing}: edit that one`;
  return { type: "Warning", reason: "LegacyIgnored", message };
}
