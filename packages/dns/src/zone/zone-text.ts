import type { TextToken } from "../message/rdata-text.ts";

/** One entry of a master file: a line, or several that parentheses join. */
export interface ZoneEntry {
  readonly line: number;
  /** Whether it starts with a blank, so that the owner is the one before. */
  readonly continued: boolean;
  readonly tokens: readonly TextToken[];
}

/** What is wrong with a master file, and where. */
export interface ZoneFileProblem {
  /** Counted from 1; 0 when the problem is of the whole file. */
  readonly line: number;
  /** One line: what is wrong and what to write instead. */
  readonly message: string;
}

/**
 * Cuts a master file (RFC 1035 §5.1) into entries: comments go, parentheses join lines, quotes and backslashes keep
 * what they cover together.
 */
export function* readEntries(text: string, report: (problem: ZoneFileProblem) => void): Generator<ZoneEntry> {
  let line = 1;
  let at = 0;
  let depth = 0;
  let openedAt = 0;
  let entry = { line, continued: isBlank(text[0]), tokens: [] as TextToken[] };
  while (at < text.length) {
    const character = text[at]!;
    if (character === "\n") {
      at++;
      line++;
      if (depth > 0) continue;
      if (entry.tokens.length > 0) yield entry;
      entry = { line, continued: isBlank(text[at]), tokens: [] };
    } else if (character === ";") {
      while (at < text.length && text[at] !== "\n") at++;
    } else if (isBlank(character) || character === "\r") {
      at++;
    } else if (character === "(") {
      if (depth++ === 0) openedAt = line;
      at++;
    } else if (character === ")") {
      if (depth === 0) report({ line, message: "a ) closes nothing; remove it or add the ( before" });
      depth = Math.max(0, depth - 1);
      at++;
    } else if (character === '"') {
      const end = endOfQuoted(text, at + 1);
      if (end === undefined) {
        report({ line, message: 'a quoted text does not end on its line; add the closing "' });
        while (at < text.length && text[at] !== "\n") at++;
        continue;
      }
      entry.tokens.push({ text: text.slice(at + 1, end), quoted: true });
      at = end + 1;
    } else {
      const start = at;
      while (at < text.length && !/[ \t\r\n;()"]/.test(text[at]!))
        at += text[at] === "\\" && text[at + 1] !== "\n" ? 2 : 1;
      entry.tokens.push({ text: text.slice(start, at), quoted: false });
    }
  }
  if (depth > 0) report({ line: openedAt, message: "a ( is not closed; add the ) behind the last field" });
  else if (entry.tokens.length > 0) yield entry;
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

function endOfQuoted(text: string, start: number): number | undefined {
  for (let at = start; at < text.length && text[at] !== "\n"; at += text[at] === "\\" ? 2 : 1) {
    if (text[at] === '"') return at;
  }
  return undefined;
}
