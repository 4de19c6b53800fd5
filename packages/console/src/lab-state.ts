/**
 * What the informer lab shows, as one whole snapshot. Plain JSON: the server half sends it, the page draws it, and neither
 * keeps anything else. Versions are counted from the start of the lab, so that they are small; `resourceVersion` is
 * the text that the API server uses for the same moment.
 */
export interface LabState {
  /** Rises with each snapshot. A command answers with the counter of the first snapshot that shows what it did. */
  readonly counter: number;
  /** Another one after a restart of the server: counters and log begin anew. */
  readonly instance: string;
  readonly truth: TruthState;
  readonly copies: readonly CopyState[];
  readonly controller: SmallControllerState;
  /** The newest entries, oldest first: at most `labLimits.logEntries`. */
  readonly log: readonly LabLogEntry[];
}

/** The API server's side. */
export interface TruthState {
  readonly version: number;
  readonly resourceVersion: string;
  readonly pods: readonly PodRow[];
  /** Records of the history that are kept at most; older ones are forgotten. */
  readonly historyMax: number;
  /** What the history still holds, oldest first. */
  readonly history: readonly HistoryRecord[];
  /** The oldest version from which a copy can still be caught up by differences. */
  readonly oldestResumable: number;
  /** Requests of all copies, those removed as well, counted by the server. The lab's own looking is not among them. */
  readonly counters: ServerCounters;
}

/** One Pod, as the truth or a copy has it. */
export interface PodRow {
  readonly name: string;
  /** What the button "change" changes: the image of the only container. */
  readonly value: string;
  /** The version at which it was written last. */
  readonly version: number;
}

/** A Pod in a copy, compared with the truth: `older` has been changed since, `gone` exists in the copy only. */
export interface CopiedPodRow extends PodRow {
  readonly mark: "same" | "older" | "gone";
}

/** One write that the server still remembers. */
export interface HistoryRecord {
  readonly version: number;
  readonly change: "created" | "changed" | "deleted";
  readonly name: string;
  readonly by: Writer;
}

/** Who wrote: whoever uses the page, the lab itself when it begins, the small controller, or a program that came in by the API. */
export interface Writer {
  readonly who: "page" | "lab" | "controller" | "other";
  /** As the server knows them; `manager` is empty where the request named none. */
  readonly user: string;
  readonly manager: string;
}

/** Requests as the server counted them. */
export interface ServerCounters {
  /** Lists: all objects of the collection. */
  readonly fullReads: number;
  /** Watches that were opened. */
  readonly watches: number;
  readonly watchesOpen: number;
}

/** What a copy's informer has counted. */
export interface CopyCounters {
  readonly fullReads: number;
  /** Full reads after the first one. */
  readonly resyncs: number;
  readonly watches: number;
  /** Times that the server said that the history was gone. */
  readonly expired: number;
  readonly events: number;
  readonly failures: number;
}

/** What the wire does with the next event: see the commands. */
export interface ArmedFault {
  readonly fault: "lose" | "loseSilently" | "double" | "delay";
  /** For `delay`; else 0. */
  readonly ms: number;
}

/** One informer. */
export interface CopyState {
  /** `copy-1` and so on. */
  readonly name: string;
  /** `cut`: connections break and none comes through. `silent`: the connection stays and nothing comes through it. */
  readonly wire: "open" | "cut" | "silent";
  /** Whether the informer believes that its watch is open. On a silent wire it does, and is wrong. */
  readonly connected: boolean;
  /** What the copy is complete up to; `null` before the first full read. */
  readonly version: number | null;
  readonly resourceVersion: string;
  /** Writes to Pods that the copy has not seen. */
  readonly behind: number;
  /** Whole seconds since the server last confirmed the copy; `null` before the first time. */
  readonly lagSeconds: number | null;
  /** Behind, or different from the truth: what is read here may be wrong. */
  readonly stale: boolean;
  readonly pods: readonly CopiedPodRow[];
  /** Pods of the truth that the copy does not have. */
  readonly missing: readonly string[];
  readonly counters: CopyCounters;
  readonly server: ServerCounters;
  /** Times that this copy was read by the button: none of them reached the server. */
  readonly reads: number;
  readonly armed: ArmedFault | null;
  /** Events that the wire holds back now. */
  readonly heldBack: number;
}

/** The small controller: it keeps Pods at a number, counting in one copy. */
export interface SmallControllerState {
  readonly running: boolean;
  /** The copy that it trusts. */
  readonly copy: string | null;
  readonly desired: number;
  /** Times that it counted. */
  readonly counts: number;
  readonly writes: number;
  readonly refusals: number;
  /** What it saw when it counted last. */
  readonly last: { readonly seen: number; readonly version: number; readonly behind: number } | null;
}

