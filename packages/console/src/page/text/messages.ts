import type { LabRefusal } from "../../lab-commands.ts";
import type { HistoryRecord, LabEvent } from "../../lab-state.ts";
import type { CopyOutlook } from "../view/copy-outlook.ts";
import type { ControllerThought } from "../view/controller-thought.ts";
import type { StoryMoveId, StoryStepId } from "../view/story-steps.ts";
import type { ScoreMark } from "../view/version-score.ts";
import type { Language } from "./language.ts";

/** What is read to see that reading costs nothing. */
export interface ReadResult {
  readonly times: number;
  readonly pods: number;
  readonly fullReads: readonly [before: number, after: number];
  readonly watches: readonly [before: number, after: number];
}

/** What is told of a step of the story. */
export interface StepText {
  readonly title: string;
  /** What happens here, before it was tried. */
  readonly text: string;
  /** What was to be seen. */
  readonly seen: string;
}

/** Every word of the page, in one language. Functions where a number or a name is in the middle. */
export interface Messages {
  readonly language: Language;
  readonly title: string;
  readonly tagline: string;
  readonly skipToLab: string;
  readonly languageLabel: string;
  readonly themeLabel: string;
  readonly themes: Readonly<Record<"system" | "light" | "dark", string>>;

  readonly connecting: string;
  /** `since`: the time of day. */
  readonly away: (since: string) => string;
  readonly reset: string;
  readonly complaintTitle: string;
  readonly dismiss: string;
  readonly serverAway: string;
  readonly refusal: (refusal: LabRefusal) => string;

  readonly aboutTitle: string;
  readonly about: readonly string[];
  readonly aboutMore: string;
  readonly lessons: readonly (readonly [title: string, text: string])[];

  readonly story: {
    readonly title: string;
    readonly begin: string;
    readonly hide: string;
    readonly invitation: string;
    readonly steps: Readonly<Record<StoryStepId, StepText>>;
    readonly moves: Readonly<Record<StoryMoveId, string>>;
    readonly stepOf: (step: number, steps: number) => string;
    readonly stepsLabel: string;
    readonly tried: string;
    readonly back: string;
    readonly next: string;
    readonly seenLabel: string;
    /** While an event is held back that the step waits for. */
    readonly late: string;
    /** All was done, and what is to be seen has not come. */
    readonly waiting: string;
    readonly again: string;
    /** What to try after the last step. */
    readonly ending: string;
  };

  readonly score: {
    readonly title: string;
    readonly caption: string;
    readonly who: string;
    readonly legend: readonly (readonly [mark: ScoreMark, text: string])[];
    readonly cell: Readonly<Record<ScoreMark, string>>;
  };

  readonly truth: string;
  readonly truthNote: string;
  readonly version: (version: number) => string;
  readonly versionShort: (version: number) => string;
  readonly pods: string;
  readonly noPods: string;
  readonly create: string;
  readonly change: string;
  readonly delete: string;
  readonly onPod: (action: string, name: string) => string;
  readonly history: string;
  readonly historyLength: string;
  readonly bounds: (min: number, max: number) => string;
  readonly historyEmpty: string;
  readonly forgotten: (version: number) => string;
  readonly compact: string;
  readonly changes: Readonly<Record<HistoryRecord["change"], string>>;
  readonly by: (who: HistoryRecord["by"]) => string;
  readonly counters: string;
  readonly counterNames: Readonly<Record<CounterName, string>>;

  readonly copies: string;
  readonly noCopies: string;
  readonly addCopy: string;
  readonly removeCopy: string;
  readonly noVersion: string;
  readonly wire: (wire: "open" | "cut" | "silent", connected: boolean) => string;
  readonly fresh: string;
  readonly stale: string;
  readonly behind: (versions: number) => string;
  readonly differs: string;
  readonly confirmed: (seconds: number | null) => string;
  readonly outlook: Readonly<Record<CopyOutlook, string>>;
  readonly podMark: Readonly<Record<"older" | "gone" | "missing", string>>;
  readonly cut: string;
  readonly silence: string;
  readonly connect: string;
  readonly nextEvent: string;
  readonly lose: string;
  readonly loseSilently: string;
  readonly double: string;
  readonly delay: (seconds: number) => string;
  readonly armed: (fault: "lose" | "loseSilently" | "double" | "delay") => string;
  readonly heldBack: (events: number) => string;
  readonly read: (times: number) => string;
  readonly readResult: (result: ReadResult) => string;
  readonly copyPods: string;
  /** A change that is sent as a copy has the Pod, be that old or not. */
  readonly sendChange: string;
  readonly sendChangeLabel: (name: string, copy: string) => string;
  readonly actionOn: (action: string, copy: string) => string;

  readonly controller: string;
  readonly controllerNote: string;
  readonly controllerMark: string;
  readonly trusts: string;
  readonly wants: string;
  readonly start: string;
  readonly stop: string;
  readonly running: string;
  readonly stopped: string;
  readonly thought: (thought: ControllerThought) => string;
  readonly controllerCounters: Readonly<Record<"counts" | "writes" | "refusals", string>>;

  readonly log: string;
  readonly logNote: string;
  readonly logEmpty: string;
  readonly sentence: (event: LabEvent) => string;
  readonly more: (sentences: number) => string;
  readonly footer: string;
}

/** A number that somebody counts. */
export type CounterName =
  "fullReads" | "watches" | "watchesOpen" | "resyncs" | "expired" | "events" | "reads";
