import type { Json } from "./json.ts";

/** All values that a JSON path selects, in order; none where it leads nowhere. @throws StatusError for a path that does not parse. */
export function evaluateJsonPath(path: string, object: Json): Json[] {
  throw new Error(`not evaluated ${path} ${JSON.stringify(object)}`);
}
