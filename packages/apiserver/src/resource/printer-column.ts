import type { ApiObject } from "./definition.ts";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "integer" | "number" | "string" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown; above only with `-o wide`. */
  readonly priority?: number;
  /** What stands in the column: a JSON path, or a function where a path cannot say it. */
  readonly cell: string | ((object: ApiObject, now: number) => string | number | boolean | null);
}
