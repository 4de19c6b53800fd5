import { RE2JS } from "re2js";

/** A regular expression in RE2 syntax; matching takes time linear in the text, whatever the expression. */
export interface Pattern {
  /** True if the expression matches anywhere in the text. */
  matches(text: string): boolean;
  /** The parts of the text that match, at most `max`. */
  findAll(text: string, max: number): string[];
}

/** A regular expression that does not compile; the message says why. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** Characters of an expression. */
const patternCharactersMax: number = 10_000;

/** @throws PatternError for what RE2 does not take, such as back references and look-around. */
export function compilePattern(pattern: string): Pattern {
  if (pattern.length > patternCharactersMax) {
    throw new PatternError(`the expression is longer than ${patternCharactersMax} characters`);
  }
  const regex = compileRe2(pattern);
  return {
    matches: (text) => regex.test(text),
    findAll: (text, max) => {
      const matcher = regex.matcher(text);
      const found: string[] = [];
      while (found.length < max && matcher.find()) found.push(matcher.group() ?? "");
      return found;
    },
  };
}

function compileRe2(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new PatternError(message, { cause: error });
  }
}
