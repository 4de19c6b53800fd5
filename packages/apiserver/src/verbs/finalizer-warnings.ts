import type { Warnings } from "../http/warnings.ts";
import type { ApiObject, ServedResource } from "../resource/definition.ts";

const standardFinalizers: readonly string[] = ["orphan", "foregroundDeletion"];

/** Warns of new finalizers of custom resources that name no domain: another writer may use the same word. */
export function warnOfFinalizers(
  resource: ServedResource,
  change: { readonly object: ApiObject; readonly old: ApiObject | undefined },
  warnings: Warnings,
): void {
  if (!resource.definition.custom) return;
  const before = change.old?.metadata.finalizers ?? [];
  for (const finalizer of change.object.metadata.finalizers ?? []) {
    if (finalizer.includes("/") || standardFinalizers.includes(finalizer) || before.includes(finalizer))
      continue;
    warnings.add(
      `metadata.finalizers: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`,
    );
  }
}
