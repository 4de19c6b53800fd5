import { setFlagsFromString } from "node:v8";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { silentLogger, type Clock } from "@meridian/runtime";
import { MmsgBatch, nodeRuntime, type DeferMmsg } from "@meridian/runtime/node";
import { AnswerSigner } from "../dnssec/answer-signer.ts";
import { OnlineSigner, type ZoneSigning } from "../dnssec/online-signer.ts";
import { nameToText } from "../name/name.ts";
import { AnswerCore } from "../server/answer-core.ts";
import { answerProxied } from "../server/proxy-datagrams.ts";
import { ProxySources } from "../server/proxy-sources.ts";
import { QueryLogRing } from "../server/query-log-ring.ts";
import { WarmUp } from "./warm-up.ts";
import { ending, WorkerControl } from "./worker-control.ts";
import type { FromWorker, ToWorker, WorkerStart } from "./worker-messages.ts";
import { ZonePages } from "./zone-pages.ts";

/*
 * A thread that answers the datagrams of one socket. It is blocked in a system call most of the time and never returns
 * to its event loop before it ends, so there are no timers and no promises here.
 */

if (parentPort === null) throw new Error("this file is the program of a worker thread");
const port = parentPort;
const start = workerData as WorkerStart;
const control = new WorkerControl(start.control);
const runtime = nodeRuntime({ dataFolder: ".", log: silentLogger });

/** When the batch that is answered now was received: limits and cookies need no more, and it is read once for all. */
let receivedMs = runtime.clock.now();
const clock: Clock = { ...runtime.clock, now: () => receivedMs };

// Lets V8 compile an answer as one piece of code; by default it stops inlining half-way. For the whole process: there is no
// such setting for one thread.
setFlagsFromString("--max-inlined-bytecode-size=2000");
setFlagsFromString("--max-inlined-bytecode-size-cumulative=10000");
setFlagsFromString("--max-inlined-bytecode-size-absolute=10000");

let warmUp: WarmUp | undefined;
// Who replaces another has time: that one still answers.
while (start.replaces && !isWarm()) stepWarmUp();
const core = new AnswerCore(start.shared, { ...runtime, clock, slot: start.slot });
const pages = new ZonePages();
pages.add(start.shared);
const signer = new AnswerSigner(runtime);
for (const signing of start.signings) sign(signing);
answerUntilEnd();

function answerUntilEnd(): void {
  const { queryLog } = start;
  const noted =
    queryLog === undefined
      ? core.answer
      : new QueryLogRing(queryLog).noting(core.answer, {
          nowMs: () => runtime.clock.now(),
          passesOn: true,
        });
  const answer = answerProxied(noted, new ProxySources(start.proxies));
  using batch = new MmsgBatch(start.socket);
  let deferred = 0;
  let deferredLost = 0;
  const defer: DeferMmsg = (message, { address, port: from }, peer) => {
    if (!control.reserveDeferred()) {
      deferredLost++;
      return;
    }
    deferred++;
    tell({ kind: "deferred", message, address, port: from, peer });
  };
  const onReceived = (): void => {
    receivedMs = runtime.clock.now();
    readMail();
  };
  const options = { wait: true, onReceived, defer };
  tell({ kind: "ready" });
  for (;;) {
    const how = control.ending;
    if (how === ending.now) return;
    options.wait = how === ending.none && isWarm() && pages.areGathered;
    const count = batch.serve(answer, options);
    // Whom nobody asks yet uses the time; what is asked warms up as well.
    if (count === 0 && !isWarm()) stepWarmUp();
    else if (count === 0) pages.step();
    control.setCounters(batch, deferred, deferredLost);
    readMail();
    if (how === ending.drained && count === 0) return;
  }
}

function isWarm(): boolean {
  return warmUp !== undefined && warmUp.isDone;
}

function stepWarmUp(): void {
  warmUp ??= new WarmUp(runtime);
  warmUp.step();
}

function readMail(): void {
  if (!control.takeMail()) return;
  for (;;) {
    const received = receiveMessageOnPort(port);
    if (received === undefined) return;
    const mail = received.message as ToWorker;
    switch (mail.kind) {
      case "share":
        core.update(mail.shared);
        pages.add(mail.shared);
        break;
      case "sign":
        sign(mail.signing);
        break;
      case "unsign":
        core.setSigner(nameToText(mail.origin), undefined);
    }
  }
}

function sign(signing: ZoneSigning): void {
  core.setSigner(nameToText(signing.origin), new OnlineSigner(signing, signer));
}

function tell(message: FromWorker): void {
  port.postMessage(message);
}
