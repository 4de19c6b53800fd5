/**
 * The name under which a rule reaches a field. Fields whose names are no identifiers are escaped: `a.b` is `a__dot__b`, `a-b` is `a__dash__b`,
 * and a word of the language like `in` is `__in__`. `undefined` where no escape helps: rules cannot reach such a field.
 */
export function escapedFieldName(name: string): string | undefined {
  if (reservedWords.has(name)) return `__${name}__`;
  const escaped = name.replace(/__|\.|-|\//g, (part) => escapes[part] ?? part);
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(escaped) ? escaped : undefined;
}

const escapes: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

const reservedWords = new Set([
  ...[
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
  ],
  ...["let", "loop", "package", "namespace", "return", "var", "void", "while"],
]);
