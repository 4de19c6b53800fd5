import { Duration } from "@marcbachmann/cel-js/evaluator";
import { isJsonArray, isJsonObject } from "../../json.ts";
import type { Json, JsonObject } from "../../json.ts";
import { parseTime } from "../../timestamp.ts";
import { parseGoDuration } from "../duration-text.ts";
import type { CelType } from "./cel-type.ts";
import { textCost } from "./cost-meter.ts";
import type { CostMeter } from "./cost-meter.ts";

/**
 * A JSON value as rules see it: whole numbers as `int`, objects with declared fields as messages, other objects as maps, and texts with a
 * format as timestamps, durations and bytes. A value that does not fit its type is passed as it is, and the rule fails on it.
 */
export function celValue(value: Json, type: CelType, meter: CostMeter): unknown {
  if (isJsonArray(value)) {
    const itemType = type.kind === "list" ? type.item : type.dynamic;
    const list = value.map((item) => celValue(item, itemType, meter));
    meter.sizeOf(list);
    return list;
  }
  if (isJsonObject(value)) return celObject(value, type, meter);
  if (typeof value === "number") {
    const asInteger = type.kind !== "double" && Number.isInteger(value);
    return asInteger ? BigInt(value) : value;
  }
  return typeof value === "string" ? celText(value, type) : value;
}

function celObject(object: JsonObject, type: CelType, meter: CostMeter): unknown {
  if (type.kind !== "message") {
    const valueType = type.kind === "map" ? type.value : type.dynamic;
    const map = new Map(
      Object.keys(object).map((name) => [name, celValue(object[name] ?? null, valueType, meter)]),
    );
    meter.sizeOf(map);
    return map;
  }
  const fields: Record<string, unknown> = {};
  let size = 1;
  for (const [name, field] of type.fields) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (value === undefined || (value === null && !field.nullable)) continue;
    const converted = celValue(value, field.type, meter);
    fields[field.escaped] = converted;
    size +=
      typeof converted === "object" && converted !== null ? meter.sizeOf(converted) : 1 + textCost(converted);
  }
  const message = new type.constructor(fields);
  meter.setSize(message, size);
  return message;
}

function celText(text: string, type: CelType): unknown {
  if (type.kind === "duration") return celDuration(text) ?? text;
  if (type.kind === "bytes") return bytesOf(text);
  if (type.kind !== "timestamp") return text;
  const ms = parseTime(text.length === 10 ? `${text}T00:00:00Z` : text);
  return ms === undefined ? text : new Date(ms);
}

/** A duration as the library has them, or `undefined` for a text that is none. */
export function celDuration(text: string): Duration | undefined {
  const nanoseconds = parseGoDuration(text);
  if (nanoseconds === undefined) return undefined;
  return new Duration(nanoseconds / 1_000_000_000n, Number(nanoseconds % 1_000_000_000n));
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const base64Values: ReadonlyMap<string, number> = new Map(
  Array.from(base64Alphabet, (char, value) => [char, value]),
);

/** This package has neither `Buffer` nor `atob`. Characters outside the alphabet are skipped, as the format was checked before. */
function bytesOf(base64: string): Uint8Array {
  const bytes: number[] = [];
  let bits = 0;
  let bitCount = 0;
  for (const char of base64) {
    const value = base64Values.get(char);
    if (value === undefined) continue;
    bits = ((bits << 6) | value) & 0xffff;
    bitCount += 6;
    if (bitCount < 8) continue;
    bitCount -= 8;
    bytes.push((bits >> bitCount) & 0xff);
  }
  return Uint8Array.from(bytes);
}
