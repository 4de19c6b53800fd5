import type { PatchSchema } from "./strategic-merge-patch.ts";

/** The patch schema of a built-in kind (all versions of it); kinds without own merge keys get that of metadata and conditions. */
export function patchSchemaOf(kind: { readonly group: string; readonly kind: string }): PatchSchema {
  throw new Error(`unknown ${kind.kind}`);
}
