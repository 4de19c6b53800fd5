import { isJsonObject, ownField, setField } from "./json.ts";
import type { Json } from "./json.ts";

/**
 * Applies a JSON merge patch (RFC 7396): objects merge, `null` removes, everything else replaces. The target is
 * not changed; parts that the patch does not touch are shared with the result.
 */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const result: Record<string, Json> = isJsonObject(target) ? { ...target } : {};
  for (const name of Object.keys(patch)) {
    const change = patch[name] ?? null;
    if (change === null) delete result[name];
    else setField(result, name, applyMergePatch(ownField(result, name), change));
  }
  return result;
}

/** The smallest merge patch that turns one value into another; `{}` if they are equal. */
export function createMergePatch(from: Json, to: Json): Json {
  throw new Error(`not made: ${JSON.stringify(from)} ${JSON.stringify(to)}`);
}
