import assert from "node:assert/strict";
import { test } from "node:test";
import {
  afterAnswer,
  expiresAt,
  rememberedView,
  sameView,
  unknownView,
  usableTargets,
  viewAt,
  type PeerAnswer,
  type PeerView,
} from "./peer-view.ts";

const answered = (...targets: string[]): PeerAnswer => ({ kind: "answered", targets, verdict: "an answer" });
const failed: PeerAnswer = { kind: "failed", verdict: "SERVFAIL" };

/** A story of answers, one per second from 1000 on, and the view that it ends with. */
function after(...answers: readonly PeerAnswer[]): PeerView {
  return answers.reduce(
    (view, answer, index) => afterAnswer(view, answer, 1000 * (index + 1)),
    unknownView("us", "A"),
  );
}

const stories: readonly {
  readonly name: string;
  readonly answers: readonly PeerAnswer[];
  readonly expect: Partial<PeerView>;
}[] = [
  { name: "nothing happened: unknown", answers: [], expect: { state: "unknown", targets: [] } },
  {
    name: "an answer with targets is fresh, sorted, each once",
    answers: [answered("b", "a", "b")],
    expect: { state: "fresh", targets: ["a", "b"], asOf: 1000 },
  },
  {
    name: "an answer without targets is empty at once",
    answers: [answered("a"), answered()],
    expect: { state: "empty", targets: [], asOf: 2000 },
  },
  {
    name: "a failure keeps the last targets and their moment",
    answers: [answered("a"), failed],
    expect: { state: "unreachable", targets: ["a"], asOf: 1000, unreachableSince: 2000 },
  },
  {
    name: "repeated failures keep the moment of the first",
    answers: [answered("a"), failed, failed, failed],
    expect: { state: "unreachable", unreachableSince: 2000 },
  },
  {
    name: "a peer that failed from the start has nothing to keep",
    answers: [failed],
    expect: { state: "unreachable", targets: [], unreachableSince: 1000 },
  },
  {
    name: "a failure after empty keeps empty",
    answers: [answered("a"), answered(), failed],
    expect: { state: "unreachable", targets: [] },
  },
  {
    name: "an answer after failures is fresh again",
    answers: [answered("a"), failed, answered("b")],
    expect: { state: "fresh", targets: ["b"], asOf: 3000 },
  },
];

for (const { name, answers, expect } of stories) {
  test(name, () => {
    const view = after(...answers);
    for (const [field, value] of Object.entries(expect))
      assert.deepEqual(view[field as keyof PeerView], value, field);
    if (view.state !== "unreachable") assert.equal(view.unreachableSince, undefined);
  });
}

test("an unreachable view expires when the threshold is over, and not before", () => {
  const view = after(answered("a"), failed); // unreachable since 2000
  const cases = [
    { threshold: 0, now: 2000, state: "expired" },
    { threshold: 5, now: 6999, state: "unreachable" },
    { threshold: 5, now: 7000, state: "expired" },
    { threshold: 5, now: 1000, state: "unreachable" }, // the clock went back: never longer than from now on
  ] as const;
  for (const { threshold, now, state } of cases) {
    const at = viewAt(view, threshold, now);
    assert.equal(at.state, state);
    assert.deepEqual(usableTargets(at), state === "expired" ? [] : ["a"]);
  }
  assert.equal(expiresAt(view, 5), 7000);
  assert.equal(expiresAt(after(answered("a")), 5), undefined);
});

test("a restart neither renews nor shortens the bound", () => {
  const before = after(answered("a"), failed);
  const memory = { targets: before.targets, unreachableSince: before.unreachableSince! };
  const restarted = rememberedView(unknownView("us", "A"), memory);
  assert.equal(restarted.state, "unknown");
  assert.deepEqual(usableTargets(restarted), []);
  const failedAgain = afterAnswer(restarted, failed, 90_000);
  assert.deepEqual(
    [failedAgain.state, failedAgain.unreachableSince, failedAgain.targets],
    ["unreachable", 2000, ["a"]],
  );
  const answeredAgain = afterAnswer(restarted, answered("c"), 90_000);
  assert.deepEqual(
    [answeredAgain.state, answeredAgain.unreachableSince, answeredAgain.targets],
    ["fresh", undefined, ["c"]],
  );
});

test("a peer that was fresh before the restart is believed from its first failure after it", () => {
  const restarted = rememberedView(unknownView("us", "A"), { targets: ["a"] });
  const failedNow = afterAnswer(restarted, failed, 90_000);
  assert.deepEqual([failedNow.targets, failedNow.unreachableSince], [["a"], 90_000]);
});

test("an answer that says the same again changes nothing that counts", () => {
  const first = after(answered("a"));
  assert.ok(sameView(first, afterAnswer(first, answered("a"), 9000)));
  assert.ok(!sameView(first, afterAnswer(first, failed, 9000)));
  assert.ok(!sameView(first, afterAnswer(first, answered("a", "b"), 9000)));
});
