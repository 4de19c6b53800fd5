/** A value that JSON can carry. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. Absent fields are absent, never `undefined`. */
export interface JsonObject {
  readonly [field: string]: Json;
}
