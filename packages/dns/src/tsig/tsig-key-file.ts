import { DnsError } from "../dns-error.ts";
import { parseTsigKey, type TsigKey } from "./tsig-key.ts";

/**
 * Reads the keys of a file in BIND's form, as `tsig-keygen` writes it: `key "x" { algorithm hmac-sha256; secret "…"; };`,
 * any number of them, with `#`, `//` and `/* *\/` comments.
 *
 * @throws DnsError `BadKey`
 */
export function parseTsigKeyFile(text: string): readonly TsigKey[] {
  const words = wordsOf(text);
  const keys: TsigKey[] = [];
  let at = 0;
  const next = (): string => words[at++] ?? "";
  const expect = (word: string): void => {
    const found = next();
    if (found !== word) throw bad(`${found === "" ? "the end" : found} stands where ${word} should be`);
  };
  while (at < words.length) {
    expect("key");
    const name = next();
    expect("{");
    const fields = new Map<string, string>();
    while (words[at] !== "}") {
      const field = next();
      if (field !== "algorithm" && field !== "secret")
        throw bad(`${field === "" ? "the end" : field} stands where algorithm or secret should be`);
      fields.set(field, next());
      expect(";");
    }
    expect("}");
    expect(";");
    const algorithm = fields.get("algorithm");
    const secret = fields.get("secret");
    if (algorithm === undefined || secret === undefined)
      throw bad(`key ${name} has no ${algorithm === undefined ? "algorithm" : "secret"}`);
    keys.push(parseTsigKey({ name, algorithm, secret }));
  }
  return keys;
}

/** Punctuation, quoted texts without their quotes, and bare words; comments are left out. */
function wordsOf(text: string): string[] {
  const plain = text.replace(/"[^"\n]*"|\/\*[\s\S]*?\*\/|(?:#|\/\/)[^\n]*/g, (found) =>
    found.startsWith('"') ? found : " ",
  );
  return [...plain.matchAll(/"([^"\n]*)"|([{};])|([^\s{};"]+)/g)].map(
    ([, quoted, mark, word]) => quoted ?? mark ?? word!,
  );
}

function bad(problem: string): DnsError {
  return new DnsError(
    "BadKey",
    `${problem}; write keys as: key "name" { algorithm hmac-sha256; secret "base64"; };`,
  );
}
