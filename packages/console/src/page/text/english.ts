import { labLimits } from "../../lab-state.ts";
import { count, englishSentence } from "./english-log.ts";
import { fromTo } from "./from-to.ts";
import type { Messages } from "./messages.ts";

/** The page in English. */
export const english: Messages = {
  language: "en",
  title: "Informer lab",
  tagline: "One truth, some copies of it, and a connection between them that you can break.",
  skipToLab: "Skip to the lab",
  languageLabel: "Language",
  themeLabel: "Appearance",
  themes: { system: "System", light: "Light", dark: "Dark" },

  connecting: "Connecting to the lab…",
  away: (since) =>
    `The server is away. What you see is as it was at ${since}. The page tries again by itself.`,
  reset: "Start over",
  complaintTitle: "Not done.",
  dismiss: "Close",
  serverAway: "The server does not answer. Nothing was changed.",
  refusal: ({ about, code }) => {
    switch (code) {
      case "BadCommand":
        return `The lab did not understand “${about}”.`;
      case "NoSuchCopy":
        return `There is no ${about} any more.`;
      case "NoSuchPod":
        return `The copy has no ${about}.`;
      case "TooMany":
        return about === "copies"
          ? `There are ${labLimits.copies} copies, and no more fit.`
          : `There are ${labLimits.pods} Pods, and no more fit.`;
      case "Unavailable":
        return about === "busy"
          ? "The lab has too much to do. Try again in a moment."
          : "The lab could not ask its API server.";
    }
  },

  aboutTitle: "What you see",
  about: [
    "A controller has to know what there is. Asking the server for everything again and again would wear it out; asking seldom would make the controller slow. So it keeps a copy: it reads everything once, and from then on has only the changes sent to it, over a connection that stays open, its watch. This is an informer.",
    "“The truth” is an API server; it alone is right. The copies are real informers of it. Nothing here is staged: the Pods are in that server, and each copy follows it by a watch of its own, which you can cut.",
  ],
  aboutMore: "What follows from that",
  lessons: [
    [
      "Reading is free",
      "Whoever reads a copy does not touch the server. That is why a controller can afford to count everything anew, each time.",
    ],
    [
      "A copy may be old",
      "While its watch is cut, nothing reaches it. A Pod that is gone still stands in it, and a new one does not.",
    ],
    [
      "The past is short",
      "The server remembers its last changes only. A copy that was away for longer cannot be told the differences, and has to read everything again.",
    ],
    [
      "What counts is what is",
      "A copy ends at the last state, whatever was lost, doubled or late on the way. So a controller that counts what is there, instead of remembering what was reported, ends right as well.",
    ],
    [
      "Writes name a version",
      "Whoever writes from an old copy would undo what it has not seen. The server compares versions, and refuses.",
    ],
  ],

  story: {
    title: "The story",
    begin: "Tell me the story",
    hide: "Close the story",
    invitation:
      "Eight short steps show what copies are good for, how they go wrong, and why that does no harm. The lab starts over for it.",
    stepsLabel: "Steps of the story",
    stepOf: (step, steps) => `Step ${step} of ${steps}`,
    tried: "done",
    back: "Back",
    next: "Next",
    seenLabel: "What you saw",
    late: "The delayed event is on its way. It takes five seconds.",
    waiting: "Waiting for what follows. If nothing comes, something else came between:",
    again: "Begin this step again",
    ending:
      "What to try next: let a watch go silent, take an event out of it, or add a second copy and let the controller trust that one.",
    steps: {
      differences: {
        title: "Everything once, then differences",
        text: "The copy has read all Pods once, and its watch is open. Create a Pod: only this one change travels.",
        seen: "Both sides came to the same version, and the server still counts one full read.",
      },
      reading: {
        title: "Reading costs nothing",
        text: "A controller reads its copy all the time. Do that a hundred times and look at what the server counts.",
        seen: "The server's numbers stand still: none of the reads left the copy.",
      },
      cut: {
        title: "Cut off, a copy grows old",
        text: "Cut the watch, then delete a Pod and change another one twice. The truth moves on.",
        seen: "The copy stays where it was. The deleted Pod still stands in it, and it shows the other one with its old image. Its lag grows, and whoever reads it believes all this.",
      },
      caughtUp: {
        title: "Caught up by the differences",
        text: "Connect again. The history still holds all that was missed, so the copy asks for what came after its version.",
        seen: "The differences were enough: no full read was added. The Pod that changed twice stands there as it is now; what it was in between no longer matters.",
      },
      tooOld: {
        title: "Too long away",
        text: "Now let more be written than the history holds, and connect.",
        seen: "The server could not tell the differences any more (410 Gone). The copy read everything again: one full read more, and one resync.",
      },
      staleWrite: {
        title: "A change from an old copy",
        text: "Cut the copy off, change a Pod, then send a change of that Pod as the copy knows it.",
        seen: "The server compared versions and refused: 409 Conflict. Who has an old copy can be wrong, and still cannot undo what others wrote.",
      },
      controller: {
        title: "A controller that trusts its copy",
        text: "The small controller keeps three Pods, by what it counts in the copy. Cut it off and delete a Pod: it counts three and is content. Then connect.",
        seen: "It did nothing while its copy was old, and the right thing as soon as the copy was not. It had not remembered an event; it counted again.",
      },
      faults: {
        title: "Lost, doubled, late",
        text: "Spoil events on their way to the copy, one after the other, each time while a Pod is deleted.",
        seen: "Each time it ended with three Pods. Whoever counts what is there needs the news to arrive at some point; it need not come exactly once, nor on time.",
      },
    },
    moves: {
      create: "Create a Pod",
      read: "Read the copy 100 times",
      cut: "Cut the watch",
      deleteFirst: "Delete a Pod",
      changeTwice: "Change a Pod twice",
      connect: "Connect again",
      overflow: "Write more than fits",
      changeOnce: "Change a Pod",
      sendFromCopy: "Send a change from the copy",
      startController: "Start the controller",
      loseAndDelete: "Lose the news of a deletion",
      doubleAndDelete: "Double it",
      delayAndDelete: "Delay it by 5 s",
    },
  },

  score: {
    title: "How far each has come",
    caption: "The newest versions: what was written, and which copies have it",
    who: "Version",
    cell: {
      created: "created",
      changed: "changed",
      deleted: "deleted",
      forgotten: "forgotten",
      has: "has it",
      unseen: "not seen yet",
      lost: "not seen, and forgotten",
      takenOut: "taken out on the way",
      future: "",
      other: "",
    },
    legend: [
      ["created", "created"],
      ["changed", "changed"],
      ["deleted", "deleted"],
      ["forgotten", "no longer in the history"],
      ["has", "the copy has it"],
      ["unseen", "not seen, can still be sent"],
      ["lost", "not seen, and forgotten"],
      ["takenOut", "taken out, the copy cannot know"],
    ],
  },

  truth: "The truth",
  truthNote: "What the API server has. It alone is right.",
  version: (version) => `version ${version}`,
  versionShort: (version) => `v${version}`,
  pods: "Pods",
  noPods: "No Pods.",
  create: "Create a Pod",
  change: "Change",
  delete: "Delete",
  onPod: (action, name) => `${action} ${name}`,
  history: "History",
  historyLength: "Writes kept",
  bounds: (min, max) => `(${min}–${max})`,
  historyEmpty: "Nothing is remembered.",
  forgotten: (version) => `forgotten up to version ${version}`,
  compact: "Forget the history",
  changes: { created: "created", changed: "changed", deleted: "deleted" },
  by: ({ user, who }) => ({ page: "you", lab: "the lab", controller: "small controller", other: user })[who],
  counters: "Counted by the server",
  counterNames: {
    fullReads: "full reads",
    watches: "watches",
    watchesOpen: "open now",
    resyncs: "resyncs",
    expired: "“too old”",
    events: "events",
    reads: "reads of it",
  },

  copies: "Copies",
  noCopies: "There is no copy. Add one.",
  addCopy: "Add a copy",
  removeCopy: "Remove",
  noVersion: "nothing yet",
  wire: (wire, connected) => {
    if (wire === "cut") return "watch cut";
    if (wire === "silent") return connected ? "silent, believes it is connected" : "silent";
    return connected ? "watch open" : "connecting";
  },
  fresh: "Same as the truth",
  stale: "Stale",
  behind: (versions) => `${count(versions, "version")} behind`,
  differs: "differs from the truth",
  confirmed: (seconds) => (seconds === null ? "never confirmed" : `last confirmed ${seconds} s ago`),
  outlook: {
    fresh: "What you read here is how things are.",
    differences: "The history reaches back far enough: the differences will do.",
    everything: "The history does not reach back so far: it will have to read everything.",
    heldBack: "The news is on its way and is held back.",
    differs:
      "An event was taken out of its stream, and it cannot know. Another change of the same Pod would help, or a full read.",
    catchingUp: "The differences are on their way.",
  },
  podMark: { older: "outdated", gone: "gone in truth", missing: "not here yet" },
  cut: "Cut the watch",
  silence: "Let it go silent",
  connect: "Connect again",
  nextEvent: "Spoil the next event",
  lose: "Lose",
  loseSilently: "Take out",
  double: "Double",
  delay: (seconds) => `Delay ${seconds} s`,
  armed: (fault) =>
    ({
      lose: "The next event will be lost, with its connection.",
      loseSilently: "The next event will be taken out, and nobody will know.",
      double: "The next event will come twice.",
      delay: "The next event will be late.",
    })[fault],
  heldBack: (events) => `${count(events, "event")} held back`,
  read: (times) => `Read ${times} times`,
  readResult: ({ fullReads, pods, times, watches }) =>
    `${count(times, "read")} of ${count(pods, "Pod")}. Server: full reads ${fromTo(...fullReads)}, watches ${fromTo(...watches)}.`,
  copyPods: "Pods as this copy has them",
  sendChange: "Change",
  sendChangeLabel: (name, copy) => `Change ${name} as ${copy} has it`,
  actionOn: (action, copy) => `${action}: ${copy}`,

  controller: "Small controller",
  controllerNote: "Keeps Pods at a number. It knows what its copy says, and nothing else.",
  controllerMark: "written by the small controller",
  trusts: "trusts",
  wants: "wants",
  start: "Start",
  stop: "Stop",
  running: "running",
  stopped: "stopped",
  thought: (thought) => {
    const { actual, behind, copy, decides, desired, seen, state, version } = thought;
    if (state === "stopped") return "It is not running.";
    if (state === "never") return "It is about to count.";
    const decision = {
      nothing: "so it does nothing",
      create: "so it creates one",
      delete: "so it deletes one",
    }[decides];
    const belief = `It counts ${seen} in ${copy} (version ${version}) and wants ${desired}, ${decision}.`;
    if (state === "right") return `${belief} Its copy matches the truth.`;
    const lag =
      behind > 0 ? `Its copy is ${count(behind, "version")} behind` : "Its copy differs from the truth";
    return `${belief} ${lag}: in truth there ${actual === 1 ? "is 1" : `are ${actual}`}.`;
  },
  controllerCounters: { counts: "counts", writes: "writes", refusals: "refused" },

  log: "What happened",
  logNote: "The newest line is at the top.",
  logEmpty: "Nothing has happened yet.",
  sentence: englishSentence,
  more: (sentences) => `${count(sentences, "other line")} in the log.`,
  footer: "Everything on this page comes from the server that you opened it from. Nothing else is asked.",
};
