import type { LabCommand } from "../../lab-commands.ts";
import type { LabEvent, LabEventCode, LabLogEntry, LabState } from "../../lab-state.ts";
import { copyOutlook } from "./copy-outlook.ts";

/** The steps, in the order of the telling. */
export type StoryStepId =
  "differences" | "reading" | "cut" | "caughtUp" | "tooOld" | "staleWrite" | "controller" | "faults";

/** What one does in them. */
export type StoryMoveId =
  | "create"
  | "read"
  | "cut"
  | "deleteFirst"
  | "changeTwice"
  | "connect"
  | "overflow"
  | "changeOnce"
  | "sendFromCopy"
  | "startController"
  | "loseAndDelete"
  | "doubleAndDelete"
  | "delayAndDelete";

/** One button of the story. */
export interface StoryMove {
  readonly id: StoryMoveId;
  /** What it asks of the lab as it is. Every move finds something to do in whatever state the lab is left. */
  readonly commands: (state: LabState) => readonly LabCommand[];
}

/** What of the lab a step shows beside its buttons. */
export type StoryEvidence = "pods" | "counts" | "refusal" | "thought";

/** Where in the story one is, and what one did there. */
export interface StoryPlace {
  readonly index: number;
  readonly tried: readonly StoryMoveId[];
}

/** One step: a few moves, and how the log shows that they had their effect. */
export interface StoryStep {
  readonly id: StoryStepId;
  readonly moves: readonly StoryMove[];
  readonly shows: readonly StoryEvidence[];
  /** Codes that the log has to show, in this order, with anything between them. */
  readonly signs: readonly ((event: LabEvent) => boolean)[];
}

/** Whether the log shows what a step is about. Pure. */
export function stepSeen(step: StoryStep, log: readonly LabLogEntry[]): boolean {
  let next = 0;
  for (const { event } of log) if (step.signs[next]?.(event) === true) next++;
  return next >= step.signs.length;
}

/** Whether a move may be done: all before it are. In another order a step would come to nothing. Pure. */
export function isMoveDue(step: StoryStep, move: StoryMove, tried: readonly StoryMoveId[]): boolean {
  return step.moves.slice(0, step.moves.indexOf(move)).every(({ id }) => tried.includes(id));
}

/** What a step begins with when it is begun again. Pure. */
export function connectAgain(state: LabState): readonly LabCommand[] {
  return withCopy(state, { do: "connect", copy: copyOf(state) });
}

const code =
  (...codes: readonly LabEventCode[]) =>
  (event: LabEvent): boolean =>
    codes.includes(event.code);
const written = code("podCreated", "podChanged", "podDeleted");

/** The copy that the story is about. */
const copyOf = (state: LabState): string => state.copies[0]?.name ?? "copy-1";
const withCopy = (state: LabState, ...commands: readonly LabCommand[]): readonly LabCommand[] =>
  state.copies.length === 0 ? [{ do: "addCopy" }, ...commands] : commands;
/** A Pod to be changed: one that the copy has as well, if there is one. */
const podOf = (state: LabState): string | undefined => {
  const held = new Set(state.copies[0]?.pods.map(({ name }) => name));
  return (state.truth.pods.find(({ name }) => held.has(name)) ?? state.truth.pods[0])?.name;
};
const changes = (state: LabState, times: number): readonly LabCommand[] => {
  const name = podOf(state) ?? "web-1";
  const change: LabCommand = { do: "change", name };
  return [
    ...(podOf(state) === undefined ? [{ do: "create", name } as const] : []),
    ...Array.from({ length: times }, () => change),
  ];
};
const deletion = (state: LabState): readonly LabCommand[] => {
  const name = podOf(state) ?? "web-1";
  return [...(podOf(state) === undefined ? [{ do: "create", name } as const] : []), { do: "delete", name }];
};

