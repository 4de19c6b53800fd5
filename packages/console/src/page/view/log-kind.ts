import type { LabEvent } from "../../lab-state.ts";

/** What a line of the log is about; each has a sign of its own. */
export type LogKind = "lab" | "write" | "controller" | "wire" | "recovery" | "refusal" | "reading";

/** Sorts the lines of the log. Pure. */
export function logKind(event: LabEvent): LogKind {
  switch (event.code) {
    case "podCreated":
    case "podChanged":
    case "podDeleted":
      return event.by.who === "controller" ? "controller" : "write";
    case "controllerActed":
    case "controllerStarted":
    case "controllerStopped":
      return "controller";
    case "pageRefused":
    case "staleWriteRefused":
    case "controllerRefused":
      return "refusal";
    case "staleWriteAccepted":
      return "write";
    case "wireCut":
    case "wireSilent":
    case "wireConnected":
    case "faultArmed":
    case "eventLost":
    case "eventLostSilently":
    case "eventDoubled":
    case "eventDelayed":
    case "eventDelivered":
      return "wire";
    case "everythingRead":
    case "caughtUp":
    case "tooOld":
      return "recovery";
    case "copyRead":
      return "reading";
    case "started":
    case "copyAdded":
    case "copyRemoved":
    case "compacted":
    case "historyMaxSet":
      return "lab";
  }
}
