import { humanDuration } from "./human-duration.ts";
import { compileJsonPath } from "./json-path.ts";
import type { JsonPath } from "./json-path.ts";
import { jsonText } from "./json.ts";
import type { Json } from "./json.ts";
import { parseTime } from "./timestamp.ts";

/** A column of a table, and where its value stands in the object. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

/** Gives a column's cell for an object; `now` in ms since the epoch is what ages are counted from. */
export type TableCell = (object: Json, now: number) => Json;

/**
 * Prepares a column. A cell is `null` where the object has no value, or one of another type. Type `string` prints any value; `date` prints
 * the age of a timestamp. If the path selects several values, the first counts, as in kube-apiserver.
 *
 * @throws StatusError 400 BadRequest for a path that does not parse.
 */
export function compileTableCell(column: Pick<TableColumn, "type" | "jsonPath">): TableCell {
  const path = compileJsonPath(column.jsonPath);
  return (object, now) => {
    const value = firstValue(path, object);
    return value === undefined ? null : cellOf(value, column.type, now);
  };
}

/** The cell of one column for one object. Use `compileTableCell` for many objects. */
export function tableCell(column: Pick<TableColumn, "type" | "jsonPath">, object: Json, now: number): Json {
  return compileTableCell(column)(object, now);
}

/** A path too expensive for this object leaves the cell empty; the list must not fail for it. */
function firstValue(path: JsonPath, object: Json): Json | undefined {
  try {
    return path(object)[0];
  } catch {
    return undefined;
  }
}

function cellOf(value: Json, type: string, now: number): Json {
  switch (type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? ageOf(value, now) : null;
    default:
      return value === null ? null : typeof value === "string" ? value : jsonText(value);
  }
}

/** How long ago a timestamp is; `<unknown>` for none, `<invalid>` for what is no timestamp or lies ahead. */
export function ageOf(timestamp: string, now: number): string {
  if (timestamp === "") return "<unknown>";
  const ms = parseTime(timestamp);
  return ms === undefined ? "<invalid>" : humanDuration(now - ms);
}
