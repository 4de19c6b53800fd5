import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType } from "@meridian/kube";
import type { ConfigMap } from "@meridian/kube";
import type { KubeClient } from "../../client/kube-client.ts";
import { testApi } from "../test-api.ts";
import type { FakeClock } from "../test-runtime.ts";
import type { ApiTruth } from "../truth/api-truth.ts";
import { refusals } from "./fault.ts";
import type { FaultyHttp } from "./faulty-http.ts";

/** An API, and what a test does with it. */
class Bench {
  readonly #api = testApi({ types: [configMapType], client: { deadlineMs: 10_000 } });
  readonly clock: FakeClock = this.#api.clock;
  readonly truth: ApiTruth = this.#api.truth;
  readonly box: FaultyHttp = this.#api.box;
  readonly client: KubeClient = this.#api.client;

  write(name: string): void {
    this.truth.put<ConfigMap>({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "n", name },
      data: { text: "äöü".repeat(20) },
    });
  }

  /** Follows a watch; its events, and then how it ended, in words. */
  async watch(options: { readonly sendInitialEvents?: boolean } = {}): Promise<string[]> {
    const told: string[] = [];
    const resourceVersion = String(this.truth.version);
    const watch = await this.clock.outcome(
      this.client.watch<ConfigMap>(configMapType, {
        ...(options.sendInitialEvents === true
          ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" }
          : { resourceVersion }),
        timeoutSeconds: 300,
      }),
    );
    const follow = async (): Promise<void> => {
      for await (const { type, object } of watch) {
        const metadata = "metadata" in object ? object.metadata : undefined;
        const marked = (metadata as ConfigMap["metadata"])?.annotations === undefined ? "" : "!";
        told.push(
          `${type}${marked} ${(metadata as ConfigMap["metadata"])?.name ?? (object as { code?: number }).code ?? ""}`.trim(),
        );
      }
    };
    follow().then(
      () => told.push("end"),
      (error: unknown) => told.push(String((error as { reason?: unknown }).reason)),
    );
    await this.clock.advance(1);
    return told;
  }

  get list(): Promise<number> {
    return this.client.list<ConfigMap>(configMapType).then(({ items }) => items.length);
  }
}

interface Story {
  readonly name: string;
  readonly tell: (bench: Bench) => Promise<void> | void;
  readonly expected: readonly string[];
}

const stories: readonly Story[] = [
  { name: "nothing: events come as they are", tell: () => {}, expected: ["ADDED b"] },
  { name: "a clean cut: the end", tell: ({ box }) => box.cutWatches("clean"), expected: ["end"] },
  {
    name: "a broken connection",
    tell: ({ box }) => box.cutWatches("broken"),
    expected: ["TruncatedResponse"],
  },
  {
    name: "a cut inside a document",
    tell: ({ box }) => box.cutWatches("inside"),
    expected: ["TruncatedResponse"],
  },
  {
    name: "an ERROR event, and the watch stays open",
    tell: ({ box }) => box.failWatches(refusals.expired),
    expected: ["ERROR 410", "ADDED b"],
  },
  {
    name: "an event that comes twice",
    tell: ({ box }) => box.befallEvent({ do: "double" }),
    expected: ["ADDED b", "ADDED b"],
  },
  {
    name: "an event that is lost with its connection",
    tell: ({ box }) => box.befallEvent({ do: "break" }),
    expected: ["TruncatedResponse"],
  },
  { name: "an event that is lost", tell: ({ box }) => box.befallEvent({ do: "drop" }), expected: [] },
  {
    name: "an event of the past once more",
    async tell(bench) {
      bench.write("c");
      await bench.clock.advance(1);
      bench.box.repeat(0);
    },
    expected: ["ADDED c", "ADDED c", "ADDED b"],
  },
  {
    name: "an event that comes late",
    async tell({ box, clock }) {
      box.hold(500);
      await clock.advance(400);
    },
    expected: ["ADDED b"],
  },
  {
    name: "a black hole that ends: everything comes then",
    async tell(bench) {
      bench.box.silence();
      bench.write("c");
      await bench.clock.advance(100_000);
      bench.box.connect();
    },
    expected: ["ADDED c", "ADDED b"],
  },
  {
    name: "a cut of the whole network breaks the watch",
    tell: ({ box }) => box.cut(),
    expected: ["TruncatedResponse"],
  },
  {
    name: "bookmarks that do not come through",
    tell({ box, truth }) {
      box.suppressBookmarks = true;
      truth.bookmark();
    },
    expected: ["ADDED b"],
  },
  { name: "bookmarks that do", tell: ({ truth }) => truth.bookmark(), expected: ["BOOKMARK", "ADDED b"] },
];

