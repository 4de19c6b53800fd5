import type { SchemaNode } from "../schema-node.ts";
import type { ValidationRule } from "../structural-schema.ts";
import { ruleEnvironment } from "./cel-environment.ts";
import type { CelType } from "./cel-type.ts";
import { compileRule } from "./compile-rule.ts";
import type { CompiledRule, RuleProblem } from "./compile-rule.ts";
import type { CostMeter } from "./cost-meter.ts";

/** The rules of a node and of the nodes below it. Branches without rules are left out. */
export interface RuleNode {
  readonly node: SchemaNode;
  readonly rules: readonly { readonly rule: CompiledRule; readonly type: CelType }[];
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly additional: RuleNode | undefined;
  readonly items: RuleNode | undefined;
}

/** What compiling the rules of a schema needs to know. */
export interface RuleCompilation {
  readonly isResource: boolean;
  readonly meter: CostMeter;
  /** Told about every rule that does not compile; `path` is that of the schema node inside the schema. */
  readonly onProblem: (path: string, index: number, problem: RuleProblem) => void;
}

/** Compiles all rules of a schema; `undefined` if there are none. */
export function compileRules(
  node: SchemaNode,
  compilation: RuleCompilation,
  path: string = "",
): RuleNode | undefined {
  const below = (child: SchemaNode, at: string): RuleNode | undefined =>
    compileRules(child, { ...compilation, isResource: false }, `${path}${at}`);
  const properties = new Map<string, RuleNode>();
  for (const [name, child] of node.properties) {
    const compiled = below(child, `.properties[${name}]`);
    if (compiled !== undefined) properties.set(name, compiled);
  }
  const additional =
    typeof node.additional === "object" ? below(node.additional, ".additionalProperties") : undefined;
  const items = node.items === undefined ? undefined : below(node.items, ".items");
  const rules = compileOwnRules(node, compilation, path);
  if (rules.length === 0 && properties.size === 0 && additional === undefined && items === undefined) {
    return undefined;
  }
  return { node, rules, properties, additional, items };
}

function compileOwnRules(node: SchemaNode, compilation: RuleCompilation, path: string): RuleNode["rules"] {
  const rules = node.schema["x-kubernetes-validations"] ?? [];
  const environments = new Map<boolean, ReturnType<typeof ruleEnvironment>>();
  const environmentOf = (rule: ValidationRule): ReturnType<typeof ruleEnvironment> => {
    const optionalOldSelf = rule.optionalOldSelf === true;
    const env =
      environments.get(optionalOldSelf) ??
      ruleEnvironment(node, {
        isResource: compilation.isResource,
        optionalOldSelf,
        meter: compilation.meter,
      });
    environments.set(optionalOldSelf, env);
    return env;
  };
  return rules.flatMap((rule, index) => {
    const env = environmentOf(rule);
    const result = compileRule(rule, env);
    if ("compiled" in result) return [{ rule: result.compiled, type: env.selfType }];
    for (const problem of result.problems) compilation.onProblem(path, index, problem);
    return [];
  });
}
