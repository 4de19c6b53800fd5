import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpClient, HttpClientRequest } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { FaultyWire } from "./faulty-wire.ts";
import type { WireIncident } from "./faulty-wire.ts";

const line = (version: number): string =>
  `${JSON.stringify({ type: "ADDED", object: { kind: "Pod", metadata: { name: `web-${version}`, resourceVersion: String(version) } } })}\n`;
const watchTarget = "/api/v1/namespaces/default/pods?watch=1&resourceVersion=2";

/** A server whose answers are written by the test, beyond a wire. */
class Bench {
  readonly simulation = new Simulation({ seed: 1 });
  readonly incidents: string[] = [];
  readonly requests: HttpClientRequest[] = [];
  readonly wire: FaultyWire;
  /** What has come through, a portion an entry; how it ended is the last one. */
  readonly received: string[] = [];
  #send: (text: string | undefined) => void = () => {};

  constructor() {
    const { runtime } = this.simulation.node({ name: "lab", addresses: ["10.0.0.1"] });
    const inner: HttpClient = {
      request: async (request) => {
        this.requests.push(request);
        return { status: 200, headers: {}, body: this.#body(request.signal) };
      },
      async [Symbol.asyncDispose]() {},
    };
    this.wire = new FaultyWire(inner, {
      clock: runtime.clock,
      listener: {
        onChange() {},
        onIncident: ({ event, what }: WireIncident) =>
          this.incidents.push(`${what} ${event.resourceVersion}`),
      },
    });
  }

  /** Opens a watch and reads it until it ends. */
  open(target: string = watchTarget, signal?: AbortSignal): void {
    const read = async (): Promise<void> => {
      const request = { method: "GET", target, ...(signal !== undefined && { signal }) };
      const { body } = await this.wire.request(request);
      for await (const octets of body) this.received.push(new TextDecoder().decode(octets));
      this.received.push("end");
    };
    read().catch((error: unknown) => this.received.push((error as Error).message));
  }

  async send(...versions: readonly number[]): Promise<void> {
    for (const version of versions) this.#send(line(version));
    await this.settle();
  }

  async end(): Promise<void> {
    this.#send(undefined);
    await this.settle();
  }

  async settle(ms = 0): Promise<void> {
    await this.simulation.run({ untilMs: this.simulation.nowMs + ms });
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  async *#body(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void> {
    const waiting: (string | undefined)[] = [];
    let wake = (): void => {};
    this.#send = (text) => {
      waiting.push(text);
      wake();
    };
    signal?.addEventListener("abort", () => wake());
    for (;;) {
      signal?.throwIfAborted();
      if (waiting.length === 0) {
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      const text = waiting.shift();
      if (text === undefined) return;
      yield new TextEncoder().encode(text);
    }
  }
}

const cutMessage = "the connection broke: the wire was cut";

test("an open wire lets everything through as it is, and the end as well", async () => {
  const bench = new Bench();
  bench.open();
  await bench.settle();
  await bench.send(3, 4);
  await bench.end();
  assert.deepEqual(bench.received, [line(3), line(4), "end"]);
  assert.deepEqual(bench.incidents, []);
});

test("a cut wire breaks what is under way, and lets new requests wait until it is connected", async () => {
  const bench = new Bench();
  bench.open();
  await bench.settle();
  await bench.send(3);
  bench.wire.cut();
  await bench.settle();
  assert.deepEqual(bench.received, [line(3), cutMessage]);
  assert.equal(bench.requests[0]?.signal?.aborted, true, "the server's side is ended as well");

  bench.open();
  await bench.settle(60_000);
  assert.equal(bench.requests.length, 1, "nothing has reached the server");
  bench.wire.connect();
  await bench.settle();
  assert.equal(bench.requests.length, 2);
  await bench.send(4);
  assert.deepEqual(bench.received.slice(2), [line(4)]);
});

test("a request that waits for a cut wire ends with its signal", async () => {
  const bench = new Bench();
  bench.wire.cut();
  const stopping = new AbortController();
  bench.open(watchTarget, stopping.signal);
  await bench.settle();
  stopping.abort(new Error("enough"));
  await bench.settle();
  assert.deepEqual(bench.received, ["enough"]);
});

test("a silent wire keeps the connection and everything that comes, until it is connected", async () => {
  const bench = new Bench();
  bench.open();
  await bench.settle();
  bench.wire.silence();
  await bench.send(3, 4);
  assert.deepEqual(bench.received, []);
  assert.equal(bench.wire.heldBack, 2);
  await bench.end();
  assert.deepEqual(bench.received, [], "nor does the end come through");
  bench.wire.connect();
  await bench.settle();
  assert.deepEqual(bench.received, [line(3), line(4), "end"]);
  assert.equal(bench.wire.heldBack, 0);
});

test("what a silent wire holds is gone when it is cut", async () => {
  const bench = new Bench();
  bench.open();
  await bench.settle();
  bench.wire.silence();
  await bench.send(3);
  bench.wire.cut();
  await bench.settle();
  assert.deepEqual(bench.received, [cutMessage]);
  assert.equal(bench.wire.heldBack, 0);
});

test("an event is lost with its connection, which breaks in the middle of it", async () => {
  const bench = new Bench();
  bench.open();
  await bench.settle();
  bench.wire.arm({ fault: "lose", ms: 0 });
  await bench.send(3, 4);
  assert.equal(bench.received.length, 2);
  assert.ok(line(3).startsWith(bench.received[0] ?? "?") && bench.received[0] !== line(3));
  assert.equal(bench.received[1], cutMessage);
  assert.deepEqual(bench.incidents, ["lost 3"]);
  assert.equal(bench.wire.armed, undefined, "it befalls one event");
});

test("an event that is lost silently is missing from the stream, and nothing else is", async () => {
  const bench = new Bench();
  bench.open();
  await bench.settle();
  bench.wire.arm({ fault: "loseSilently", ms: 0 });
  await bench.send(3, 4);
  assert.deepEqual(bench.received, [line(4)]);
  assert.deepEqual(bench.incidents, ["lostSilently 3"]);
});

test("a doubled event comes twice", async () => {
  const bench = new Bench();
  bench.open();
  await bench.settle();
  bench.wire.arm({ fault: "double", ms: 0 });
  await bench.send(3, 4);
  assert.deepEqual(bench.received, [line(3), line(3), line(4)]);
  assert.deepEqual(bench.incidents, ["doubled 3"]);
});

test("a delayed event keeps what follows it waiting, in order", async () => {
  const bench = new Bench();
  bench.open();
  await bench.settle();
  bench.wire.arm({ fault: "delay", ms: 5_000 });
  await bench.send(3, 4);
  await bench.settle(4_999);
  assert.deepEqual(bench.received, []);
  assert.equal(bench.wire.heldBack, 2);
  await bench.settle(1);
  assert.deepEqual(bench.received, [line(3), line(4)]);
  assert.deepEqual(bench.incidents, ["delayed 3", "delivered 3"]);
  assert.equal(bench.wire.heldBack, 0);
});

test("a fault waits for an event: bookmarks and lists pass", async () => {
  const bench = new Bench();
  bench.open("/api/v1/namespaces/default/pods?limit=500");
  await bench.settle();
  bench.wire.arm({ fault: "loseSilently", ms: 0 });
  await bench.send(3);
  assert.deepEqual(bench.received, [line(3)]);
  assert.deepEqual(bench.wire.armed, { fault: "loseSilently", ms: 0 });
});
