import type { Language } from "./language.ts";

/** Hours, minutes and seconds, as the reader's clock shows them. */
export function timeOfDay(language: Language): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(language, {
    ...{ hour: "2-digit", minute: "2-digit", second: "2-digit" },
    hourCycle: "h23",
  });
}
