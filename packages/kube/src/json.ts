/** A value that JSON can carry. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. Absent fields are absent, never `undefined`. */
export interface JsonObject {
  readonly [field: string]: Json;
}

/** True for JSON objects: neither `null`, nor an array, nor a scalar. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for JSON arrays. `Array.isArray` alone does not narrow a readonly union. */
export function isJsonArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/**
 * Reads an own field. Use it wherever the field's name comes from outside: `object[name]` would also find
 * what the prototype has (`constructor`, `toString`).
 */
export function ownField(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * Sets a field of an object under construction. A plain assignment of `__proto__` would change the prototype
 * instead of adding a field.
 */
export function setField(object: Record<string, Json>, name: string, value: Json): void {
  if (name === "__proto__") {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[name] = value;
  }
}

/** The JSON type of a value as schemas name it; whole numbers are `integer`. */
export function jsonTypeOf(
  value: Json,
): "null" | "boolean" | "integer" | "number" | "string" | "array" | "object" {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  // Integers beyond 2^53 reach here as `bigint`, where a server must not lose their last digits.
  if (typeof (value as unknown) === "bigint") return "integer";
  return typeof value === "string" ? "string" : "object";
}

/**
 * JSON text of a value, for messages and for keys. Integers beyond 2^53 may come as `bigint`, which `JSON.stringify`
 * refuses; here they are digits like other numbers.
 */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return textWithIntegers(value);
  }
}

function textWithIntegers(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(textWithIntegers).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${textWithIntegers(field)}`).join(",")}}`;
}
