import { forbiddenField, invalidValue, notSupported, required } from "./field-error.ts";
import { validateLabelValue, validateQualifiedName } from "./names.ts";
import { parseLabelRequirements } from "./label-selector-text.ts";
import type { StatusCause } from "./status.ts";
import { badRequest, causesText } from "./status-errors.ts";

/** One condition on labels. All requirements of a selector must hold. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "=" | "!=" | "in" | "notin" | "exists" | "!" | ">" | "<";
  readonly values: readonly string[];
}

/** A parsed label selector. No requirement: everything matches. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  /** Set for the selector that matches no object at all. */
  readonly nothing?: true;
}

/** A selector as resources carry it in their spec (meta/v1 LabelSelector). */
export interface LabelSelectorSpec {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/**
 * Parses the text form of a selector: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, `a>1`, `a<1`, joined by
 * commas. Empty text selects everything. Requirements come out ordered by key.
 *
 * @throws StatusError 400 BadRequest for bad syntax, and for keys and values that no label can have.
 */
export function parseLabelSelector(text: string): LabelSelector {
  const requirements = parseLabelRequirements(text);
  for (const requirement of requirements) {
    const causes = validateRequirement(requirement);
    if (causes.length > 0) throw badRequest(`unable to parse requirement: ${causesText(causes)}`);
  }
  return { requirements: byKey(requirements) };
}

/**
 * The selector that a `matchLabels`/`matchExpressions` value means. An absent spec selects nothing, an empty one everything.
 *
 * @throws StatusError 400 BadRequest for an unknown operator and for keys and values that no label can have.
 */
export function labelSelectorFromSpec(spec: LabelSelectorSpec | undefined): LabelSelector {
  if (spec === undefined) return { requirements: [], nothing: true };
  const causes = validateLabelSelectorSpec(spec, "");
  if (causes.length > 0) throw badRequest(`invalid label selector: ${causesText(causes)}`);
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(spec.matchLabels ?? {})) {
    requirements.push({ key, operator: "=", values: [value] });
  }
  for (const { key, operator, values } of spec.matchExpressions ?? []) {
    requirements.push({ key, operator: specOperators[operator] ?? "in", values: values ?? [] });
  }
  return { requirements: byKey(requirements) };
}

/** Every rule that a `matchLabels`/`matchExpressions` value breaks; `path` is where it stands in its object. */
export function validateLabelSelectorSpec(spec: LabelSelectorSpec, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const at = (field: string): string => (path === "" ? field : `${path}.${field}`);
  for (const [key, value] of Object.entries(spec.matchLabels ?? {})) {
    for (const rule of validateQualifiedName(key)) causes.push(invalidValue(at("matchLabels"), key, rule));
    for (const rule of validateLabelValue(value)) causes.push(invalidValue(at("matchLabels"), value, rule));
  }
  (spec.matchExpressions ?? []).forEach((expression, index) => {
    const item = at(`matchExpressions[${index}]`);
    const operator = specOperators[expression.operator];
    if (operator === undefined) {
      causes.push(notSupported(`${item}.operator`, expression.operator, Object.keys(specOperators)));
      return;
    }
    const values = expression.values ?? [];
    const takesValues = operator === "in" || operator === "notin";
    if (takesValues && values.length === 0) {
      causes.push(required(`${item}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    }
    if (!takesValues && values.length > 0) {
      const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      causes.push(forbiddenField(`${item}.values`, detail));
    }
    for (const rule of validateQualifiedName(expression.key)) {
      causes.push(invalidValue(`${item}.key`, expression.key, rule));
    }
    values.forEach((value, at) => {
      for (const rule of validateLabelValue(value)) {
        causes.push(invalidValue(`${item}.values[${at}]`, value, rule));
      }
    });
  });
  return causes;
}

/** True if an object with these labels is selected. */
export function matchesLabels(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  if (selector.nothing === true) return false;
  return selector.requirements.every((requirement) => matchesRequirement(requirement, labels ?? {}));
}

/** The text form, which `parseLabelSelector` reads back to the same selector. The selector of nothing has none. */
export function formatLabelSelector(selector: LabelSelector): string {
  return selector.requirements.map(formatRequirement).join(",");
}

const specOperators: Readonly<Record<string, LabelRequirement["operator"]>> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
};

function matchesRequirement(
  { key, operator, values }: LabelRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "=":
    case "in":
      return value !== undefined && values.includes(value);
    // An object without the label is "not equal" too.
    case "!=":
    case "notin":
      return value === undefined || !values.includes(value);
    case ">":
    case "<": {
      const actual = integerOf(value);
      const limit = integerOf(values[0]);
      if (actual === undefined || limit === undefined) return false;
      return operator === ">" ? actual > limit : actual < limit;
    }
  }
}

function integerOf(text: string | undefined): bigint | undefined {
  return text !== undefined && /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace("+", "")) : undefined;
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case "exists":
      return key;
    case "!":
      return `!${key}`;
    case "in":
    case "notin":
      return `${key} ${operator} (${values.toSorted().join(",")})`;
    case "=":
    case "!=":
    case ">":
    case "<":
      return `${key}${operator}${values[0] ?? ""}`;
  }
}

function validateRequirement({ key, operator, values }: LabelRequirement): StatusCause[] {
  const causes = validateQualifiedName(key).map((rule) => invalidValue("key", key, rule));
  values.forEach((value, index) => {
    if ((operator === ">" || operator === "<") && integerOf(value) === undefined) {
      const rule = "for 'Gt', 'Lt' operators, the value must be an integer";
      causes.push(invalidValue(`values[${index}]`, value, rule));
    }
    for (const rule of validateLabelValue(value)) {
      causes.push(invalidValue(`values[${index}][${key}]`, value, rule));
    }
  });
  return causes;
}

const byKey = (requirements: readonly LabelRequirement[]): LabelRequirement[] =>
  requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
