import type { ASTNode } from "@marcbachmann/cel-js";

/** What the names that only rewritten rules may call start with. */
const meteredPrefix: string = "metered";

/** Functions whose implementation in the library has no bound of its own; ours are called instead. */
const replaced: ReadonlyMap<string, string> = new Map([
  ["matches", "meteredMatches"],
  ["duration", "meteredDuration"],
]);

/** Methods that walk their receiver with an expression. */
const walkers = new Set(["all", "exists", "exists_one", "map", "filter"]);
/** Forms whose arguments are no plain values. */
const macros = new Set(["has", "bind", "orValue", "or"]);
/** Names before a dot that are no values: `sets.contains(a, b)`. */
const namespaces = new Set(["cel", "optional", "sets", "google"]);
const readingOperators = new Set(["==", "!=", "in", "+", "<", "<=", ">", ">="]);
const chainedOperators = new Set(["&&", "||"]);

/**
 * Writes an expression anew so that it reports its cost: every list or map that is walked goes through `meteredWalk(range, steps)`, where `steps`
 * is the size of the expression run for each element, and every operand whose size matters through `meteredRead(value)`.
 *
 * For example `self.hosts.all(h, h != '')` becomes `meteredWalk(self.hosts, 4).all(h, (meteredRead(h) != ""))`.
 *
 * The library has a printer too, but it drops the brackets of `a - (b - c)`.
 */
export function meteredText(node: ASTNode): string {
  switch (node.op) {
    case "value":
      return literalText(node.args);
    case "id":
      return node.args;
    case ".":
    case ".?":
      return `${meteredText(node.args[0])}${node.op}${node.args[1]}`;
    case "[]":
      return `${meteredText(node.args[0])}[${meteredText(node.args[1])}]`;
    case "[?]":
      return `${meteredText(node.args[0])}[?${meteredText(node.args[1])}]`;
    case "call":
      return callText(node.args[0], node.args[1]);
    case "rcall":
      return methodText(node.args);
    case "list":
      return `[${node.args.map(meteredText).join(", ")}]`;
    case "map": {
      const entries = node.args.map(([key, value]) => `${meteredText(key)}: ${meteredText(value)}`);
      return `{${entries.join(", ")}}`;
    }
    case "?:": {
      const [condition, then, otherwise] = node.args;
      return `(${meteredText(condition)} ? ${meteredText(then)} : ${meteredText(otherwise)})`;
    }
    case "!_":
      return `(!${meteredText(node.args)})`;
    case "-_":
      return `(-${meteredText(node.args)})`;
    case "==":
    case "!=":
    case "<":
    case "<=":
    case ">":
    case ">=":
    case "in":
    case "+":
    case "-":
    case "*":
    case "/":
    case "%":
    case "&&":
    case "||":
      return binaryText(node.op, node.args);
  }
}

/** The name that an element has while it is asked for a field. */
const elementName = `${meteredPrefix}Element`;

/** True if the expression asks by `has` for a field of what is no chain of names, which the library refuses. */
export function asksElements(node: ASTNode): boolean {
  const isAsking = node.op === "call" && node.args[0] === "has" && node.args[1].some(isOfElement);
  return isAsking || childrenOf(node).some(asksElements);
}

/** For `list[0].field` and `f(x).field`, and not for `self.list.field`. */
function isOfElement(node: ASTNode): boolean {
  if (node.op !== "." && node.op !== ".?") return false;
  const { op } = elementOf(node);
  return op !== "id";
}

/** What the fields at the end of a chain are of: `list[0]` for `list[0].a.b`. */
function elementOf(node: ASTNode): ASTNode {
  return node.op === "." || node.op === ".?" ? elementOf(node.args[0]) : node;
}

/** `has(list[0].a.b)` becomes `cel.bind(meteredElement, list[0], has(meteredElement.a.b))`, which means the same. */
function presenceText(node: ASTNode): string {
  const fields = (at: ASTNode): string =>
    at.op === "." || at.op === ".?" ? `${fields(at.args[0])}${at.op}${at.args[1]}` : "";
  return `cel.bind(${elementName}, ${meteredText(elementOf(node))}, has(${elementName}${fields(node)}))`;
}

