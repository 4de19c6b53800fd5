import type { ASTNode, ParseResult } from "@marcbachmann/cel-js";
import type { ValidationRule } from "../structural-schema.ts";
import type { RuleEnvironment } from "./cel-environment.ts";
import { asksElements, meteredText, mentions, reservedName } from "./metered-text.ts";

/** Characters of a rule. */
const ruleCharactersMax: number = 10_000;

/** A rule that is ready to run. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** A transition rule: it compares with the old value, and so runs only where there is one. */
  readonly usesOldSelf: boolean;
  readonly holds: Expression;
  readonly message: Expression | undefined;
}

/** Runs an expression for the given variables. */
export type Expression = (variables: { readonly self: unknown; readonly oldSelf?: unknown }) => unknown;

/** Where a rule is wrong, and how. */
export interface RuleProblem {
  readonly field: "rule" | "messageExpression";
  readonly message: string;
}

/** Compiles a rule in the environment of its node; either it is ready, or the problems say why not. */
export function compileRule(
  rule: ValidationRule,
  env: RuleEnvironment,
): { readonly compiled: CompiledRule } | { readonly problems: readonly RuleProblem[] } {
  const holds = compileExpression(rule.rule, env, "bool");
  const message =
    rule.messageExpression === undefined
      ? undefined
      : compileExpression(rule.messageExpression, env, "string");
  const problems: RuleProblem[] = [];
  if ("problem" in holds) problems.push({ field: "rule", message: holds.problem });
  if (message !== undefined && "problem" in message) {
    problems.push({ field: "messageExpression", message: message.problem });
  }
  if ("problem" in holds || (message !== undefined && "problem" in message)) return { problems };
  return {
    compiled: { rule, usesOldSelf: mentions(holds.ast, "oldSelf"), holds: holds.run, message: message?.run },
  };
}

type Compiled = { readonly run: Expression; readonly ast: ASTNode } | { readonly problem: string };

function compileExpression(text: string, env: RuleEnvironment, type: "bool" | "string"): Compiled {
  if (text.length > ruleCharactersMax) {
    return { problem: `compilation failed: the expression is longer than ${ruleCharactersMax} characters` };
  }
  try {
    const written = env.written.parse(text);
    const reserved = reservedName(written.ast);
    if (reserved !== undefined)
      return { problem: `compilation failed: undeclared reference to '${reserved}'` };
    // Checking marks the parsed tree, so the rewritten text is made from a fresh one.
    const metered: ParseResult = env.metered.parse(meteredText(env.written.parse(text).ast));
    const meteredCheck = metered.check();
    // What the library takes in the rewritten form only is checked in that.
    const checked = asksElements(written.ast) ? meteredCheck : written.check();
    if (!checked.valid) return { problem: `compilation failed: ${textOf(checked.error)}` };
    if (checked.type !== type && checked.type !== "dyn") {
      return { problem: `cel expression must evaluate to a ${type === "bool" ? "bool" : "string"}` };
    }
    if (!meteredCheck.valid) return { problem: `compilation failed: ${textOf(meteredCheck.error)}` };
    return { run: (variables) => metered(variables) as unknown, ast: written.ast };
  } catch (error) {
    return { problem: `compilation failed: ${textOf(error)}` };
  }
}

/** The library's errors repeat the source under the message; `summary` is the message alone. */
export function textOf(error: unknown): string {
  if (error instanceof RangeError) return "the expression is nested too deeply";
  if (typeof error === "object" && error !== null && "summary" in error) return String(error.summary);
  return error instanceof Error ? error.message : String(error);
}
