/** One condition on a field; `field` is the label that the resource declares (`metadata.name`, `spec.nodeName`). */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** A parsed field selector. No requirement: everything matches. */
export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[];
}
export function parseFieldSelector(text: string): FieldSelector {
  throw new Error(`not parsed: ${text}`);
}
export function formatFieldSelector(selector: FieldSelector): string {
  return JSON.stringify(selector);
}
/** `valueOf` gives a field's text; absent fields count as empty text. */
export function matchesFields(
  selector: FieldSelector,
  valueOf: (field: string) => string | undefined,
): boolean {
  return selector.requirements.every((r) => ((valueOf(r.field) ?? "") === r.value) === (r.operator === "="));
}
