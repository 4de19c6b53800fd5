import assert from "node:assert/strict";
import { test } from "node:test";
import { alreadyExists, forbidden, notFound, serviceUnavailable } from "@meridian/kube";
import type { KubeObject, SeriesEvent } from "@meridian/kube";
import { Simulation } from "@meridian/runtime/sim";
import type { SimLogLine } from "@meridian/runtime/sim";
import type { KubeClient } from "../client/kube-client.ts";
import type { ObjectRef } from "../client/resource-path.ts";
import { EventCorrelator } from "./event-correlation.ts";
import type { TimedNote } from "./event-correlation.ts";
import { EventRecorder } from "./event-recorder.ts";

const events = { group: "events.k8s.io", plural: "events" };
const gslb: KubeObject = {
  apiVersion: "k8gb.io/v1beta1",
  kind: "Gslb",
  metadata: { name: "shop", namespace: "n", uid: "u1", resourceVersion: "9" },
};
const note = { type: "Warning", reason: "InvalidHost", message: "host x is outside every zone" } as const;

/** Events as a server keeps them. */
class EventServer {
  readonly stored = new Map<string, SeriesEvent>();
  writes = 0;
  /** Thrown by the next writes. */
  readonly failures: Error[] = [];
  /** So many of the next writes are done, and not answered. */
  losesAnswers = 0;

  readonly client = {
    create: async (_: unknown, event: SeriesEvent) => {
      this.#fail();
      const { name = "" } = event.metadata;
      if (this.stored.has(name)) throw alreadyExists(events, name);
      this.stored.set(name, event);
      if (this.losesAnswers-- > 0) throw new Error("the connection broke");
      return event;
    },
    patch: async (_: unknown, ref: ObjectRef, { body }: { readonly body: Partial<SeriesEvent> }) => {
      this.#fail();
      const before = this.stored.get(ref.name);
      if (before === undefined) throw notFound(events, ref.name);
      this.stored.set(ref.name, { ...before, ...body });
      return before;
    },
  } as unknown as Pick<KubeClient, "create" | "patch">;

  all(): readonly SeriesEvent[] {
    return [...this.stored.values()];
  }

  #fail(): void {
    this.writes++;
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
  }
}

function bench(): {
  simulation: Simulation;
  server: EventServer;
  recorder: EventRecorder;
  logged: readonly SimLogLine[];
  stop: () => Promise<void>;
} {
  const logged: SimLogLine[] = [];
  const simulation = new Simulation({ seed: 1, onLog: (line) => logged.push(line) });
  const { runtime } = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
  const server = new EventServer();
  const recorder = new EventRecorder(runtime, {
    client: server.client,
    component: "k8gb",
    instance: "pod-1",
  });
  const stopping = new AbortController();
  const running = recorder.run(stopping.signal);
  const stop = (): Promise<void> => {
    stopping.abort();
    return simulation.complete(running);
  };
  return { simulation, server, recorder, logged, stop };
}

test("a note becomes an Event about its object", async () => {
  const { simulation, server, recorder, stop } = bench();
  recorder.record(gslb, note);
  await simulation.run({ untilMs: 1000 });
  const [event] = server.all();
  assert.match(event?.metadata.name ?? "", /^shop\.[0-9a-f]{16}$/);
  const { metadata, ...rest } = event as SeriesEvent;
  assert.equal(metadata.namespace, "n");
  assert.deepEqual(rest, {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    eventTime: "2026-01-01T00:00:00.000000Z",
    type: "Warning",
    reason: "InvalidHost",
    action: "Reconcile",
    note: "host x is outside every zone",
    regarding: {
      apiVersion: "k8gb.io/v1beta1",
      kind: "Gslb",
      name: "shop",
      namespace: "n",
      uid: "u1",
      resourceVersion: "9",
    },
    reportingController: "k8gb",
    reportingInstance: "pod-1",
  });
  await stop();
});

