/** How light the page is: as the system wishes, or as whoever reads it. */
export type Theme = "system" | "light" | "dark";

/** All of them. */
export const themes: readonly Theme[] = ["system", "light", "dark"];

/** Lets the style sheet know; without the attribute it asks the system. */
export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
