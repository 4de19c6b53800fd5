import { useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import type { LabState } from "../../lab-state.ts";
import { useMessages } from "../text/messages-context.ts";
import { announcement } from "../view/announcement.ts";

/** What happens within this is told at once. */
const gatherMs = 1_000;

/** Tells a screen reader what the log has got, when it has nothing else to say. What was there before is not told. */
export function Announcer({ state }: { readonly state: LabState | undefined }): ReactNode {
  const text = useMessages();
  const [sentence, setSentence] = useState("");
  const told = useRef<number>(undefined);
  const newest = useRef(state?.log);
  newest.current = state?.log;
  const last = state?.log.at(-1)?.number;

  useEffect(() => {
    if (last === undefined) return;
    if (told.current === undefined) told.current = last;
    if (last === told.current) return;
    const timer = setTimeout(() => {
      const log = newest.current ?? [];
      const before = told.current ?? 0;
      const end = log.at(-1)?.number ?? 0;
      // After a new start the numbers begin anew.
      const entries = end < before ? log : log.filter(({ number }) => number > before);
      told.current = end;
      setSentence(announcement(entries, text));
    }, gatherMs);
    return () => clearTimeout(timer);
  }, [last, text]);

  return (
    <p className="unseen" role="status" data-announcer="">
      {sentence}
    </p>
  );
}
