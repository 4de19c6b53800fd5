import type { HttpHeaders } from "@meridian/runtime";

/**
 * The texts of the warnings that an API server sends beside its answer: a version that will go, a field that it does not
 * know. Warnings with other codes than 299 are the business of proxies (RFC 9111 §5.5, RFC 7234 §5.5.7).
 */
export function warningsOf(headers: HttpHeaders): readonly string[] {
  const value = headers["warning"];
  if (value === undefined) return [];
  return Array.from(value.matchAll(/(?:^|,)\s*299\s+\S+\s+"((?:[^"\\]|\\.)*)"/g), ([, text = ""]) =>
    text.replace(/\\(.)/g, "$1"),
  );
}
