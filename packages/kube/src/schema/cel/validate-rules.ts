import { Optional } from "@marcbachmann/cel-js";
import { deepEqual } from "../../deep-equal.ts";
import { childPath, invalidValue, itemPath, omitted } from "../../field-error.ts";
import { isJsonArray, isJsonObject, jsonText, ownField } from "../../json.ts";
import type { Json } from "../../json.ts";
import type { StatusCause } from "../../status.ts";
import { correlatedItems } from "../correlated-item.ts";
import type { ValuePlace } from "../validate-value.ts";
import { celValue } from "./cel-value.ts";
import type { CelType } from "./cel-type.ts";
import { textOf } from "./compile-rule.ts";
import type { CompiledRule } from "./compile-rule.ts";
import { CostError } from "./cost-meter.ts";
import type { CostMeter } from "./cost-meter.ts";
import { rulePath } from "./rule-path.ts";
import type { RuleNode } from "./rule-node.ts";

/**
 * Every CEL rule that a value breaks: those of the node first, then those below it. `null` is not checked. On an update, a broken rule of an unchanged
 * value is forgiven unless it is a transition rule. Rules stop for the whole object when its cost budget is spent.
 */
export function validateRules(
  value: Json,
  rules: RuleNode,
  place: ValuePlace & { readonly meter: CostMeter },
): StatusCause[] {
  if (value === null || place.meter.objectExhausted) return [];
  const causes = validateOwnRules(value, rules, place);
  const below = (child: Json, childRules: RuleNode, at: ValuePlace): void => {
    causes.push(...validateRules(child, childRules, { ...at, meter: place.meter }));
  };
  if (isJsonArray(value)) {
    const itemRules = rules.items;
    if (itemRules === undefined) return causes;
    const correlated = correlatedItems(place.old, rules.node.schema);
    value.forEach((item, index) =>
      below(item, itemRules, { path: itemPath(place.path, index), old: correlated(item) }),
    );
  } else if (isJsonObject(value)) {
    const oldFields = place.old !== undefined && isJsonObject(place.old) ? place.old : {};
    for (const name of Object.keys(value)) {
      const isProperty = rules.node.properties.has(name);
      const childRules = isProperty ? rules.properties.get(name) : rules.additional;
      if (childRules === undefined) continue;
      const path = isProperty ? childPath(place.path, name) : itemPath(place.path, name);
      below(value[name] ?? null, childRules, { path, old: ownField(oldFields, name) });
    }
  }
  return causes;
}

function validateOwnRules(
  value: Json,
  { rules }: RuleNode,
  place: ValuePlace & { readonly meter: CostMeter },
): StatusCause[] {
  const { old, meter } = place;
  const oldValue = old === null ? undefined : old;
  const unchanged = oldValue !== undefined && deepEqual(value, oldValue);
  const causes: StatusCause[] = [];
  const converted = new Map<CelType, { readonly self: unknown; readonly oldSelf: unknown }>();
  for (const { rule, type } of rules) {
    const isOptional = rule.rule.optionalOldSelf === true;
    if (rule.usesOldSelf && oldValue === undefined && !isOptional) continue;
    if (!rule.usesOldSelf && unchanged) continue;
    const both = converted.get(type) ?? {
      self: celValue(value, type, meter),
      oldSelf: oldValue === undefined ? undefined : celValue(oldValue, type, meter),
    };
    converted.set(type, both);
    const oldSelf = isOptional
      ? both.oldSelf === undefined
        ? Optional.none()
        : Optional.of(both.oldSelf)
      : both.oldSelf;
    const variables = oldSelf === undefined ? { self: both.self } : { self: both.self, oldSelf };
    const failure = runRule(rule, { value, variables, path: place.path, meter });
    if (failure !== undefined) causes.push(failure);
    if (meter.objectExhausted) break;
  }
  return causes;
}

interface RuleRun {
  readonly value: Json;
  readonly variables: { readonly self: unknown; readonly oldSelf?: unknown };
  readonly path: string;
  readonly meter: CostMeter;
}

function runRule(compiled: CompiledRule, run: RuleRun): StatusCause | undefined {
  const { rule } = compiled;
  const ruleText = rule.message === undefined ? rule.rule : `${rule.rule} (${rule.message})`;
  try {
    run.meter.startRule();
    if (compiled.holds(run.variables) === true) return undefined;
  } catch (error) {
    return invalidValue(run.path, shownValue(run.value), failureText(error, { ruleText, meter: run.meter }));
  }
  const expressed = evaluateMessage(compiled, run);
  const detail = expressed ?? rule.message?.trim() ?? `failed rule: ${rule.rule.trim()}`;
  const cause = invalidValue(
    rulePath(run.path, rule.fieldPath),
    expressed === undefined ? shownValue(run.value) : omitted,
    detail,
  );
  return withReason(cause, rule.reason, { detail, value: run.value });
}

function failureText(
  error: unknown,
  { ruleText, meter }: { readonly ruleText: string; readonly meter: CostMeter },
): string {
  if (meter.objectExhausted) {
    return "validation failed due to running out of cost budget, no further validation rules will be run";
  }
  if (error instanceof CostError) {
    return `'operation cancelled: ${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText}`;
  }
  return `${textOf(error)} evaluating rule: ${ruleText}`;
}

/** A message that fails, or comes out empty or with line breaks, is as if it were not there. */
function evaluateMessage(compiled: CompiledRule, run: RuleRun): string | undefined {
  if (compiled.message === undefined) return undefined;
  try {
    run.meter.startRule();
    const message = compiled.message(run.variables);
    if (typeof message !== "string" || message.trim() === "" || message.includes("\n")) return undefined;
    return message.length > messageCharactersMax ? undefined : message.trim();
  } catch {
    return undefined;
  }
}

const messageCharactersMax = 5 * 1024;

/** Objects and lists are shown by their type only: they can be large, and the field path says where they are. */
function shownValue(value: Json): Json {
  if (isJsonArray(value)) return "array";
  return isJsonObject(value) ? "object" : value;
}

function withReason(
  cause: StatusCause,
  reason: CompiledRule["rule"]["reason"],
  { detail, value }: { readonly detail: string; readonly value: Json },
): StatusCause {
  switch (reason) {
    case "FieldValueForbidden":
      return { ...cause, reason, message: `Forbidden: ${detail}` };
    case "FieldValueRequired":
      return { ...cause, reason, message: `Required value: ${detail}` };
    case "FieldValueDuplicate":
      return { ...cause, reason, message: `Duplicate value: ${jsonText(shownValue(value))}` };
    case "FieldValueInvalid":
    case undefined:
      return cause;
  }
}
