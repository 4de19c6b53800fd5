import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpResponse } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import type { LabState } from "../lab-state.ts";
import { StateStreams } from "./state-stream.ts";

/** A source of states that are nothing but their counter. */
class Counter {
  state = { counter: 1 } as unknown as LabState;
  readonly listeners = new Set<(state: LabState) => void>();

  subscribe(listener: (state: LabState) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  move(): void {
    this.state = { counter: this.state.counter + 1 } as unknown as LabState;
    for (const listener of this.listeners) listener(this.state);
  }
}

function bench() {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "lab", addresses: ["10.0.0.1"] });
  const source = new Counter();
  const streams = new StateStreams(runtime.clock, source);
  const settle = async (ms = 0): Promise<void> => {
    await simulation.run({ untilMs: simulation.nowMs + ms });
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { source, streams, settle };
}

/** Reads a stream; each entry is the counter of a state, the last one says that it has ended. */
function read(response: HttpResponse): string[] {
  const seen: string[] = [];
  const run = async (): Promise<void> => {
    for await (const octets of response.body as AsyncIterable<Uint8Array>) {
      const text = new TextDecoder().decode(octets);
      const event = /^event: state\nid: (\d+)\ndata: \{"counter":\1\}\n\n$/.exec(text);
      seen.push(event?.[1] ?? text);
    }
    seen.push("end");
  };
  void run();
  return seen;
}

test("a stream begins with the newest state and goes on with each new one", async () => {
  const { settle, source, streams } = bench();
  const response = streams.respond(new AbortController().signal);
  assert.equal(response.headers["content-type"], "text/event-stream");
  const seen = read(response);
  await settle(100);
  source.move();
  await settle(100);
  assert.deepEqual(seen, ["retry: 1000\n\n", "1", "2"]);
});

test("what comes faster than the stream is sent is left out, but for the last", async () => {
  const { settle, source, streams } = bench();
  const seen = read(streams.respond(new AbortController().signal));
  await settle(100);
  for (let move = 0; move < 50; move++) source.move();
  await settle(100);
  assert.deepEqual(seen.slice(1), ["1", "51"]);
});

test("a stream ends with its reader, and leaves nothing behind", async () => {
  const { settle, source, streams } = bench();
  const leaving = new AbortController();
  const seen = read(streams.respond(leaving.signal));
  await settle(100);
  assert.equal(source.listeners.size, 1);
  leaving.abort();
  await settle();
  assert.equal(seen.at(-1), "end");
  assert.equal(source.listeners.size, 0);
});

test("streams are bounded, and one that ended makes room", async () => {
  const { settle, streams } = bench();
  const leaving = new AbortController();
  for (let open = 0; open < 32; open++) {
    read(streams.respond(open === 0 ? leaving.signal : new AbortController().signal));
  }
  await settle(100);
  const refused = streams.respond(new AbortController().signal);
  assert.equal(refused.status, 503);
  assert.equal(refused.headers["retry-after"], "5");
  leaving.abort();
  await settle();
  assert.equal(streams.respond(new AbortController().signal).status, 200);
});
