import { jsonText } from "./json.ts";
import type { Json } from "./json.ts";
import type { StatusCause } from "./status.ts";

/** Path of a child field: `child("spec", "dnsName")` is `spec.dnsName`. An empty parent is the root. */
export function childPath(parent: string, field: string): string {
  return parent === "" ? field : `${parent}.${field}`;
}

/** Path of an array's item, or of a map's entry: `spec.endpoints[0]`, `metadata.labels[app]`. */
export function itemPath(parent: string, key: number | string): string {
  return `${parent}[${key}]`;
}

/** A required value is missing. */
export function required(field: string, detail: string = ""): StatusCause {
  return cause("FieldValueRequired", field, join("Required value", detail));
}

/** A value breaks a rule. Pass `omitted` as the value to keep a long or secret one out of the text. */
export function invalidValue(field: string, value: Json | typeof omitted, detail: string): StatusCause {
  return cause("FieldValueInvalid", field, join(`Invalid value${valueText(value)}`, detail));
}

/** A value is of the wrong type. */
export function invalidType(field: string, value: Json | typeof omitted, detail: string): StatusCause {
  return cause("FieldValueTypeInvalid", field, join(`Invalid value${valueText(value)}`, detail));
}

/** A value is none of the allowed ones. */
export function notSupported(field: string, value: Json, supported: readonly string[]): StatusCause {
  const detail = supported.length === 0 ? "" : `supported values: ${supported.map(goQuote).join(", ")}`;
  return cause("FieldValueNotSupported", field, join(`Unsupported value${valueText(value)}`, detail));
}

/** The field may not be set (here, now, by this request). */
export function forbiddenField(field: string, detail: string): StatusCause {
  return cause("FieldValueForbidden", field, join("Forbidden", detail));
}

/** The value occurs twice where it must be unique. */
export function duplicate(field: string, value: Json): StatusCause {
  return cause("FieldValueDuplicate", field, `Duplicate value${valueText(value)}`);
}

/** The value is longer than allowed. The value itself is kept out of the text. */
export function tooLong(field: string, bytesMax: number): StatusCause {
  const detail = bytesMax >= 0 ? `may not be more than ${bytesMax} bytes` : "value is too long";
  return cause("FieldValueTooLong", field, join("Too long", detail));
}

/** There are more items than allowed. */
export function tooMany(field: string, actual: number, max: number): StatusCause {
  const detail = `must have at most ${max} ${max === 1 ? "item" : "items"}`;
  return cause("FieldValueTooMany", field, join(`Too many: ${actual}`, detail));
}

/** A rule itself failed. */
export function internalFieldError(field: string, detail: string): StatusCause {
  return cause("InternalError", field, join("Internal error", detail));
}

/** Stands for a value that is not shown. */
export const omitted: unique symbol = Symbol("omitted");

/** Quotes text as the API does in messages (that is, as Go's `%q`). */
export function goQuote(text: string): string {
  let out = '"';
  for (const char of text) out += quoteChar(char);
  return `${out}"`;
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

function quoteChar(char: string): string {
  const short = shortEscapes[char];
  if (short !== undefined) return short;
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  if (char === " " || !/[\p{C}\p{Z}]/u.test(char)) return char;
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");

function valueText(value: Json | typeof omitted): string {
  if (value === omitted) return "";
  return typeof value === "string" ? `: ${goQuote(value)}` : `: ${jsonText(value)}`;
}

const join = (head: string, detail: string): string => (detail === "" ? head : `${head}: ${detail}`);

const cause = (reason: string, field: string, message: string): StatusCause => ({
  reason,
  message,
  field: field === "" ? "<nil>" : field,
});
