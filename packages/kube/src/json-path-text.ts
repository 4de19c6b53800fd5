import type { Json } from "./json.ts";
import { badRequest } from "./status-errors.ts";

/** Characters of a path. */
const jsonPathCharactersMax: number = 4_096;

/** One step of a path. */
export type JsonPathStep =
  | { readonly kind: "fields"; readonly names: readonly string[] }
  | { readonly kind: "everything" }
  | { readonly kind: "descendants" }
  | { readonly kind: "indexes"; readonly indexes: readonly number[] }
  | { readonly kind: "slice"; readonly from?: number; readonly to?: number; readonly step: number }
  | {
      readonly kind: "filter";
      readonly left: FilterOperand;
      readonly operator?: FilterOperator;
      readonly right?: FilterOperand;
    };

export type FilterOperator = "==" | "!=" | "<" | "<=" | ">" | ">=";

/** A side of a filter: a path from the item itself, or a literal. */
export type FilterOperand =
  | { readonly kind: "path"; readonly steps: readonly JsonPathStep[] }
  | { readonly kind: "literal"; readonly value: Json };

/** Parses the text of a path. @throws StatusError 400 BadRequest, with the place of the fault. */
export function parseJsonPath(path: string): readonly JsonPathStep[] {
  if (path.length > jsonPathCharactersMax) {
    throw badRequest(`the JSON path is longer than ${jsonPathCharactersMax} characters`);
  }
  const braced = /^\{(?<inside>[^]*)\}$/.exec(path)?.groups?.["inside"];
  const reader = new PathReader(braced ?? path);
  reader.skip(/[$@]/y);
  // `spec.host` without a dot in front is what people write.
  const first = reader.skip(/[A-Za-z_][^.[\]]*/y);
  const steps = reader.steps();
  if (!reader.atEnd()) throw reader.fault("unexpected text");
  return first === undefined ? steps : [{ kind: "fields", names: [unescapeName(first)] }, ...steps];
}

class PathReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Takes what the sticky pattern matches here. */
  skip(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text)?.[0];
    if (match !== undefined) this.#at += match.length;
    return match;
  }

  fault(what: string): Error {
    return badRequest(`JSON path ${JSON.stringify(this.#text)}: ${what} at character ${this.#at + 1}`);
  }

  steps(): JsonPathStep[] {
    const steps: JsonPathStep[] = [];
    for (;;) {
      if (this.skip(/\.\./y) !== undefined) {
        steps.push({ kind: "descendants" });
        const name = this.skip(fieldName);
        if (name !== undefined) steps.push({ kind: "fields", names: [unescapeName(name)] });
        else if (this.skip(/\*/y) !== undefined) steps.push({ kind: "everything" });
      } else if (this.skip(/\./y) !== undefined) {
        const step = this.#afterDot();
        if (step !== undefined) steps.push(step);
      } else if (this.skip(/\[/y) !== undefined) steps.push(this.#inBrackets());
      else return steps;
    }
  }

  #afterDot(): JsonPathStep | undefined {
    if (this.skip(/\*/y) !== undefined) return { kind: "everything" };
    const name = this.skip(fieldName);
    if (name !== undefined) return { kind: "fields", names: [unescapeName(name)] };
    // `.` alone is the object itself; `.[0]` is allowed.
    if (this.atEnd() || /\[/y.test(this.#text[this.#at] ?? "")) return undefined;
    throw this.fault("a field name is missing");
  }

  #inBrackets(): JsonPathStep {
    if (this.skip(/\s*\*\s*\]/y) !== undefined) return { kind: "everything" };
    if (this.skip(/\s*\?\(/y) !== undefined) return this.#filter();
    const quoted = this.skip(quotedList);
    if (quoted !== undefined) {
      const names = [...quoted.matchAll(/'((?:\\[^]|[^'\\])*)'|"((?:\\[^]|[^"\\])*)"/g)];
      return { kind: "fields", names: names.map((match) => unescapeName(match[1] ?? match[2] ?? "")) };
    }
    const list = this.skip(/\s*-?\d{1,9}\s*(?:,\s*-?\d{1,9}\s*)*\]/y);
    if (list !== undefined) {
      return { kind: "indexes", indexes: list.slice(0, -1).split(",").map(Number) };
    }
    const slice = this.skip(/\s*(?:-?\d{1,9})?\s*:\s*(?:-?\d{1,9})?\s*(?::\s*(?:\d{1,9})?\s*)?\]/y);
    if (slice !== undefined) return sliceStep(slice.slice(0, -1));
    throw this.fault("an index, a slice, a quoted name, * or a filter is missing");
  }

  #filter(): JsonPathStep {
    const left = this.#operand();
    const operator = this.skip(/\s*(?:==|!=|<=|>=|<|>)\s*/y)?.trim() as FilterOperator | undefined;
    const right = operator === undefined ? undefined : this.#operand();
    if (this.skip(/\s*\)\s*\]/y) === undefined) throw this.fault("the filter is not closed by )]");
    if (operator === undefined || right === undefined) return { kind: "filter", left };
    return { kind: "filter", left, operator, right };
  }

  #operand(): FilterOperand {
    this.skip(/\s*/y);
    if (this.skip(/@/y) !== undefined) return { kind: "path", steps: this.steps() };
    const text = this.skip(/'(?:\\[^]|[^'\\])*'|"(?:\\[^]|[^"\\])*"/y);
    if (text !== undefined) return { kind: "literal", value: unescapeName(text.slice(1, -1)) };
    const number = this.skip(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
    if (number !== undefined) return { kind: "literal", value: Number(number) };
    const word = this.skip(/true|false|null/y);
    if (word !== undefined) return { kind: "literal", value: JSON.parse(word) as Json };
    throw this.fault("an operand of the filter is missing");
  }
}

/** A name after a dot; `\.` is a dot inside the name. */
const fieldName = /(?:\\[^]|[^.[\]\s*(){}'"\\=!<>?,:])+/y;
const quotedList =
  /\s*(?:'(?:\\[^]|[^'\\])*'|"(?:\\[^]|[^"\\])*")\s*(?:,\s*(?:'(?:\\[^]|[^'\\])*'|"(?:\\[^]|[^"\\])*")\s*)*\]/y;

const unescapeName = (text: string): string => text.replace(/\\([^])/g, "$1");

function sliceStep(text: string): JsonPathStep {
  const [from = "", to = "", step = ""] = text.split(":").map((part) => part.trim());
  return {
    kind: "slice",
    ...(from === "" ? {} : { from: Number(from) }),
    ...(to === "" ? {} : { to: Number(to) }),
    step: Math.max(1, step === "" ? 1 : Number(step)),
  };
}
