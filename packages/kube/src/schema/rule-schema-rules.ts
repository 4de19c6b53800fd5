import { invalidValue, notSupported, required } from "../field-error.ts";
import type { StatusCause } from "../status.ts";
import { CostMeter } from "./cel/cost-meter.ts";
import { compileRules } from "./cel/rule-node.ts";
import type { RuleNode } from "./cel/rule-node.ts";
import { parseFieldPath } from "./cel/rule-path.ts";
import { fieldNode } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";
import type { ValidationRule } from "./structural-schema.ts";

/** CEL rules that one schema may have. */
const rulesMax: number = 1_000;

/** Every fault of the CEL rules in a schema: missing parts, unknown reasons, bad field paths, rules that do not compile or compare what has no old value. */
export function validateRuleSchemas(root: SchemaNode, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  let count = 0;
  visit(root, path, (node, at) => {
    const rules = node.schema["x-kubernetes-validations"] ?? [];
    count += rules.length;
    rules.forEach((rule, index) => {
      causes.push(...validateRuleSchema(rule, node, `${at}.x-kubernetes-validations[${index}]`));
    });
  });
  if (count > rulesMax) return [...causes, invalidValue(path, count, `must have at most ${rulesMax} rules`)];
  if (causes.length > 0) return causes;

  const compiled = compileRules(root, {
    isResource: true,
    meter: new CostMeter(),
    onProblem: (at, index, { field, message }) => {
      const rule = ruleAt(root, at, index);
      const text = (field === "rule" ? rule?.rule : rule?.messageExpression) ?? "";
      causes.push(invalidValue(`${path}${at}.x-kubernetes-validations[${index}].${field}`, text, message));
    },
  });
  if (compiled !== undefined) causes.push(...validateTransitions(compiled, { path, correlatable: true }));
  return causes;

  function ruleAt(from: SchemaNode, at: string, index: number): ValidationRule | undefined {
    let found: ValidationRule | undefined;
    visit(from, "", (node, place) => {
      if (place === at) found = node.schema["x-kubernetes-validations"]?.[index];
    });
    return found;
  }
}

function visit(node: SchemaNode, path: string, report: (node: SchemaNode, path: string) => void): void {
  report(node, path);
  for (const [name, child] of node.properties) visit(child, `${path}.properties[${name}]`, report);
  if (typeof node.additional === "object") visit(node.additional, `${path}.additionalProperties`, report);
  if (node.items !== undefined) visit(node.items, `${path}.items`, report);
}

const reasons = ["FieldValueRequired", "FieldValueForbidden", "FieldValueInvalid", "FieldValueDuplicate"];

function validateRuleSchema(rule: ValidationRule, node: SchemaNode, path: string): StatusCause[] {
  const { rule: text = "", message, messageExpression, reason, fieldPath } = rule as Partial<ValidationRule>;
  const causes: StatusCause[] = [];
  if (text.trim() === "") causes.push(required(`${path}.rule`, "rule is not specified"));
  if (message !== undefined && message.trim() === "") {
    causes.push(invalidValue(`${path}.message`, message, "message must be non-empty if specified"));
  } else if (message !== undefined && /[\n\r]/.test(message.trim())) {
    causes.push(invalidValue(`${path}.message`, message, "message must not contain line breaks"));
  } else if (message === undefined && /[\n\r]/.test(text.trim())) {
    causes.push(required(`${path}.message`, "message must be specified if rule contains line breaks"));
  }
  if (messageExpression !== undefined && messageExpression.trim() === "") {
    causes.push(required(`${path}.messageExpression`, "messageExpression must be non-empty if specified"));
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    causes.push(notSupported(`${path}.reason`, reason, reasons));
  }
  if (fieldPath !== undefined) {
    const problem = fieldPathProblem(fieldPath, node);
    if (problem !== undefined) causes.push(invalidValue(`${path}.fieldPath`, fieldPath, problem));
  }
  return causes;
}

function fieldPathProblem(fieldPath: string, node: SchemaNode): string | undefined {
  const steps = parseFieldPath(fieldPath);
  if (steps === undefined) return "fieldPath must be a valid path: a sequence of .name and ['name']";
  let at: SchemaNode | undefined = node;
  for (const { name } of steps) {
    at = at === undefined ? undefined : fieldNode(at, name);
    if (at === undefined) return "fieldPath must be a valid path: does not refer to a valid field";
  }
  return undefined;
}

/** A transition rule needs an old value that is known to be the same thing: items of atomic lists and of sets are not. */
function validateTransitions(
  { node, rules, properties, additional, items }: RuleNode,
  { path, correlatable }: { readonly path: string; readonly correlatable: boolean },
): StatusCause[] {
  const all = node.schema["x-kubernetes-validations"] ?? [];
  const own = correlatable
    ? []
    : rules
        .filter(({ rule }) => rule.usesOldSelf)
        .map(({ rule }) => {
          const at = `${path}.x-kubernetes-validations[${all.indexOf(rule.rule)}].rule`;
          const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${path}`;
          return invalidValue(at, rule.rule.rule, detail);
        });
  const isMapList = node.schema["x-kubernetes-list-type"] === "map";
  return [
    ...own,
    ...Array.from(properties, ([name, child]) =>
      validateTransitions(child, { path: `${path}.properties[${name}]`, correlatable }),
    ).flat(),
    ...(additional === undefined
      ? []
      : validateTransitions(additional, { path: `${path}.additionalProperties`, correlatable })),
    ...(items === undefined
      ? []
      : validateTransitions(items, { path: `${path}.items`, correlatable: correlatable && isMapList })),
  ];
}
