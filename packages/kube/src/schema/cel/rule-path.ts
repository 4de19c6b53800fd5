import { childPath, itemPath } from "../../field-error.ts";

/**
 * The path that a rule blames: its node's, with the rule's `fieldPath` (`.a.b`, `['k']`) behind it. A field path that does not parse is
 * refused with the schema; here it counts as none.
 */
export function rulePath(path: string, fieldPath: string | undefined): string {
  const steps = fieldPath === undefined ? undefined : parseFieldPath(fieldPath);
  return (steps ?? []).reduce(
    (at, step) =>
      step.quoted && !isIdentifier(step.name) ? itemPath(at, step.name) : childPath(at, step.name),
    path,
  );
}

/** One step of a `fieldPath`. */
export interface FieldPathStep {
  readonly name: string;
  readonly quoted: boolean;
}

/** The steps of a `fieldPath`, or `undefined` if it does not parse. Indexes are not allowed. */
export function parseFieldPath(fieldPath: string): readonly FieldPathStep[] | undefined {
  const steps: FieldPathStep[] = [];
  const step = /\.(?<name>[^.[\]'\s]+)|\['(?<quoted>(?:\\[^]|[^'\\])*)'\]/y;
  for (let at = 0; at < fieldPath.length; at = step.lastIndex) {
    step.lastIndex = at;
    const groups = step.exec(fieldPath)?.groups;
    if (groups === undefined) return undefined;
    const { name, quoted } = groups;
    steps.push(
      name === undefined
        ? { name: (quoted ?? "").replace(/\\([^])/g, "$1"), quoted: true }
        : { name, quoted: false },
    );
  }
  return steps.length === 0 ? undefined : steps;
}

const isIdentifier = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
