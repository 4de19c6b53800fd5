import { Environment } from "@marcbachmann/cel-js";
import type { SchemaNode } from "../schema-node.ts";
import { registerAddresses } from "./address-functions.ts";
import { declareCelType } from "./cel-type.ts";
import type { CelType } from "./cel-type.ts";
import type { CostMeter } from "./cost-meter.ts";
import { equalCelValues } from "./equal-cel-values.ts";
import { registerLists } from "./list-functions.ts";
import { registerMeter } from "./meter-functions.ts";
import { registerQuantities } from "./quantity-functions.ts";
import { registerTexts } from "./text-functions.ts";
import { registerUrls } from "./url-functions.ts";

/** What rules of one node are compiled in. */
export interface RuleEnvironment {
  /** Takes rules as they are written. */
  readonly written: Environment;
  /** Takes rules rewritten to report their cost; for rules that have passed `written`. */
  readonly metered: Environment;
  readonly selfType: CelType;
}

/** The depth of brackets in a rule, and its nodes. */
const limits = { maxDepth: 200, maxAstNodes: 20_000 };
const meteredLimits = { maxDepth: 500, maxAstNodes: 60_000 };

/** Declares `self`, `oldSelf` and the functions that kube-apiserver offers to rules. */
export function ruleEnvironment(
  node: SchemaNode,
  options: { readonly isResource: boolean; readonly optionalOldSelf: boolean; readonly meter: CostMeter },
): RuleEnvironment {
  const env = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false, limits });
  const selfType = declareCelType(env, node, options.isResource);
  env.registerVariable("self", selfType.name);
  env.registerVariable("oldSelf", options.optionalOldSelf ? `optional<${selfType.name}>` : selfType.name);
  registerMessageEquality(env, selfType);
  registerTexts(env);
  registerLists(env);
  registerUrls(env);
  registerAddresses(env);
  registerQuantities(env);
  registerMeter(env, options.meter);
  return { written: env, metered: env.clone({ limits: meteredLimits }), selfType };
}

function registerMessageEquality(env: Environment, type: CelType): void {
  if (type.kind === "list") registerMessageEquality(env, type.item);
  if (type.kind === "map") registerMessageEquality(env, type.value);
  if (type.kind !== "message") return;
  env.registerOperator(`${type.name} == ${type.name}`, (a: unknown, b: unknown) => equalCelValues(a, b));
  for (const field of type.fields.values()) registerMessageEquality(env, field.type);
}
