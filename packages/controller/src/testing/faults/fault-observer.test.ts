import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType } from "@meridian/kube";
import type { ConfigMap } from "@meridian/kube";
import { testRuntime } from "../test-runtime.ts";
import { ApiTruth } from "../truth/api-truth.ts";
import type { EventFault } from "./fault.ts";
import { FaultyHttp } from "./faulty-http.ts";
import { httpTo } from "./http-to.ts";

const collection = "/api/v1/namespaces/n/configmaps";

interface Asked {
  readonly target?: string;
  readonly signal?: AbortSignal;
}

/** A box before an API, with one who is told of everything, and a watch whose lines are read. */
class Bench {
  readonly #base = testRuntime();
  readonly #truth = new ApiTruth({ types: [configMapType], clock: this.#base.clock });
  /** What befell which events: a fault, `…` where it is not over, and the name of the object. */
  readonly told: string[] = [];
  /** How many events were held back, each time that it was another number. */
  readonly held: number[] = [];
  /** Each portion as it came: the names in it, or `~` for a part of a line; how it ended is the last one. */
  readonly received: string[] = [];
  readonly box: FaultyHttp = new FaultyHttp(this.#base.runtime, {
    chunks: "whole",
    observer: {
      onChange: () => {
        if (this.box.heldEvents !== (this.held.at(-1) ?? 0)) this.held.push(this.box.heldEvents);
      },
      onEventFault: ({ fault, line, over }) =>
        this.told.push(`${fault.do}${over ? "" : "…"} ${namesIn(new TextDecoder().decode(line))}`),
    },
  });
  readonly #client = this.box.client(httpTo(this.#truth.handler));

  /** Asks, by default for a watch from now on, and reads the answer until it ends. */
  async open({ target = this.#watch, signal }: Asked = {}): Promise<void> {
    const read = async (): Promise<void> => {
      const { body } = await this.#client.request({ method: "GET", target, ...(signal && { signal }) });
      for await (const octets of body) this.received.push(namesIn(new TextDecoder().decode(octets)));
      this.received.push("end");
    };
    read().catch((error: unknown) => this.received.push((error as Error).message.replace(/:.*/, "")));
    await this.pass();
  }

  get #watch(): string {
    return `${collection}?watch=1&resourceVersion=${this.#truth.version}`;
  }

  async write(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.#truth.put<ConfigMap>({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "n", name } });
    }
    await this.pass();
  }

  async bookmark(): Promise<void> {
    this.#truth.bookmark();
    await this.pass();
  }

  pass(ms = 1): Promise<void> {
    return this.#base.clock.advance(ms);
  }
}

function namesIn(text: string): string {
  if (!text.endsWith("\n") && text.startsWith('{"type"')) return "~";
  return Array.from(text.matchAll(/"name":"([^"]+)"/g), ([, name]) => name).join(" ");
}

const stories: readonly {
  readonly fault: EventFault;
  readonly told: readonly string[];
  readonly received: readonly string[];
}[] = [
  { fault: { do: "drop" }, told: ["drop a"], received: ["b"] },
  { fault: { do: "double" }, told: ["double a"], received: ["a", "a", "b"] },
  { fault: { do: "break" }, told: ["break a"], received: ["~", "the connection broke"] },
  { fault: { do: "delay", ms: 10 }, told: ["delay… a", "delay a"], received: ["a", "b"] },
];
for (const { fault, told, received } of stories) {
  test(`${JSON.stringify(fault)} befalls one event, and that is told`, async () => {
    const bench = new Bench();
    await bench.open();
    bench.box.befallEvent(fault);
    await bench.write("a", "b");
    await bench.pass(100);
    assert.deepEqual(bench.told, told);
    assert.deepEqual(bench.received, received);
  });
}

test("what is late is held back, with everything behind it", async () => {
  const bench = new Bench();
  await bench.open();
  bench.box.befallEvent({ do: "delay", ms: 5_000 });
  await bench.write("a", "b");
  await bench.pass(4_000);
  assert.equal(bench.box.heldEvents, 2);
  assert.deepEqual(bench.told, ["delay… a"]);
  await bench.pass(1_000);
  assert.equal(bench.box.heldEvents, 0);
  assert.deepEqual(bench.received, ["a", "b"]);
  assert.equal(bench.held.at(-1), 0, "the observer is told of that");
});

test("a silent box holds everything back until it is connected, the end as well, and tells how much", async () => {
  const bench = new Bench();
  await bench.open();
  bench.box.silence();
  await bench.write("a");
  await bench.bookmark();
  await bench.write("b");
  bench.box.cutWatches("clean");
  await bench.pass();
  assert.deepEqual([bench.held, bench.received], [[1, 2], []], "a bookmark is no event");
  bench.box.connect();
  await bench.pass();
  assert.deepEqual(bench.received, ["a", "", "b", "end"]);
  assert.equal(bench.box.heldEvents, 0);
});

test("what a silent box holds is gone when it is cut", async () => {
  const bench = new Bench();
  await bench.open();
  bench.box.silence();
  await bench.write("a");
  bench.box.cut();
  await bench.pass();
  assert.deepEqual(bench.received, ["the connection broke"]);
  assert.equal(bench.box.heldEvents, 0);
});

test("a request that waits for a cut box ends with its signal", async () => {
  const bench = new Bench();
  bench.box.cut();
  const stopping = new AbortController();
  await bench.open({ signal: stopping.signal });
  stopping.abort(new Error("enough"));
  await bench.pass();
  assert.deepEqual(bench.received, ["enough"]);
});

test("a fault waits for an event: bookmarks and lists pass, and it can be forgotten", async () => {
  const bench = new Bench();
  await bench.write("a");
  bench.box.befallEvent({ do: "drop" });
  await bench.open({ target: collection });
  await bench.open();
  await bench.bookmark();
  assert.deepEqual(bench.received, ["a", "end", ""]);
  bench.box.spareEvents();
  await bench.write("b");
  assert.deepEqual([bench.received.at(-1), bench.told], ["b", []]);
});
