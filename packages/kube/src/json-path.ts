import { evaluateSteps } from "./json-path-evaluation.ts";
import { parseJsonPath } from "./json-path-text.ts";
import type { Json } from "./json.ts";

/** A path that is parsed once and evaluated for many objects. */
export type JsonPath = (object: Json) => Json[];

/**
 * Parses a path as printer columns and `kubectl -o jsonpath` have them: `.spec.hosts[0]`, `$.metadata.labels['app.kubernetes.io/name']`,
 * `.status.conditions[?(@.type=="Ready")].status`, `[*]`, `.*`, `..name`, slices `[1:3]`, unions `[0,2]`, with or without `{}` around.
 * Evaluation gives all values that the path selects, in order; none where it leads nowhere.
 *
 * @throws StatusError 400 BadRequest for a path that does not parse; on evaluation 400 if more than `jsonPathVisitsMax` values are visited.
 */
export function compileJsonPath(path: string): JsonPath {
  const steps = parseJsonPath(path);
  return (object) => evaluateSteps(steps, object);
}
