import { humanDuration, isJsonObject, type Json, ownField, parseTime } from "@meridian/kube";
import { type ApiObject, asJson } from "../definition.ts";
import type { PrinterColumn } from "../printer-column.ts";

/** The value at a path of an object; `undefined` where there is none. */
export function at(object: ApiObject, ...path: readonly string[]): Json | undefined {
  let value: Json | undefined = asJson(object);
  for (const field of path) {
    if (!isJsonObject(value)) return undefined;
    value = ownField(value, field);
  }
  return value;
}

/** A scalar as a text; empty for anything else. */
export function textOf(value: unknown): string {
  return typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : "";
}

/** The value at a path as a text; empty where there is none. */
export function textAt(object: ApiObject, ...path: readonly string[]): string {
  return textOf(at(object, ...path));
}

/** The number at a path of an object; 0 where there is none. */
export function numberAt(object: ApiObject, ...path: readonly string[]): number {
  const value = at(object, ...path);
  return typeof value === "number" ? value : 0;
}

/** The objects of a list; none where there is no list. */
export function objectsAt(
  object: ApiObject,
  ...path: readonly string[]
): readonly { readonly [field: string]: Json }[] {
  const value = at(object, ...path);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** How many fields or items there are. */
export function sizeAt(object: ApiObject, ...path: readonly string[]): number {
  const value = at(object, ...path);
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

/** A text, or what kubectl shows for an empty one. */
export function orNone(text: string): string {
  return text === "" ? "<none>" : text;
}

/** How long ago a time was, as kubectl prints it. */
export function since(time: string, now: number): string {
  const then = parseTime(time);
  return then === undefined ? "<unknown>" : humanDuration(Math.max(0, now - then));
}

/** `a=1,b=2`, as selectors are printed. */
export function labelsText(value: Json | undefined): string {
  if (!isJsonObject(value)) return "<none>";
  return orNone(
    Object.entries(value)
      .map(([label, content]) => `${label}=${textOf(content)}`)
      .join(","),
  );
}

/** A text column whose cell is computed. */
export function textColumn(
  name: string,
  description: string,
  cell: Exclude<PrinterColumn["cell"], string>,
): PrinterColumn {
  return { name, type: "string", description, cell };
}

/** A column that shows the value at a path. */
export function pathColumn(name: string, path: string, description: string): PrinterColumn {
  return { name, type: "string", description, cell: path };
}

/** The column as one that only `kubectl get -o wide` shows. */
export function wide(column: PrinterColumn): PrinterColumn {
  return { ...column, priority: 1 };
}
