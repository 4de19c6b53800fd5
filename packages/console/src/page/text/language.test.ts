import assert from "node:assert/strict";
import { test } from "node:test";
import { preferredLanguage } from "./language.ts";

const cases: readonly (readonly [wanted: readonly string[], language: string])[] = [
  [["ja"], "ja"],
  [["ja-JP", "en-US"], "ja"],
  [["en-GB", "ja"], "en"],
  [["de-DE", "JA", "en"], "ja"],
  [["de", "fr"], "en"],
  [["jam"], "en"], // Jamaican Creole
  [[], "en"],
];
for (const [wanted, language] of cases) {
  test(`a browser that wants ${wanted.join(", ") || "nothing"} gets ${language}`, () => {
    assert.equal(preferredLanguage(wanted), language);
  });
}
