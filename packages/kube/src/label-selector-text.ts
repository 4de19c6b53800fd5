import type { LabelRequirement } from "./label-selector.ts";
import { badRequest } from "./status-errors.ts";

/**
 * Parses the grammar of label selectors (apimachinery, `labels.Parse`):
 *
 *     selector    = [ requirement *( "," requirement ) ]
 *     requirement = [ "!" ] key | key ( "=" | "==" | "!=" | ">" | "<" ) [ value ] | key ( "in" | "notin" ) "(" values ")"
 *
 * `in` and `notin` are words only where an operator stands; elsewhere they are keys or values.
 *
 * @throws StatusError 400 BadRequest, saying what was found and what was expected.
 */
export function parseLabelRequirements(text: string): LabelRequirement[] {
  const tokens = tokenize(text);
  const requirements: LabelRequirement[] = [];
  if (tokens.peek() === undefined) return requirements;
  for (;;) {
    requirements.push(parseRequirement(tokens));
    const next = tokens.take();
    if (next === undefined) return requirements;
    if (next !== ",") throw unexpected(next, "',' or 'end of string'");
    if (!isWord(tokens.peek()) && tokens.peek() !== "!") {
      throw unexpected(tokens.peek(), "identifier after ','", { inRequirement: false });
    }
  }
}

interface Tokens {
  peek(): string | undefined;
  take(): string | undefined;
}

/** Whitespace separates; `( ) , ! = == != > <` are tokens of their own; everything else is a word. */
function tokenize(text: string): Tokens {
  const tokens = text.match(/==|!=|[=!<>(),]|[^\s=!<>(),]+/g) ?? [];
  let at = 0;
  return { peek: () => tokens[at], take: () => tokens[at++] };
}

const isWord = (token: string | undefined): token is string =>
  token !== undefined && !/^[=!<>(),]/.test(token);

function parseRequirement(tokens: Tokens): LabelRequirement {
  const negated = tokens.peek() === "!";
  if (negated) tokens.take();
  const key = tokens.take();
  if (!isWord(key)) throw unexpected(key, negated ? "identifier" : "!, identifier, or 'end of string'");
  if (negated) return { key, operator: "!", values: [] };
  const next = tokens.peek();
  if (next === undefined || next === ",") return { key, operator: "exists", values: [] };
  tokens.take();
  switch (next) {
    case "=":
    case "==":
      return { key, operator: "=", values: [parseExactValue(tokens)] };
    case "!=":
    case ">":
    case "<":
      return { key, operator: next, values: [parseExactValue(tokens)] };
    case "in":
    case "notin":
      return { key, operator: next, values: parseValueList(tokens) };
    default:
      throw unexpected(next, "in, notin, =, ==, !=, gt, lt");
  }
}

/** `a=` means the empty value. */
function parseExactValue(tokens: Tokens): string {
  const value = tokens.peek();
  if (value === undefined || value === ",") return "";
  tokens.take();
  if (!isWord(value)) throw unexpected(value, "identifier");
  return value;
}

function parseValueList(tokens: Tokens): string[] {
  const open = tokens.take();
  if (open !== "(") throw unexpected(open, "'('");
  const values = new Set<string>();
  for (;;) {
    // `(a,)` and `()` hold the empty value.
    const value = tokens.peek();
    if (isWord(value)) tokens.take();
    else if (value !== "," && value !== ")") throw unexpected(value, "',', ')' or identifier");
    values.add(isWord(value) ? value : "");
    const next = tokens.take();
    if (next === ")") return [...values];
    if (next !== ",") throw unexpected(next, "',' or ')'");
  }
}

function unexpected(
  found: string | undefined,
  expected: string,
  { inRequirement = true }: { readonly inRequirement?: boolean } = {},
): Error {
  const text = `found '${found ?? ""}', expected: ${expected}`;
  return badRequest(inRequirement ? `unable to parse requirement: ${text}` : text);
}
