/** The languages that the page speaks. */
export type Language = "en" | "ja";

/** All of them, as they call themselves. */
export const languageNames: Readonly<Record<Language, string>> = { en: "English", ja: "日本語" };

/** The first language of a browser's list that the page speaks; English if it speaks none of them. Pure. */
export function preferredLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const primary = tag.split("-")[0]?.toLowerCase();
    if (primary === "en" || primary === "ja") return primary;
  }
  return "en";
}