for (const { name, tell, expected } of stories) {
  test(`a watch meets ${name}`, async () => {
    const bench = new Bench();
    const told = await bench.watch();
    await tell(bench);
    bench.write("b");
    await bench.clock.advance(1_000);
    assert.deepEqual(told, expected);
  });
}

test("the mark of the initial state's end can be lost on the way", async () => {
  const bench = new Bench();
  bench.write("a");
  assert.deepEqual(await bench.watch({ sendInitialEvents: true }), ["ADDED a", "BOOKMARK!"]);
  bench.box.stripInitialEventsEnd = true;
  assert.deepEqual(await bench.watch({ sendInitialEvents: true }), ["ADDED a", "BOOKMARK"]);
  bench.box.suppressBookmarks = true;
  bench.box.stripInitialEventsEnd = false;
  assert.deepEqual(await bench.watch({ sendInitialEvents: true }), ["ADDED a", "BOOKMARK!"]);
});

const failures: readonly {
  readonly fault: Parameters<FaultyHttp["befallRequest"]>[0];
  readonly reason: string;
  /** Whether the server has done what was asked for. */
  readonly done: boolean;
}[] = [
  { fault: { do: "refuse", with: refusals.unauthorized }, reason: "Unauthorized", done: false },
  { fault: { do: "refuse", with: refusals.broken }, reason: "InternalError", done: false },
  { fault: { do: "unreachable" }, reason: "Unreachable", done: false },
  { fault: { do: "loseAnswer" }, reason: "Unreachable", done: true },
  { fault: { do: "swallow" }, reason: "DeadlineExceeded", done: true },
  { fault: { do: "truncate", how: "broken" }, reason: "Unreachable", done: true },
  { fault: { do: "truncate", how: "clean" }, reason: "MalformedResponse", done: true },
];

for (const { fault, reason, done } of failures) {
  test(`a write meets ${JSON.stringify(fault)}`, async () => {
    const { box, client, clock, truth } = new Bench();
    box.befallRequest(fault, { only: ({ method }) => method === "POST" });
    const body: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "n", name: "a" } };
    await assert.rejects(clock.outcome(client.create(configMapType, body)), { reason });
    assert.equal(truth.list(configMapType).length, done ? 1 : 0);
  });
}

test("a refusal with Retry-After is waited for, as often as it was ordered", async () => {
  const { box, clock, list } = new Bench();
  box.befallRequest({ do: "refuse", with: refusals.busy }, { times: 3 });
  const startMs = clock.monotonicMs();
  assert.equal(await clock.outcome(list), 0);
  assert.ok(clock.monotonicMs() - startMs >= 3_000);
});

test("answers overtake each other, as they may", async () => {
  const bench = new Bench();
  bench.box.befallRequest({ do: "delay", ms: 5_000 });
  const first = bench.list;
  await bench.clock.advance(1);
  bench.write("a");
  assert.equal(await bench.clock.outcome(bench.list), 1);
  assert.equal(await bench.clock.outcome(first), 0, "the older answer comes later");
});

test("while everything is cut requests wait, and go on when it is connected", async () => {
  const bench = new Bench();
  bench.box.cut();
  const waiting = bench.list;
  await bench.clock.advance(5_000);
  assert.equal(bench.truth.counts.list, 0);
  bench.box.connect();
  assert.equal(await bench.clock.outcome(waiting), 0);
});

test("after the end of all exchanges the box holds nothing", async () => {
  const bench = new Bench();
  const told = await bench.watch();
  assert.equal(bench.box.watches, 1);
  bench.truth.endWatches();
  await bench.clock.advance(1);
  assert.deepEqual([told, bench.box.watches, bench.truth.openWatches], [["end"], 0, 0]);
});