const cut: StoryMove = {
  id: "cut",
  commands: (state) => withCopy(state, { do: "cut", copy: copyOf(state) }),
};
const connect: StoryMove = {
  id: "connect",
  commands: connectAgain,
};
/** Where there is nothing to catch up with, by another order of steps, something is missed first. */
const catchUp: StoryMove = {
  id: "connect",
  commands: (state) => {
    const [copy] = state.copies;
    if (copy !== undefined && copyOutlook(copy, state) === "differences") return connectAgain(state);
    const missed = [{ do: "cut", copy: copyOf(state) } as const, ...changes(state, 1)];
    return [...connectAgain(state), ...missed, { do: "connect", copy: copyOf(state) }];
  },
};
/** Faults meet events of an open wire, and somebody has to put the Pod back. */
const faultAndDelete = (state: LabState, fault: LabCommand): readonly LabCommand[] => [
  ...connectAgain(state),
  ...(state.controller.running ? [] : [startController(state)]),
  fault,
  ...deletion(state),
];
const startController = (state: LabState): LabCommand => ({
  do: "startController",
  copy: copyOf(state),
  desired: 3,
});

/** The story of the lab: what the copies are good for, how they go wrong, and why that does no harm. */
export const storySteps: readonly StoryStep[] = [
  {
    id: "differences",
    moves: [{ id: "create", commands: (state) => withCopy(state, { do: "create" }) }],
    shows: ["pods", "counts"],
    signs: [code("everythingRead"), code("podCreated")],
  },
  {
    id: "reading",
    moves: [
      {
        id: "read",
        commands: (state) => withCopy(state, { do: "readCopy", copy: copyOf(state), times: 100 }),
      },
    ],
    shows: ["counts"],
    signs: [code("copyRead")],
  },
  {
    id: "cut",
    moves: [
      cut,
      { id: "deleteFirst", commands: deletion },
      { id: "changeTwice", commands: (state) => changes(state, 2) },
    ],
    shows: ["pods"],
    signs: [code("wireCut"), code("podDeleted"), code("podChanged"), code("podChanged")],
  },
  {
    id: "caughtUp",
    moves: [catchUp],
    shows: ["pods", "counts"],
    signs: [code("wireCut"), written, code("caughtUp")],
  },
  {
    id: "tooOld",
    moves: [
      cut,
      { id: "overflow", commands: (state) => changes(state, state.truth.historyMax + 1) },
      connect,
    ],
    shows: ["pods", "counts"],
    signs: [code("wireCut"), code("tooOld"), code("everythingRead")],
  },
  {
    id: "staleWrite",
    moves: [
      cut,
      { id: "changeOnce", commands: (state) => changes(state, 1) },
      {
        id: "sendFromCopy",
        commands: (state) => {
          const name = state.copies[0]?.pods.find(({ mark }) => mark === "older")?.name ?? podOf(state);
          return name === undefined ? [] : [{ do: "staleWrite", copy: copyOf(state), name }];
        },
      },
      connect,
    ],
    shows: ["pods", "refusal"],
    signs: [code("staleWriteRefused"), code("wireConnected")],
  },
  {
    id: "controller",
    moves: [
      { id: "startController", commands: (state) => [...connectAgain(state), startController(state)] },
      cut,
      { id: "deleteFirst", commands: deletion },
      connect,
    ],
    shows: ["pods", "thought"],
    signs: [
      code("controllerStarted"),
      code("wireCut"),
      code("podDeleted"),
      code("wireConnected"),
      code("controllerActed"),
    ],
  },
  {
    id: "faults",
    moves: [
      {
        id: "loseAndDelete",
        commands: (state) => faultAndDelete(state, { do: "loseEvent", copy: copyOf(state) }),
      },
      {
        id: "doubleAndDelete",
        commands: (state) => faultAndDelete(state, { do: "doubleEvent", copy: copyOf(state) }),
      },
      {
        id: "delayAndDelete",
        commands: (state) => faultAndDelete(state, { do: "delayEvent", copy: copyOf(state), ms: 5_000 }),
      },
    ],
    shows: ["pods", "thought"],
    signs: [code("eventLost"), code("eventDoubled"), code("eventDelivered"), code("controllerActed")],
  },
];
