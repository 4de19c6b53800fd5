import { createContext, useContext } from "react";
import type { Context } from "react";
import { english } from "./english.ts";
import { japanese } from "./japanese.ts";
import type { Language } from "./language.ts";
import type { Messages } from "./messages.ts";

/** The texts by language. */
export const messagesOf: Readonly<Record<Language, Messages>> = { en: english, ja: japanese };

/** The language of everything in it. */
export const MessagesContext: Context<Messages> = createContext(english);

/** The texts of the chosen language. */
export function useMessages(): Messages {
  return useContext(MessagesContext);
}
