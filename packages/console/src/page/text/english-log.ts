import type { LabEvent, Writer } from "../../lab-state.ts";
import { fromTo } from "./from-to.ts";

/** One line of the log, in English. */
export function englishSentence(event: LabEvent): string {
  switch (event.code) {
    case "started":
      return `The lab begins. The history keeps the newest ${count(event.historyMax, "write")}.`;
    case "podCreated":
      return `${writer(event.by)} created ${event.name}: version ${event.version}.`;
    case "podChanged":
      return `${writer(event.by)} changed ${event.name}: version ${event.version}.`;
    case "podDeleted":
      return `${writer(event.by)} deleted ${event.name}: version ${event.version}.`;
    case "pageRefused":
      return `The server refused to ${event.action} ${event.name}: ${answer(event)}.`;
    case "copyAdded":
      return `${event.copy} was added.`;
    case "copyRemoved":
      return `${event.copy} was removed.`;
    case "everythingRead": {
      const read = `${count(event.pods, "Pod")} at version ${event.version}`;
      return {
        first: `${event.copy} read everything once, ${read}, and opened a watch from there.`,
        tooOld: `${event.copy} read everything again, ${read}, since differences could not help. That is a resync.`,
        other: `${event.copy} read everything again, ${read}, to be sure.`,
      }[event.why];
    }
    case "wireCut":
      return `The watch of ${event.copy} was cut${at(event.version)}. Changes from now on do not reach it.`;
    case "wireSilent":
      return `The watch of ${event.copy} went silent${at(event.version)}. The connection looks alive, and nothing comes through.`;
    case "wireConnected":
      return event.behind === 0
        ? `The watch of ${event.copy} is connected again. Nothing was missed.`
        : `The watch of ${event.copy} is connected again, and the copy is ${count(event.behind, "version")} behind.`;
    case "caughtUp":
      return event.changes === 0
        ? `${event.copy} follows again from version ${event.toVersion}. There was nothing to catch up with.`
        : `${event.copy} caught up by the differences: ${count(event.changes, "change")}, from version ${event.fromVersion} to ${event.toVersion}. Nothing was read in full.`;
    case "tooOld":
      return `${event.copy} asked for what came after version ${event.version}, but the history begins after version ${event.oldestResumable}: 410 Gone.`;
    case "compacted":
      return `The history was forgotten up to version ${event.oldestResumable}. A copy that has not come so far has to read everything.`;
    case "historyMaxSet":
      return `From now on the history keeps ${count(event.historyMax, "write")}.`;
    case "copyRead": {
      const { after, before } = event;
      const quiet = before.fullReads === after.fullReads && before.watches === after.watches;
      const counted = `full reads ${fromTo(before.fullReads, after.fullReads)}, watches ${fromTo(before.watches, after.watches)}`;
      return `${event.copy} was read ${count(event.times, "time")}, ${count(event.pods, "Pod")} each. The server counted ${counted}${quiet ? ": it did not notice" : ", for other reasons"}.`;
    }
    case "staleWriteRefused": {
      const sent = `${event.copy} knew ${event.name} at version ${event.sentVersion}, and a change of that was sent`;
      return event.currentVersion === null
        ? `${sent}. There is no such Pod any more, so the server refused: ${answer(event)}.`
        : `${sent}. The Pod is at version ${event.currentVersion} by now, so the server refused: ${answer(event)}. Otherwise a change that the copy never saw would have been undone.`;
    }
    case "staleWriteAccepted":
      return `A change of ${event.name} as ${event.copy} knew it (version ${event.sentVersion}) was accepted, since that was the newest: version ${event.version}.`;
    case "faultArmed":
      return {
        lose: `The next event for ${event.copy} will be lost, and its connection with it.`,
        loseSilently: `The next event for ${event.copy} will be taken out, and the connection will stay.`,
        double: `The next event for ${event.copy} will come twice.`,
        delay: `The next event for ${event.copy} will come ${seconds(event.ms)} late.`,
      }[event.fault];
    case "eventLost":
      return `On the way to ${event.copy}, ${news(event)} was lost and the connection broke with it. So the copy knows that it has to ask again.`;
    case "eventLostSilently":
      return `On the way to ${event.copy}, ${news(event)} was taken out. Neither end can know.`;
    case "eventDoubled":
      return `${capital(news(event))} reached ${event.copy} twice. The second time changes nothing.`;
    case "eventDelayed":
      return `On the way to ${event.copy}, ${news(event)} is held back for ${seconds(event.ms)}.`;
    case "eventDelivered":
      return `${capital(news(event))} reached ${event.copy}, ${seconds(event.ms)} late.`;
    case "controllerStarted":
      return `The small controller trusts ${event.copy} from now on and wants ${count(event.desired, "Pod")}.`;
    case "controllerStopped":
      return `The small controller stopped.`;
    case "controllerActed": {
      const did = event.action === "create" ? "created" : "deleted";
      return `The small controller counted ${event.seen} in ${event.copy}, wants ${event.desired}, and ${did} ${event.name}.${stale(event)}`;
    }
    case "controllerRefused":
      return `The small controller wanted to ${event.action} ${event.name}, and the server refused: ${answer(event)}.${stale(event)} It will count again.`;
  }
}

function writer(by: Writer): string {
  if (by.who === "page") return "You";
  if (by.who === "lab") return "The lab";
  return by.who === "controller" ? "The small controller" : `Another program (${by.user})`;
}

function answer(refused: { readonly status: number; readonly reason: string }): string {
  return `${refused.status} ${refused.reason}`.trim();
}

function at(version: number | null): string {
  return version === null ? " before it had read anything" : ` at version ${version}`;
}

function stale({ behind, copy }: { readonly behind: number; readonly copy: string }): string {
  return behind === 0 ? "" : ` ${copy} was ${count(behind, "version")} behind.`;
}

function news(event: { readonly name: string; readonly change: string; readonly version: number }): string {
  return `the news “${event.name} ${event.change}” (version ${event.version})`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

/** `1 Pod`, `2 Pods`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
