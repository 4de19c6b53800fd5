import { useEffect, useLayoutEffect, useRef } from "react";
import type { ReactNode } from "react";
import type { LabState } from "../lab-state.ts";
import { About } from "./panels/about.tsx";
import { Announcer } from "./panels/announcer.tsx";
import { Copies } from "./panels/copies.tsx";
import { Log, NewestLine } from "./panels/log.tsx";
import { Notices } from "./panels/notices.tsx";
import { SmallController } from "./panels/small-controller.tsx";
import { Story } from "./panels/story.tsx";
import { TopBar } from "./panels/top-bar.tsx";
import { Truth } from "./panels/truth.tsx";
import { VersionScore } from "./panels/version-score.tsx";
import { LabDeskProvider } from "./stream/lab-desk.tsx";
import { useLabStream } from "./stream/use-lab-stream.ts";
import { preferredLanguage } from "./text/language.ts";
import type { Language } from "./text/language.ts";
import { MessagesContext, messagesOf } from "./text/messages-context.ts";
import { useChoice } from "./browser/use-choice.ts";
import { useStoryPlace } from "./browser/use-story-place.ts";
import { keepFocus } from "./browser/keep-focus.ts";
import { applyTheme, themes } from "./browser/theme.ts";
import type { Theme } from "./browser/theme.ts";

/** The whole page. */
export function LabPage(): ReactNode {
  const [language, setLanguage] = useChoice<Language>("language", {
    among: ["en", "ja"],
    first: () => preferredLanguage(navigator.languages),
  });
  const [theme, setTheme] = useChoice<Theme>("theme", { among: themes, first: () => "system" });
  const text = messagesOf[language];
  const { link, sinceMs, state } = useLabStream();
  const root = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    document.documentElement.lang = language;
    document.title = text.title;
  }, [language, text]);
  useLayoutEffect(() => applyTheme(theme), [theme]);
  useEffect(() => (root.current === null ? undefined : keepFocus(root.current)), []);

  return (
    <MessagesContext value={text}>
      <LabDeskProvider>
        <div className="page" ref={root} data-link={link}>
          <a className="skip" href="#lab">
            {text.skipToLab}
          </a>
          <TopBar onLanguage={setLanguage} theme={theme} onTheme={setTheme} />
          <main>
            <Notices link={link} sinceMs={sinceMs} />
            <Announcer state={state} />
            {state !== undefined && <Bench state={state} />}
          </main>
          <footer>
            <p>{text.footer}</p>
          </footer>
        </div>
      </LabDeskProvider>
    </MessagesContext>
  );
}

function Bench({ state }: { readonly state: LabState }): ReactNode {
  const [place, setPlace] = useStoryPlace();
  return (
    <>
      <div className="opening" data-story={place === undefined ? "closed" : "open"}>
        {place === undefined && <About />}
        <Story state={state} place={place} onPlace={setPlace} />
      </div>
      <div id="lab" className="bench" tabIndex={-1}>
        <VersionScore state={state} />
        <Truth truth={state.truth} />
        <Copies state={state} />
        <SmallController state={state} />
        <Log entries={state.log} />
      </div>
      <NewestLine entries={state.log} />
    </>
  );
}
