import type { Json } from "./json.ts";

export interface TableColumn {
  readonly name: string;
  readonly type: "integer" | "number" | "string" | "boolean" | "date" | string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}
/** Age as kubectl prints it: `5m`, `2d3h`. */
export function humanDuration(ms: number): string {
  return `${Math.floor(ms / 1000)}s`;
}
/** The cell of one printer column for one object. `now` in ms since the epoch is for `date` columns. */
export function tableCell(column: Pick<TableColumn, "type" | "jsonPath">, object: Json, now: number): Json {
  return `${column.jsonPath}${JSON.stringify(object)}${now}`;
}
