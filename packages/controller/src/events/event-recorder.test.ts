import assert from "node:assert/strict";
import { test } from "node:test";
import { forbidden, notFound, serviceUnavailable } from "@meridian/kube";
import type { Event, KubeObject } from "@meridian/kube";
import { Simulation } from "@meridian/runtime/sim";
import type { KubeClient } from "../client/kube-client.ts";
import type { ObjectRef } from "../client/resource-path.ts";
import { EventCorrelator } from "./event-correlation.ts";
import type { TimedNote } from "./event-correlation.ts";
import { EventRecorder } from "./event-recorder.ts";

const events = { group: "", plural: "events" };
const gslb: KubeObject = {
  apiVersion: "k8gb.io/v1beta1",
  kind: "Gslb",
  metadata: { name: "shop", namespace: "n", uid: "u1", resourceVersion: "9" },
};
const note = { type: "Warning", reason: "InvalidHost", message: "host x is outside every zone" } as const;

/** Events as a server keeps them. */
class EventServer {
  readonly stored = new Map<string, Event>();
  writes = 0;
  /** Thrown by the next writes. */
  readonly failures: Error[] = [];

  readonly client = {
    create: async (_: unknown, event: Event) => {
      this.#fail();
      this.stored.set(event.metadata.name ?? "", event);
      return event;
    },
    patch: async (_: unknown, ref: ObjectRef, { body }: { readonly body: Partial<Event> }) => {
      this.#fail();
      const before = this.stored.get(ref.name);
      if (before === undefined) throw notFound(events, ref.name);
      this.stored.set(ref.name, { ...before, ...body });
      return before;
    },
  } as unknown as Pick<KubeClient, "create" | "patch">;

  all(): readonly Event[] {
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
  stop: () => Promise<void>;
} {
  const simulation = new Simulation({ seed: 1 });
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
  return { simulation, server, recorder, stop };
}

test("a note becomes an Event about its object", async () => {
  const { simulation, server, recorder, stop } = bench();
  recorder.record(gslb, note);
  await simulation.run({ untilMs: 1000 });
  const [event] = server.all();
  assert.match(event?.metadata.name ?? "", /^shop\.[0-9a-f]{16}$/);
  const { metadata: _, ...rest } = event as Event;
  assert.deepEqual(rest, {
    apiVersion: "v1",
    kind: "Event",
    involvedObject: {
      apiVersion: "k8gb.io/v1beta1",
      kind: "Gslb",
      name: "shop",
      namespace: "n",
      uid: "u1",
      resourceVersion: "9",
    },
    ...note,
    count: 1,
    firstTimestamp: "2026-01-01T00:00:00Z",
    lastTimestamp: "2026-01-01T00:00:00Z",
    source: { component: "k8gb", host: "pod-1" },
    reportingComponent: "k8gb",
    reportingInstance: "pod-1",
  });
  await stop();
});

test("the same note again counts up its Event, and begins anew where the server has forgotten it", async () => {
  const { simulation, server, recorder } = bench();
  recorder.record(gslb, note);
  await simulation.run({ untilMs: 5000 });
  recorder.record(gslb, note);
  recorder.record({ ...gslb, metadata: { ...gslb.metadata, resourceVersion: "10" } }, note);
  await simulation.run({ untilMs: 6000 });
  assert.deepEqual(
    server.all().map(({ count, firstTimestamp, lastTimestamp }) => [count, firstTimestamp, lastTimestamp]),
    [[3, "2026-01-01T00:00:00Z", "2026-01-01T00:00:05Z"]],
  );
  server.stored.clear();
  recorder.record(gslb, note);
  recorder.record(gslb, note);
  await simulation.run({ untilMs: 7000 });
  assert.deepEqual(
    server.all().map(({ count }) => count),
    [5],
  );
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
  for (let count = 0; count < 5000; count++) recorder.record(gslb, { ...note, message: String(count) });
  await simulation.run({ untilMs: 1000 });
  assert.ok(recorder.dropped >= 3999, String(recorder.dropped));
  await stop();
  assert.equal(simulation.pendingTimers, 0);
});

function correlator(): { next: (message: string, more?: Partial<TimedNote>) => string } {
  let names = 0;
  const subject = new EventCorrelator({ component: "k8gb", instance: "" }, () => String(names++));
  return {
    next: (message, more = {}) => {
      const write = subject.correlate({
        ...note,
        message,
        about: { kind: "Gslb", name: "shop", namespace: "n" },
        atMs: 0,
        ...more,
      });
      return write === undefined
        ? "nothing"
        : `${write.verb} ${write.event.metadata.name} ${write.event.count}: ${write.event.message}`;
    },
  };
}

test("more than ten different messages of one reason become one Event", () => {
  const { next } = correlator();
  for (let count = 0; count < 10; count++)
    assert.equal(next(`m${count}`), `create shop.${count} 1: m${count}`);
  assert.equal(next("m3"), "patch shop.3 2: m3");
  assert.equal(next("m10"), "create shop.10 1: (combined from similar events): m10");
  assert.equal(next("m11"), "patch shop.10 2: (combined from similar events): m11");
  assert.equal(next("other", { reason: "Other" }), "create shop.11 1: other");
  assert.equal(next("m12", { atMs: 600_001 }), "create shop.12 1: m12");
});

test("an object may say 25 things at once and then one each five minutes; others are not concerned", () => {
  const { next } = correlator();
  const said = Array.from({ length: 30 }, () => next("m")).filter((line) => line !== "nothing");
  assert.equal(said.length, 25);
  assert.match(next("m", { about: { kind: "Gslb", name: "other", namespace: "n" } }), /^create other\./);
  assert.equal(next("m", { atMs: 299_999 }), "nothing");
  assert.match(next("m", { atMs: 300_000 }), /^patch/);
  assert.equal(next("m", { atMs: 300_001 }), "nothing");
});

test("names and messages keep to their limits, and cluster-scoped objects to the namespace default", () => {
  const subject = new EventCorrelator({ component: "k8gb", instance: "" }, () => "f".repeat(16));
  const write = subject.correlate({
    ...note,
    message: "x".repeat(5000),
    about: { kind: "Zone", name: `${"a".repeat(229)}.${"b".repeat(20)}` },
    atMs: 0,
  });
  assert.equal(write?.event.metadata.name, `${"a".repeat(229)}.${"f".repeat(16)}`);
  assert.equal(write?.event.metadata.namespace, "default");
  assert.equal(write?.event.message?.length, 1024);
});
