import { deepEqual } from "./deep-equal.ts";
import { isJsonArray, isJsonObject, ownField } from "./json.ts";
import type { Json } from "./json.ts";
import type { FilterOperand, FilterOperator, JsonPathStep } from "./json-path-text.ts";
import { badRequest } from "./status-errors.ts";

/** Values that one evaluation may visit: a filter over everything in a large object must not hold up the server. */
const jsonPathVisitsMax: number = 100_000;

/** Follows the steps from one value to all that they select. */
export function evaluateSteps(steps: readonly JsonPathStep[], value: Json): Json[] {
  return follow(steps, [value], { left: jsonPathVisitsMax });
}

/** Values that may still be visited, over all parts of one evaluation. */
interface Budget {
  left: number;
}

function follow(steps: readonly JsonPathStep[], start: readonly Json[], budget: Budget): Json[] {
  let values: readonly Json[] = start;
  for (const step of steps) {
    const next: Json[] = [];
    for (const value of values) {
      for (const selected of select(step, value, budget)) {
        next.push(selected);
        if (--budget.left < 0) {
          throw badRequest(`the JSON path selects more than ${jsonPathVisitsMax} values`);
        }
      }
    }
    values = next;
  }
  return [...values];
}

function select(step: JsonPathStep, value: Json, budget: Budget): Json[] {
  switch (step.kind) {
    case "fields":
      return isJsonObject(value)
        ? step.names.map((name) => ownField(value, name)).filter((each) => each !== undefined)
        : [];
    case "everything":
      return childrenOf(value);
    case "descendants":
      return descendantsOf(value);
    case "indexes":
      return isJsonArray(value)
        ? step.indexes.map((index) => value.at(index)).filter((each) => each !== undefined)
        : [];
    case "slice":
      return isJsonArray(value)
        ? value.slice(step.from, step.to).filter((_, index) => index % step.step === 0)
        : [];
    case "filter":
      return childrenOf(value).filter((child) => {
        if (--budget.left < 0) {
          throw badRequest(`the JSON path visits more than ${jsonPathVisitsMax} values`);
        }
        const left = operandValue(step.left, child, budget);
        if (step.operator === undefined || step.right === undefined) return left !== undefined;
        return compare(left, step.operator, operandValue(step.right, child, budget));
      });
  }
}

function childrenOf(value: Json): Json[] {
  if (isJsonArray(value)) return [...value];
  return isJsonObject(value) ? Object.values(value) : [];
}

/** The value itself and everything below it, parents first. The depth is that of the parsed JSON. */
function descendantsOf(value: Json): Json[] {
  const all: Json[] = [];
  const pending: Json[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    all.push(next);
    pending.push(...childrenOf(next).toReversed());
  }
  return all;
}

function operandValue(operand: FilterOperand, item: Json, budget: Budget): Json | undefined {
  return operand.kind === "literal" ? operand.value : follow(operand.steps, [item], budget)[0];
}

function compare(left: Json | undefined, operator: FilterOperator, right: Json | undefined): boolean {
  if (operator === "==") return left !== undefined && deepEqual(left, right);
  if (left === undefined || right === undefined) return false;
  if (operator === "!=") return !deepEqual(left, right);
  if (typeof left !== typeof right || (typeof left !== "number" && typeof left !== "string")) return false;
  const order = left < (right as typeof left) ? -1 : left > (right as typeof left) ? 1 : 0;
  switch (operator) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}
