import assert from "node:assert/strict";
import { test } from "node:test";
import type { LabCommand } from "../../lab-commands.ts";
import type { LabEventCode, LabLogEntry, LabState } from "../../lab-state.ts";
import { isMoveDue, stepSeen, storySteps } from "./story-steps.ts";
import type { StoryMoveId } from "./story-steps.ts";

const logOf = (...codes: readonly LabEventCode[]): LabLogEntry[] =>
  codes.map((code, number) => ({ number, atMs: 0, event: { code } as LabLogEntry["event"] }));
const step = storySteps.find(({ id }) => id === "caughtUp")!;

const cases: readonly (readonly [name: string, codes: readonly LabEventCode[], seen: boolean])[] = [
  ["nothing has happened", [], false],
  [
    "all signs, with others between",
    ["wireCut", "copyRead", "podDeleted", "wireConnected", "caughtUp"],
    true,
  ],
  ["the last is missing", ["wireCut", "podDeleted"], false],
  ["another order", ["caughtUp", "podDeleted", "wireCut"], false],
];
for (const [name, codes, seen] of cases) {
  test(`a step of the story is ${seen ? "" : "not "}seen: ${name}`, () => {
    assert.equal(stepSeen(step, logOf(...codes)), seen);
  });
}

const pod = (name: string) => ({ name, value: "web:1", version: 1 });
const lab = (pods: readonly string[], copies: readonly (readonly string[])[]): LabState =>
  ({
    truth: { pods: pods.map(pod), historyMax: 4 },
    copies: copies.map((held, index) => ({
      name: `copy-${index + 1}`,
      pods: held.map((name) => ({ ...pod(name), mark: "same" })),
    })),
    controller: { running: false },
  }) as unknown as LabState;

test("every move finds something to do, whatever the lab was left as", () => {
  const left = [
    lab([], []),
    lab([], [["web-1"]]),
    lab(["web-7"], [[]]),
    lab(["web-1", "web-2"], [["web-2"], []]),
  ];
  for (const state of left) {
    for (const { id, moves } of storySteps) {
      for (const move of moves) {
        const commands: readonly LabCommand[] = move.commands(state);
        const needsPod = move.id === "sendFromCopy" && state.truth.pods.length === 0;
        assert.ok(commands.length > 0 || needsPod, `${id}: ${move.id}`);
        const first = state.copies.length === 0 && commands.some((command) => "copy" in command);
        if (first) assert.deepEqual(commands[0], { do: "addCopy" }, `${id}: ${move.id}`);
      }
    }
  }
});

test("the moves of a step come one after the other, and can be done again", () => {
  const cutStep = storySteps.find(({ id }) => id === "cut")!;
  const due = (...tried: readonly StoryMoveId[]): string =>
    cutStep.moves
      .filter((move) => isMoveDue(cutStep, move, tried))
      .map(({ id }) => id)
      .join(" ");
  assert.equal(due(), "cut");
  assert.equal(due("cut"), "cut deleteFirst");
  assert.equal(due("cut", "deleteFirst"), "cut deleteFirst changeTwice");
  assert.equal(due("deleteFirst"), "cut");
});

test("connecting again finds something to catch up with, and takes what there is", () => {
  const connect = storySteps.find(({ id }) => id === "caughtUp")!.moves[0]!;
  const state = lab(["web-1"], [["web-1"]]);
  const missed = { ...state.copies[0]!, wire: "cut", stale: true, behind: 1, version: 3 } as const;
  const cut: LabState = { ...state, truth: { ...state.truth, oldestResumable: 2 }, copies: [missed] };
  const asked = (from: LabState): string =>
    connect
      .commands(from)
      .map((command) => command.do)
      .join(" ");
  assert.equal(asked(state), "connect cut change connect");
  assert.equal(asked(cut), "connect");
  assert.equal(asked({ ...cut, copies: [{ ...missed, version: 1 }] }), "connect cut change connect");
});

test("more is written than the history holds", () => {
  const overflow = storySteps.flatMap(({ moves }) => moves).find(({ id }) => id === "overflow")!;
  assert.equal(overflow.commands(lab(["web-1"], [["web-1"]])).length, 5);
});
