import assert from "node:assert/strict";
import { test } from "node:test";
import { ConvergenceTimer } from "./convergence-timer.ts";

function timed(): { timer: ConvergenceTimer; pass: (ms: number) => void; told: string[] } {
  let nowMs = 0;
  const told: string[] = [];
  const timer = new ConvergenceTimer({ monotonicMs: () => nowMs });
  timer.listener = (cause, seconds) => told.push(`${cause} ${seconds}`);
  return { timer, told, pass: (ms) => (nowMs += ms) };
}

test("the time from the first change that is seen to the answer is told once", () => {
  const { timer, pass, told } = timed();
  timer.begin("demo/app", "endpoints");
  pass(10);
  timer.begin("demo/app", "peer");
  timer.decided("demo/app", true);
  timer.decided("demo/app", false);
  pass(15);
  timer.served("demo/app");
  timer.served("demo/app");
  assert.deepEqual(told, ["endpoints 0.025"]);
});

test("a change that changes no answer is not timed, nor an answer without one, nor one that is gone", () => {
  const { timer, told } = timed();
  timer.begin("demo/app", "peer");
  timer.decided("demo/app", false);
  timer.served("demo/app");
  timer.decided("demo/other", true);
  timer.served("demo/other");
  timer.begin("demo/third", "peer");
  timer.decided("demo/third", true);
  timer.forget("demo/third");
  timer.served("demo/third");
  assert.deepEqual(told, []);
});
