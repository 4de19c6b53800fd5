import { useEffect, useState } from "react";
import type { LabState } from "../../lab-state.ts";

/** A browser gives a stream up for good when it is answered with an error; then another one is tried after this. */
const retryMs = 2_000;
/** The lab says something every second while it has a copy. One that says nothing for so long may be gone without a word. */
const silenceMs = 15_000;

/** What the server has said, and whether it still says something. */
export interface LabStream {
  /** The newest state; `undefined` before the first. */
  readonly state: LabState | undefined;
  /** `away`: the server does not answer, and what is shown is as old as `sinceMs`. */
  readonly link: "connecting" | "live" | "away";
  /** When the server went away, in milliseconds since the epoch. */
  readonly sinceMs: number;
}

/**
 * Follows the lab. It connects again by itself, for as long as the page is open. While nobody can see it the page has no stream: a browser
 * opens six connections to a server at most, and a seventh tab could not even load.
 */
export function useLabStream(): LabStream {
  const [stream, setStream] = useState<LabStream>({ state: undefined, link: "connecting", sinceMs: 0 });
  useEffect(() => followLab(setStream), []);
  return stream;
}

function followLab(update: (change: (before: LabStream) => LabStream) => void): () => void {
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;

  const open = (): void => {
    clearTimeout(retry);
    source?.close();
    const opened = new EventSource("/lab/events");
    source = opened;
    listen();
    opened.addEventListener("state", (event: MessageEvent<string>) => {
      listen();
      const state = JSON.parse(event.data) as LabState;
      update(() => ({ state, link: "live", sinceMs: 0 }));
    });
    opened.addEventListener("error", () => {
      update((before) =>
        before.link === "away" ? before : { ...before, link: "away", sinceMs: Date.now() },
      );
      if (opened.readyState === EventSource.CLOSED) retry = setTimeout(open, retryMs);
    });
  };
  const listen = (): void => {
    clearTimeout(silence);
    silence = setTimeout(open, silenceMs);
  };

  const close = (): void => {
    clearTimeout(retry);
    clearTimeout(silence);
    source?.close();
  };
  const look = (): void => {
    if (document.hidden) close();
    else open();
  };

  look();
  document.addEventListener("visibilitychange", look);
  return () => {
    document.removeEventListener("visibilitychange", look);
    close();
  };
}
