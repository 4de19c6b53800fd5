import type { LabCommand } from "../../lab-commands.ts";
import type { LabEvent, LabEventCode, LabLogEntry, LabState } from "../../lab-state.ts";

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

/** One step: a few moves, and how the log shows that they had their effect. */
export interface StoryStep {
  readonly id: StoryStepId;
  readonly moves: readonly StoryMove[];
  /** Codes that the log has to show, in this order, with anything between them. */
  readonly signs: readonly ((event: LabEvent) => boolean)[];
}

/** Whether the log shows what a step is about. Pure. */
export function stepSeen(step: StoryStep, log: readonly LabLogEntry[]): boolean {
  let next = 0;
  for (const { event } of log) if (step.signs[next]?.(event) === true) next++;
  return next >= step.signs.length;
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
  commands: (state) => withCopy(state, { do: "connect", copy: copyOf(state) }),
};
/** Faults meet events of an open wire, and somebody has to put the Pod back. */
const faultAndDelete = (state: LabState, fault: LabCommand): readonly LabCommand[] =>
  withCopy(
    state,
    { do: "connect", copy: copyOf(state) },
    ...(state.controller.running ? [] : [startController(state)]),
    fault,
    ...deletion(state),
  );
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
    signs: [code("copyRead")],
  },
  {
    id: "cut",
    moves: [
      cut,
      { id: "deleteFirst", commands: deletion },
      { id: "changeTwice", commands: (state) => changes(state, 2) },
    ],
    signs: [code("wireCut"), code("podDeleted"), code("podChanged"), code("podChanged")],
  },
  { id: "caughtUp", moves: [connect], signs: [code("wireCut"), written, code("caughtUp")] },
  {
    id: "tooOld",
    moves: [
      cut,
      { id: "overflow", commands: (state) => changes(state, state.truth.historyMax + 1) },
      connect,
    ],
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
    signs: [code("staleWriteRefused"), code("wireConnected")],
  },
  {
    id: "controller",
    moves: [
      { id: "startController", commands: (state) => withCopy(state, startController(state)) },
      cut,
      { id: "deleteFirst", commands: deletion },
      connect,
    ],
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
    signs: [code("eventLost"), code("eventDoubled"), code("eventDelivered"), code("controllerActed")],
  },
];
