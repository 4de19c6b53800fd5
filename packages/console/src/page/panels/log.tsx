import { useMemo } from "react";
import type { ReactNode } from "react";
import type { LabLogEntry } from "../../lab-state.ts";
import { useMessages } from "../text/messages-context.ts";
import { timeOfDay } from "../text/time-of-day.ts";
import { logKind } from "../view/log-kind.ts";
import type { LogKind } from "../view/log-kind.ts";

/** What happened, in words, the newest first. It is not read out as it grows: the announcer does that, in few words. */
export function Log({ entries }: { readonly entries: readonly LabLogEntry[] }): ReactNode {
  const text = useMessages();
  const time = useMemo(() => timeOfDay(text.language), [text.language]);
  return (
    <section className="panel log" aria-labelledby="log-title">
      <header className="panel-head">
        <h2 id="log-title">{text.log}</h2>
        <p className="note">{text.logNote}</p>
      </header>
      {entries.length === 0 && <p className="note">{text.logEmpty}</p>}
      <div className="log-scroll" role="group" aria-labelledby="log-title" tabIndex={0}>
        <ol reversed>
          {entries.toReversed().map(({ atMs, event, number }) => (
            <li key={number} data-kind={logKind(event)} data-code={event.code}>
              <span className="log-sign" aria-hidden="true">
                {signs[logKind(event)]}
              </span>
              <span className="log-text">{text.sentence(event)}</span>{" "}
              <time dateTime={new Date(atMs).toISOString()}>{time.format(atMs)}</time>
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

/** The newest line, at the foot of a window that has no room for the log. Who hears the page has heard it. */
export function NewestLine({ entries }: { readonly entries: readonly LabLogEntry[] }): ReactNode {
  const text = useMessages();
  const newest = entries.at(-1);
  if (newest === undefined) return undefined;
  const kind = logKind(newest.event);
  return (
    <p className="newest" aria-hidden="true" data-kind={kind}>
      <span className="log-sign">{signs[kind]}</span>{" "}
      <span key={newest.number}>{text.sentence(newest.event)}</span>
    </p>
  );
}

const signs: Readonly<Record<LogKind, string>> = {
  lab: "○",
  write: "●",
  controller: "◆",
  wire: "⌁",
  recovery: "↻",
  refusal: "⊘",
  reading: "◎",
};
