import type { LabLogEntry } from "../../lab-state.ts";

/**
 * Versions whose events were taken out of the stream of a copy, and that nothing has brought since: neither a full read, nor another
 * watch from a version before them. Pure.
 */
export function takenOutVersions(copy: string, log: readonly LabLogEntry[]): ReadonlySet<number> {
  const versions = new Set<number>();
  for (const { event } of log) {
    if (!("copy" in event) || event.copy !== copy) continue;
    if (event.code === "everythingRead") versions.clear();
    if (event.code === "eventLostSilently") versions.add(event.version);
    if (event.code !== "caughtUp") continue;
    for (const version of versions) if (version > event.fromVersion) versions.delete(version);
  }
  return versions;
}
