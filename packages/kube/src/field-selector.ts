import { badRequest } from "./status-errors.ts";

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

/**
 * Parses `metadata.name=a,status.phase!=Running`. In values `\`, `,` and `=` are written with a backslash before them. Which
 * fields exist is for the resource to say, not for this parser.
 *
 * @throws StatusError 400 BadRequest for bad syntax.
 */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = [];
  for (const term of splitTerms(text)) {
    if (term === "") continue;
    const parts = /^(?<field>[^=!]*(?:![^=!]*)*?)(?<operator>!=|==|=)(?<value>.*)$/su.exec(term)?.groups;
    if (parts === undefined) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const { field = "", operator, value = "" } = parts;
    requirements.push({ field, operator: operator === "!=" ? "!=" : "=", value: unescapeValue(value) });
  }
  return { requirements };
}

/** The text form, which `parseFieldSelector` reads back to the same selector. */
export function formatFieldSelector(selector: FieldSelector): string {
  return selector.requirements
    .map(({ field, operator, value }) => `${field}${operator}${value.replace(/[\\,=]/g, "\\$&")}`)
    .join(",");
}

/** True if all conditions hold; `valueOf` gives a field's text, and an absent field counts as empty text. */
export function matchesFields(
  selector: FieldSelector,
  valueOf: (field: string) => string | undefined,
): boolean {
  return selector.requirements.every(
    ({ field, operator, value }) => ((valueOf(field) ?? "") === value) === (operator === "="),
  );
}

/** Splits at commas that no backslash precedes. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === ",") {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...terms, text.slice(start)];
}

function unescapeValue(escaped: string): string {
  let value = "";
  for (let at = 0; at < escaped.length; at++) {
    let char = escaped[at] ?? "";
    if (char === "\\") {
      char = escaped[++at] ?? "";
      if (char !== "\\" && char !== "," && char !== "=") {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${char}`);
      }
    } else if (char === "=") {
      throw badRequest(`invalid field selector: unescaped character in value: ${char}`);
    }
    value += char;
  }
  return value;
}
