import type { ReactNode } from "react";
import { ChoiceGroup } from "../parts/choice-group.tsx";
import { languageNames } from "../text/language.ts";
import type { Language } from "../text/language.ts";
import { useMessages } from "../text/messages-context.ts";
import { themes } from "../browser/theme.ts";
import type { Theme } from "../browser/theme.ts";

/** How the page looks, and who hears of another wish. The language is that of the words around. */
export interface TopBarProps {
  readonly onLanguage: (language: Language) => void;
  readonly theme: Theme;
  readonly onTheme: (theme: Theme) => void;
}

/** The name of the page, and how one wants to have it. */
export function TopBar({ onLanguage, onTheme, theme }: TopBarProps): ReactNode {
  const text = useMessages();
  const languages = (Object.keys(languageNames) as Language[]).map((value) => ({
    value,
    text: languageNames[value],
    lang: value,
  }));
  return (
    <header className="top-bar">
      <div>
        <h1>{text.title}</h1>
        <p className="tagline">{text.tagline}</p>
      </div>
      <div className="wishes">
        <ChoiceGroup
          label={text.languageLabel}
          options={languages}
          value={text.language}
          onChoose={onLanguage}
        />
        <ChoiceGroup
          label={text.themeLabel}
          options={themes.map((value) => ({ value, text: text.themes[value] }))}
          value={theme}
          onChoose={onTheme}
        />
      </div>
    </header>
  );
}
