/**
 * Why this is no note about an object that could become an Event: the first thing that is wrong. `undefined` if nothing is.
 * Whatever else the server may find, it says when the Event is written.
 */
export function noteProblem(about: unknown, note: unknown): string | undefined {
  if (!isRecord(about))
    return `the object must be one with apiVersion, kind and metadata, not ${textOf(about)}`;
  if (!isRecord(about["metadata"])) return "the object has no metadata";
  const { apiVersion, kind } = about;
  const object: Readonly<Record<string, unknown>> = { ...about["metadata"], apiVersion, kind };
  const ofObject = fieldProblem(object, {
    required: ["apiVersion", "kind", "name"],
    texts: [],
    optional: ["namespace", "uid", "resourceVersion"],
  });
  if (ofObject !== undefined) return `the object's ${ofObject}`;
  const { namespace, name } = object;
  const named = [kind, namespace, name].filter((part) => typeof part === "string").join(" ");
  if (!isRecord(note))
    return `the note about ${named} must have type, reason and message, and is ${textOf(note)}`;
  const { type } = note;
  const ofNote =
    type === "Normal" || type === "Warning"
      ? fieldProblem(note, { required: ["reason"], texts: ["message"], optional: ["action"] })
      : `type must be Normal or Warning, not ${textOf(type)}`;
  return ofNote === undefined ? undefined : `of the note about ${named} the ${ofNote}`;
}

function fieldProblem(
  value: Readonly<Record<string, unknown>>,
  { required, texts, optional }: Readonly<Record<"required" | "texts" | "optional", readonly string[]>>,
): string | undefined {
  const missing = required.find((name) => typeof value[name] !== "string" || value[name] === "");
  if (missing !== undefined)
    return `${missing} must be a text that is not empty, not ${textOf(value[missing])}`;
  const present = optional.filter((name) => value[name] !== undefined);
  const wrong = [...texts, ...present].find((name) => typeof value[name] !== "string");
  return wrong === undefined ? undefined : `${wrong} must be a text, not ${textOf(value[wrong])}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Short, and never of what a value holds. */
function textOf(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  if (Array.isArray(value)) return "a list";
  return value === null || typeof value !== "object" ? String(value) : "an object";
}