/** How many nodes an expression has: the steps of running it once, but for the walks in it. */
function expressionSize(node: ASTNode): number {
  return 1 + childrenOf(node).reduce((sum, child) => sum + expressionSize(child), 0);
}

/** True if the expression names a variable. */
export function mentions(node: ASTNode, variable: string): boolean {
  return (
    (node.op === "id" && node.args === variable) ||
    childrenOf(node).some((child) => mentions(child, variable))
  );
}

/** A name in the expression that only rewritten rules may use, if there is one. */
export function reservedName(node: ASTNode): string | undefined {
  const name =
    node.op === "call" || node.op === "rcall" ? node.args[0] : node.op === "id" ? node.args : undefined;
  if (name?.startsWith(meteredPrefix) === true) return name;
  for (const child of childrenOf(node)) {
    const found = reservedName(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case "value":
    case "id":
      return [];
    case ".":
    case ".?":
      return [node.args[0]];
    case "call":
      return node.args[1];
    case "rcall":
      return [node.args[1], ...node.args[2]];
    case "map":
      return node.args.flat();
    case "!_":
    case "-_":
      return [node.args];
    case "[]":
    case "[?]":
    case "list":
    case "?:":
    case "==":
    case "!=":
    case "<":
    case "<=":
    case ">":
    case ">=":
    case "in":
    case "+":
    case "-":
    case "*":
    case "/":
    case "%":
    case "&&":
    case "||":
      return node.args;
  }
}

function callText(name: string, args: readonly ASTNode[]): string {
  const [presence] = args;
  if (name === "has" && presence !== undefined && isOfElement(presence)) return presenceText(presence);
  const texts = args.map(macros.has(name) ? meteredText : readText);
  return `${replaced.get(name) ?? name}(${texts.join(", ")})`;
}

function methodText([name, receiver, args]: readonly [string, ASTNode, readonly ASTNode[]]): string {
  if (walkers.has(name)) {
    const steps = args.reduce((sum, arg) => sum + expressionSize(arg), 0);
    const range = `meteredWalk(${meteredText(receiver)}, ${steps})`;
    return `${range}.${name}(${args.map(meteredText).join(", ")})`;
  }
  if (macros.has(name)) return `${meteredText(receiver)}.${name}(${args.map(meteredText).join(", ")})`;
  const isNamespace = receiver.op === "id" && namespaces.has(receiver.args);
  const receiverText = isNamespace ? meteredText(receiver) : readText(receiver);
  return `${receiverText}.${replaced.get(name) ?? name}(${args.map(readText).join(", ")})`;
}

function binaryText(op: string, operands: readonly [ASTNode, ASTNode]): string {
  return `(${chainText(op, operands)})`;
}

/** A long chain of one operator stays flat: brackets would nest as deep as the chain is long. */
function chainText(op: string, [left, right]: readonly [ASTNode, ASTNode]): string {
  const operand = readingOperators.has(op) ? readText : meteredText;
  const isChain = left.op === op && chainedOperators.has(op);
  const leftText = isChain ? chainText(op, left.args as [ASTNode, ASTNode]) : operand(left);
  return `${leftText} ${op} ${operand(right)}`;
}

/** Literals and numbers are not worth counting. */
function readText(node: ASTNode): string {
  return node.op === "value" ? meteredText(node) : `meteredRead(${meteredText(node)})`;
}

type Literal = Extract<ASTNode, { readonly op: "value" }>["args"];

function literalText(value: Literal): string {
  if (typeof value === "string") return textLiteral(value);
  if (typeof value === "number") return doubleLiteral(value);
  if (value instanceof Uint8Array) {
    return `b"${Array.from(value, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}"`;
  }
  if (typeof value === "object" && value !== null) return `${value.value}u`;
  return String(value);
}

const doubleLiteral = (value: number): string =>
  /^-?\d+$/.test(String(value)) ? `${value}.0` : String(value);

const textLiteral = (value: string): string =>
  `"${value.replace(/["\\\p{Cc}\u2028\u2029]/gu, (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`)}"`;
