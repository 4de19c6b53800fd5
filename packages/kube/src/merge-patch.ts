import { deepEqual } from "./deep-equal.ts";
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

/**
 * The smallest merge patch that turns one object into another; `{}` if they are equal. A merge patch cannot express a
 * `null` inside the new value; such fields are left out.
 */
export function createMergePatch(from: Json, to: Json): Json {
  if (!isJsonObject(from) || !isJsonObject(to)) return to;
  const patch: Record<string, Json> = {};
  for (const name of Object.keys(from)) if (!Object.hasOwn(to, name)) setField(patch, name, null);
  for (const name of Object.keys(to)) {
    const next = to[name] ?? null;
    const old = ownField(from, name);
    if (old !== undefined && deepEqual(old, next)) continue;
    const both = old !== undefined && isJsonObject(old) && isJsonObject(next);
    setField(patch, name, both ? createMergePatch(old, next) : next);
  }
  return patch;
}
