import { isJsonArray, isJsonObject, jsonText } from "./json.ts";
import type { Json } from "./json.ts";

/** JSON with sorted fields: equal values have equal texts, so sets of values become sets of texts. */
export function canonicalText(value: Json): string {
  if (isJsonArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (!isJsonObject(value)) return jsonText(value);
  const fields = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalText(value[name] ?? null)}`);
  return `{${fields.join(",")}}`;
}
