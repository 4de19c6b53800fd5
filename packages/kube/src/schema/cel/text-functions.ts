import type { Environment } from "@marcbachmann/cel-js";

const sync = { async: false } as const;

/** Characters that one call may produce; `replace` and `join` can multiply what they get. */
const resultCharactersMax = 3 * 1024 * 1024;

/** The string functions that the library lacks (CEL extension `strings`, version 2). */
export function registerTexts(env: Environment): void {
  env.registerFunction(
    "string.charAt(int): string",
    (text: string, at: bigint) => {
      const chars = Array.from(text);
      if (at < 0n || at > BigInt(chars.length)) throw new Error(`index out of range: ${at}`);
      return chars[Number(at)] ?? "";
    },
    sync,
  );
  env.registerFunction("string.replace(string, string): string", (text: string, from: string, to: string) =>
    replaced(text, from, { to, max: Infinity }),
  );
  env.registerFunction(
    "string.replace(string, string, int): string",
    (...[text, from, to, max]: readonly [string, string, string, bigint]) =>
      replaced(text, from, { to, max: max < 0n ? Infinity : Number(max) }),
    sync,
  );
  env.registerFunction(
    "string.reverse(): string",
    (text: string) => Array.from(text).toReversed().join(""),
    sync,
  );
}

function replaced(
  text: string,
  from: string,
  { to, max }: { readonly to: string; readonly max: number },
): string {
  const parts = from === "" ? ["", ...Array.from(text), ""] : text.split(from);
  const times = Math.min(parts.length - 1, max);
  if (text.length + times * to.length > resultCharactersMax) {
    throw new Error(`the result of replace is longer than ${resultCharactersMax} characters`);
  }
  const rest = parts.slice(times + 1);
  const head = parts.slice(0, times + 1).join(to);
  return [head, ...rest].join(from);
}