test("what is no note about an object is logged and ignored, and what follows is written", async () => {
  const { simulation, server, recorder, logged, stop } = bench();
  const record = recorder.record.bind(recorder) as (about?: unknown, note?: unknown) => void;
  const { metadata, ...unnamed } = gslb;
  const malformed: readonly (readonly [problem: string, about?: unknown, note?: unknown])[] = [
    ["the object must be one with apiVersion, kind and metadata, not undefined"],
    ['the object must be one with apiVersion, kind and metadata, not "shop"', "shop", note],
    ["the object has no metadata", {}, note],
    ["the object has no metadata", { ...gslb, metadata: null }, note],
    [
      "the object's kind must be a text that is not empty, not undefined",
      { apiVersion: "v1", metadata },
      note,
    ],
    [
      'the object\'s name must be a text that is not empty, not ""',
      { ...gslb, metadata: { name: "" } },
      note,
    ],
    ["the object's uid must be a text, not 7", { ...unnamed, metadata: { ...metadata, uid: 7 } }, note],
    ["the note about Gslb n shop must have type, reason and message, and is undefined", gslb],
    ["of the note about Gslb n shop the type must be Normal or Warning, not undefined", gslb, {}],
    [
      'of the note about Gslb n shop the type must be Normal or Warning, not "Error"',
      gslb,
      { ...note, type: "Error" },
    ],
    [
      "of the note about Gslb n shop the reason must be a text that is not empty, not undefined",
      gslb,
      { type: "Normal" },
    ],
    [
      "of the note about Gslb n shop the message must be a text, not an object",
      gslb,
      { ...note, message: new Error("x") },
    ],
    ["of the note about Gslb n shop the action must be a text, not a list", gslb, { ...note, action: [] }],
  ];
  for (const [problem, about, malformedNote] of malformed) {
    record(about, malformedNote);
    const { level, message, fields } = logged.at(-1)!;
    assert.deepEqual([level, message, fields["problem"]], ["error", "event ignored", problem]);
  }
  assert.deepEqual([recorder.dropped, logged.length], [malformed.length, malformed.length]);
  record(gslb, { ...note, message: "" });
  await simulation.run({ untilMs: 1000 });
  assert.deepEqual(
    server.all().map((event) => event.note),
    [""],
  );
  await stop();
});

const seriesOf = (server: EventServer): readonly string[] =>
  server.all().map(({ series }) => `${series?.count ?? 1} ${series?.lastObservedTime.slice(14, 19) ?? ""}`);

const countsOf = (server: EventServer): readonly number[] =>
  server.all().map(({ series }) => series?.count ?? 1);

test("the same note again is a series of its Event, told at once and then at growing intervals", async () => {
  const { simulation, server, recorder, stop } = bench();
  recorder.record(gslb, note);
  await simulation.run({ untilMs: 5000 });
  recorder.record({ ...gslb, metadata: { ...gslb.metadata, uid: "u1" } }, note);
  await simulation.run({ untilMs: 5001 });
  assert.deepEqual(seriesOf(server), ["2 00:05"]);
  for (let atMs = 6000; atMs < 600_000; atMs += 1000)
    simulation.schedule(atMs - 5001, () => recorder.record(gslb, note));
  await simulation.run({ untilMs: 600_000 });
  assert.ok(server.writes < 10, `${server.writes} writes`);
  await simulation.run({ untilMs: 1_000_000 });
  assert.deepEqual(countsOf(server), [596], "the last count is written, too");
  recorder.record(gslb, note);
  await simulation.run({ untilMs: 1_001_000 });
  assert.deepEqual(countsOf(server), [596, 1], "after six minutes of silence it begins anew");
  await stop();
  assert.equal(simulation.pendingTimers, 0);
});

test("a series goes on under another name where the server has forgotten its Event", async () => {
  const { simulation, server, recorder, stop } = bench();
  recorder.record(gslb, note);
  await simulation.run({ untilMs: 1000 });
  server.stored.clear();
  recorder.record(gslb, note);
  await simulation.run({ untilMs: 2000 });
  assert.deepEqual(seriesOf(server), ["2 00:01"]);
  await stop();
});

test("an answer that was lost does not make two Events", async () => {
  const { simulation, server, recorder, stop } = bench();
  server.losesAnswers = 1;
  recorder.record(gslb, note);
  await simulation.run({ untilMs: 60_000 });
  assert.deepEqual([server.all().length, recorder.dropped, server.writes], [1, 0, 2]);
  await stop();
});

test("a server that is away is waited for, one that refuses is not", async () => {
  const { simulation, server, recorder } = bench();
  server.failures.push(
    serviceUnavailable("later"),
    new Error("connection refused"),
    forbidden(events, "", "no"),
  );
  recorder.record(gslb, note);
  recorder.record(gslb, { ...note, message: "other" });
  await simulation.run({ untilMs: 60_000 });
  assert.deepEqual([server.all().length, recorder.dropped, server.writes], [1, 1, 4]);
});

