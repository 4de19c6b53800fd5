import { Lexer } from "yaml";

const blank = /^[ \t\r\n]*$/;
/** What the lexer puts in front of a scalar, a document and a flow error. */
const scalarMark = "\u001f";
const otherMarks: ReadonlySet<string> = new Set(["\u0002", "\u0018", "\ufeff"]);

/**
 * Whether collections in a YAML text are nested deeper than `depthMax`, at most (the count errs upwards, to twice the
 * depth). It must be asked before the text is parsed: the parser recurses, and V8 ends the whole process, not the
 * call, where the stack is used up while it compiles a regular expression.
 */
export function isYamlDeeperThan(text: string, depthMax: number): boolean {
  /** Columns at which block collections may be open, from left to right. */
  const columns: number[] = [];
  let column = 0;
  let isLineStart = true;
  let flow = 0;
  /** Block indicators inside flow collections: an error, which the parser nests all the same. */
  let strays = 0;
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (token === scalarMark) {
      isScalar = true;
      continue;
    }
    if (otherMarks.has(token)) continue;
    if (!isScalar && (token === "[" || token === "{")) flow++;
    else if (!isScalar && (token === "]" || token === "}")) flow = Math.max(0, flow - 1);
    else if (flow > 0 && !isScalar && (token === "-" || token === "?")) strays++;
    if (flow === 0) strays = 0;

    if (flow === 0 && !blank.test(token)) {
      if (isLineStart) while ((columns.at(-1) ?? -1) > column) columns.pop();
      if ((columns.at(-1) ?? -1) < column) columns.push(column);
      isLineStart = false;
    }
    // A sequence may stand at the column of the mapping that holds it: two levels.
    if (2 * columns.length + flow + strays > depthMax) return true;

    const lineEnd = token.lastIndexOf("\n");
    if (lineEnd < 0) {
      column += token.length;
    } else {
      column = token.length - lineEnd - 1;
      isLineStart = true;
    }
    isScalar = false;
  }
  return false;
}