/** One line of "what happened". The page turns codes into sentences. */
export interface LabLogEntry {
  /** Rises by one. */
  readonly number: number;
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  readonly event: LabEvent;
}

/** Everything that the log can tell. */
export type LabEvent =
  | { readonly code: "started"; readonly historyMax: number }
  | {
      readonly code: "podCreated" | "podChanged" | "podDeleted";
      readonly name: string;
      readonly version: number;
      readonly by: Writer;
    }
  /** A write of the page that the server refused, for example a name that exists. */
  | {
      readonly code: "pageRefused";
      readonly action: "create" | "change" | "delete";
      readonly name: string;
      readonly status: number;
      readonly reason: string;
    }
  | { readonly code: "copyAdded" | "copyRemoved"; readonly copy: string }
  /** `first`: to have a start. `tooOld`: the history did not reach back. `other`: the informer wanted to be sure. */
  | {
      readonly code: "everythingRead";
      readonly copy: string;
      readonly why: "first" | "tooOld" | "other";
      readonly version: number;
      readonly pods: number;
    }
  | {
      readonly code: "wireCut" | "wireSilent";
      readonly copy: string;
      readonly version: number | null;
    }
  | { readonly code: "wireConnected"; readonly copy: string; readonly behind: number }
  /** After a gap, the differences were enough. */
  | {
      readonly code: "caughtUp";
      readonly copy: string;
      readonly fromVersion: number;
      readonly toVersion: number;
      readonly changes: number;
    }
  /** The server said 410 Gone: what comes after `version` is not remembered any more. */
  | {
      readonly code: "tooOld";
      readonly copy: string;
      readonly version: number;
      readonly oldestResumable: number;
    }
  | { readonly code: "compacted"; readonly keep: number; readonly oldestResumable: number }
  | { readonly code: "historyMaxSet"; readonly historyMax: number }
  /** `times` reads; the server's counters before and after. */
  | {
      readonly code: "copyRead";
      readonly copy: string;
      readonly times: number;
      readonly pods: number;
      readonly before: ServerCounters;
      readonly after: ServerCounters;
    }
  | {
      readonly code: "staleWriteRefused";
      readonly copy: string;
      readonly name: string;
      readonly status: number;
      readonly reason: string;
      /** The version that the write named, and the one that the Pod is at; `null`: there is no such Pod any more. */
      readonly sentVersion: number;
      readonly currentVersion: number | null;
    }
  | {
      readonly code: "staleWriteAccepted";
      readonly copy: string;
      readonly name: string;
      readonly sentVersion: number;
      readonly version: number;
    }
  | {
      readonly code: "faultArmed";
      readonly copy: string;
      readonly fault: ArmedFault["fault"];
      readonly ms: number;
    }
  /** The wire did it. `lost`: with its connection, so it is asked for again. `lostSilently`: nobody will notice. */
  | {
      readonly code: "eventLost" | "eventLostSilently" | "eventDoubled" | "eventDelayed" | "eventDelivered";
      readonly copy: string;
      readonly name: string;
      readonly change: "created" | "changed" | "deleted";
      readonly version: number;
      readonly ms: number;
    }
  | { readonly code: "controllerStarted"; readonly copy: string; readonly desired: number }
  | { readonly code: "controllerStopped" }
  /** It counted in its copy and did something about it. */
  | {
      readonly code: "controllerActed";
      readonly action: "create" | "delete";
      readonly name: string;
      readonly copy: string;
      readonly seen: number;
      readonly desired: number;
      readonly behind: number;
    }
  /** It acted on a stale copy, and the server refused. */
  | {
      readonly code: "controllerRefused";
      readonly action: "create" | "delete";
      readonly name: string;
      readonly copy: string;
      readonly status: number;
      readonly reason: string;
      readonly behind: number;
    };

/** The code of a log line. */
export type LabEventCode = LabEvent["code"];

/** Bounds of the lab. At each of them a command is refused. */
export const labLimits: {
  readonly copies: number;
  readonly pods: number;
  readonly historyMax: number;
  readonly reads: number;
  readonly delayMs: number;
  readonly desired: number;
  readonly logEntries: number;
} = {
  copies: 6,
  pods: 20,
  historyMax: 50,
  reads: 10_000,
  delayMs: 30_000,
  desired: 10,
  logEntries: 200,
};
