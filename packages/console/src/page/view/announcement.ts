import type { LabLogEntry } from "../../lab-state.ts";

/** Sentences that are read out at once; who wants more goes to the log. */
const sentencesMax = 2;

/** What a screen reader is told of lines that the log has got: the last few, and how many there were. Pure. */
export function announcement(
  entries: readonly LabLogEntry[],
  text: {
    readonly sentence: (event: LabLogEntry["event"]) => string;
    readonly more: (sentences: number) => string;
  },
): string {
  const told = entries.slice(-sentencesMax).map(({ event }) => text.sentence(event));
  const left = entries.length - told.length;
  return [...(left > 0 ? [text.more(left)] : []), ...told].join(" ");
}