test("recording never waits and never fails: beyond its limit notes are dropped and counted", async () => {
  const { simulation, server, recorder, stop } = bench();
  server.failures.push(...Array.from({ length: 100 }, () => new Error("away")));
  for (let count = 0; count < 5000; count++)
    recorder.record({ ...gslb, metadata: { ...gslb.metadata, name: `shop-${count}` } }, note);
  await simulation.run({ untilMs: 1000 });
  assert.equal(recorder.dropped, 4000);
  await stop();
  assert.equal(simulation.pendingTimers, 0);
});

test("a stop writes what waits, if that is soon done", async () => {
  const { simulation, server, recorder, stop } = bench();
  recorder.record(gslb, note);
  await simulation.run({ untilMs: 10 });
  for (let count = 0; count < 3; count++) recorder.record(gslb, note);
  await simulation.run({ untilMs: 20 });
  for (let count = 0; count < 3; count++) recorder.record(gslb, note);
  recorder.record(gslb, { ...note, message: "the last word" });
  await stop();
  assert.deepEqual(
    server.all().map((event) => [event.note, event.series?.count ?? 1]),
    [
      [note.message, 7],
      ["the last word", 1],
    ],
  );
});

/** A correlator whose writes are done at once, and as what each note ends. */
function correlator(): { next: (message: string, more?: Partial<TimedNote>) => string } {
  let names = 0;
  const subject = new EventCorrelator({ component: "k8gb", instance: "k8gb" }, () => String(names++));
  return {
    next: (message, more = {}) => {
      const about = { kind: "Gslb", name: "shop", namespace: "n" };
      const timed = { ...note, message, about, atMs: 0, ...more };
      if (!subject.add(timed, timed.atMs)) return "nothing";
      const pending = subject.next(Infinity);
      pending?.onWritten();
      if (pending?.write.verb === "create")
        return `create ${pending.about.metadata.name}: ${pending.about.note}`;
      return `patch ${pending?.about.metadata.name} ${pending?.write.body.series.count}`;
    },
  };
}

test("more than ten different messages of one reason become one Event", () => {
  const { next } = correlator();
  for (let count = 0; count < 10; count++) assert.equal(next(`m${count}`), `create shop.${count}: m${count}`);
  assert.equal(next("m3"), "patch shop.3 2");
  assert.equal(next("m10"), "create shop.10: (combined from similar events): m10");
  assert.equal(next("m11"), "patch shop.10 2");
  assert.equal(next("m3"), "patch shop.3 3");
  assert.equal(next("other", { reason: "Other" }), "create shop.11: other");
  assert.equal(next("m12", { atMs: 600_001 }), "create shop.12: m12");
});

test("an object may have 25 new Events at once and then one each five minutes; others are not concerned", () => {
  const { next } = correlator();
  const said = Array.from({ length: 30 }, (_, at) => next("m", { reason: `R${at}` }));
  assert.equal(said.filter((line) => line !== "nothing").length, 25);
  assert.match(next("m", { about: { kind: "Gslb", name: "other", namespace: "n" } }), /^create other\./);
  assert.match(next("m", { reason: "R3" }), /^patch/, "what it has said already may be said again");
  assert.equal(next("m", { reason: "S1", atMs: 299_999 }), "nothing");
  assert.match(next("m", { reason: "S2", atMs: 300_000 }), /^create/);
  assert.equal(next("m", { reason: "S3", atMs: 300_001 }), "nothing");
});

test("names and messages keep to their limits, and cluster-scoped objects to the namespace default", () => {
  const subject = new EventCorrelator({ component: "k8gb", instance: "k8gb" }, () => "f".repeat(16));
  const about = { kind: "Zone", name: `${"a".repeat(229)}.${"b".repeat(20)}` };
  subject.add({ ...note, message: "\u{1f600}\u3042".repeat(500), about, atMs: 0 }, 0);
  const event = subject.next(0)?.about;
  assert.equal(event?.metadata.name, `${"a".repeat(229)}.${"f".repeat(16)}`);
  assert.equal(event?.metadata.namespace, "default");
  assert.equal(event?.note, `${"\u{1f600}\u3042".repeat(145)}\u{1f600}…`);
});
