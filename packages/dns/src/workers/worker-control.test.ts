import assert from "node:assert/strict";
import test from "node:test";
import { ending, sumCounters, WorkerControl } from "./worker-control.ts";

test("both sides of a control see the same", () => {
  const main = new WorkerControl();
  const worker = new WorkerControl(main.memory);
  assert.equal(worker.ending, ending.none);
  main.end(ending.drained);
  assert.equal(worker.ending, ending.drained);

  assert.equal(worker.takeMail(), false);
  main.announceMail();
  main.announceMail();
  assert.deepEqual([worker.takeMail(), worker.takeMail()], [true, false]);

  worker.setCounters({ received: 5, answered: 4, unsendable: 1, unanswerable: 0 }, 3, 2);
  const counted = { received: 5, answered: 4, unsendable: 1, unanswerable: 0, deferred: 3, deferredLost: 2 };
  assert.deepEqual(main.counters, counted);
  assert.deepEqual(sumCounters([main.counters, worker.counters]).received, 10);
});

test("a worker that hands on more than is taken runs out of room, until some is", () => {
  const main = new WorkerControl();
  const worker = new WorkerControl(main.memory);
  let handedOn = 0;
  while (handedOn < 100_000 && worker.reserveDeferred()) handedOn++;
  assert.equal(handedOn, 1_024);
  main.releaseDeferred();
  assert.deepEqual([worker.reserveDeferred(), worker.reserveDeferred()], [true, false]);
});
