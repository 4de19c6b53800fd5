import assert from "node:assert/strict";
import { test } from "node:test";
import { NetworkError } from "@meridian/runtime";
import { KubeClient } from "../client/kube-client.ts";
import { configMaps } from "../testdata/fleet.ts";
import { json, scriptedWorld } from "../testdata/scripted-http.ts";
import type { ScriptedAnswer, ScriptedWorld } from "../testdata/scripted-http.ts";
import { Reflector } from "./reflector.ts";

/** A copy by name and version, and how often it was replaced. */
interface Followed extends ScriptedWorld {
  readonly copy: Map<string, string>;
  readonly reflector: Reflector;
  /** All requests as `list` or `watch` with the version that they ask for. */
  readonly asked: () => readonly string[];
  readonly pass: (ms: number) => Promise<void>;
}

/** Follows a server that gives these answers in turn, and then a watch that stays open. */
function follow(
  answers: readonly (ScriptedAnswer | Error)[],
  options: { readonly watchList?: boolean } = {},
): Followed {
  const world = scriptedWorld((_, count) => answers[count] ?? { open: true });
  const copy = new Map<string, string>();
  const collected = new Map<string, string>();
  const reflector = new Reflector(world.runtime, {
    client: new KubeClient(world.runtime, { origin: "https://h" }),
    type: configMaps,
    pageSize: 2,
    watchList: options.watchList ?? false,
    target: {
      collect: ({ key, version }) => void collected.set(key, String(version)),
      uncollect: (key) => void collected.delete(key),
      discard: () => collected.clear(),
      replace() {
        copy.clear();
        for (const [key, version] of collected) copy.set(key, version);
        collected.clear();
      },
      apply(type, { key, version }) {
        if (type === "DELETED") copy.delete(key);
        else copy.set(key, String(version));
      },
      versionOf: (key) => copy.get(key),
      progressed() {},
    },
  });
  void reflector.run(new AbortController().signal);
  return {
    ...world,
    copy,
    reflector,
    asked: () =>
      world.queries("configmaps").map((query) => {
        const version =
          query["continue"] === undefined ? (query["resourceVersion"] ?? '""') : query["continue"];
        return `${query["watch"] === undefined ? "list" : "watch"} ${version}`;
      }),
    pass: (ms) => world.simulation.run({ untilMs: world.simulation.nowMs + ms }),
  };
}

const object = (name: string, version: string): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, resourceVersion: version, uid: name },
});
const list = (version: string, names: readonly string[], continueToken?: string): ScriptedAnswer =>
  json({
    kind: "ConfigMapList",
    apiVersion: "v1",
    metadata: {
      resourceVersion: version,
      ...(continueToken === undefined ? {} : { continue: continueToken }),
    },
    items: names.map((name) => object(name, version)),
  });
const send = (type: string, name: string, version: string): { readonly send: object } => ({
  send: { type, object: object(name, version) },
});
const status = (code: number, reason: string): object => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  reason,
  code,
});
const errorEvent = (code: number, reason: string): { readonly send: object } => ({
  send: { type: "ERROR", object: status(code, reason) },
});
const later = { waitMs: 2000 };

test("pages are asked for by their token alone, then a watch with bookmarks and a bounded time", async () => {
  const { pass, queries, copy } = follow([list("5", ["a", "b"], "t1"), list("5", ["c"]), { open: true }]);
  await pass(100);
  const [first, second, watch] = queries("configmaps");
  assert.deepEqual(first, { limit: "2", resourceVersion: "0" });
  assert.deepEqual(second, { limit: "2", continue: "t1" });
  const { timeoutSeconds, ...rest } = watch ?? {};
  assert.deepEqual(rest, { watch: "1", resourceVersion: "5", allowWatchBookmarks: "true" });
  assert.ok(Number(timeoutSeconds) >= 300 && Number(timeoutSeconds) <= 600);
  assert.deepEqual([...copy.keys()], ["a", "b", "c"]);
});

const truncated = { send: '{"type":"MODIFIED","object":{"kind":"Conf' };

/** What goes wrong with a watch that was opened at version 5 and had reached 6, and what must be asked for then. */
const faults: Readonly<
  Record<string, { readonly answers: readonly (ScriptedAnswer | Error)[]; readonly asked: readonly string[] }>
> = {
  "a clean end": { answers: [{ steps: [send("ADDED", "b", "6"), later] }], asked: ["watch 6"] },
  "an end after a bookmark": { answers: [{ steps: [send("BOOKMARK", "", "9"), later] }], asked: ["watch 9"] },
  "a connection that breaks": {
    answers: [{ steps: [send("ADDED", "b", "6"), later, { fail: new NetworkError("Broken", "reset") }] }],
    asked: ["watch 6"],
  },
  "an end inside a document": {
    answers: [{ steps: [send("ADDED", "b", "6"), later, truncated] }],
    asked: ["watch 6"],
  },
  "an Expired event on a stream that stays open": {
    answers: [
      { steps: [send("ADDED", "b", "6"), later, errorEvent(410, "Expired")], open: true },
      list("9", ["c"]),
    ],
    asked: ["list 6", "watch 9"],
  },
  "a Gone event without a code": {
    answers: [{ steps: [later, errorEvent(0, "Gone")] }, list("9", ["c"])],
    asked: ["list 5", "watch 9"],
  },
  "410 as the HTTP status of the next watch": {
    answers: [{ steps: [later] }, json(status(410, "Expired"), 410), list("9", ["c"])],
    asked: ["watch 5", "list 5", "watch 9"],
  },
  "a list that is Expired as well": {
    answers: [
      { steps: [later, errorEvent(410, "Expired")] },
      json(status(410, "Expired"), 410),
      list("9", ["c"]),
    ],
    asked: ["list 5", 'list ""', "watch 9"],
  },
  "a server that is behind": {
    answers: [
      { steps: [later, errorEvent(500, "InternalError")] },
      json({ ...status(504, "Timeout"), details: { causes: [{ reason: "ResourceVersionTooLarge" }] } }, 504),
      list("9", ["c"]),
    ],
    asked: ["list 5", 'list ""', "watch 9"],
  },
  "429 when opening": {
    answers: [{ steps: [later] }, json(status(429, "TooManyRequests"), 429), { open: true }],
    asked: ["watch 5", "watch 5"],
  },
  "429 as an event": {
    answers: [{ steps: [later, errorEvent(429, "TooManyRequests")] }],
    asked: ["watch 5"],
  },
  "500 when opening": {
    answers: [{ steps: [later] }, json(status(500, "InternalError"), 500), list("9", ["c"])],
    asked: ["watch 5", "list 5", "watch 9"],
  },
  "refused connections, again and again": {
    answers: [{ steps: [later] }, ...Array.from({ length: 5 }, () => new NetworkError("Refused", "refused"))],
    asked: ["watch 5", "watch 5", "watch 5", "watch 5", "watch 5", "watch 5"],
  },
  "a stream that fails, and then a request that fails": {
    answers: [{ steps: [later, { fail: new Error("fetch failed") }] }, new Error("fetch failed")],
    asked: ["watch 5", "watch 5"],
  },
  "headers that never come": {
    answers: [{ steps: [later] }, { delayMs: 10 ** 9 }],
    asked: ["watch 5", "watch 5"],
  },
  "watches that end at once": {
    answers: [{}, list("5", ["a"]), {}, list("5", ["a"])],
    asked: ["list 5", "watch 5", "list 5", "watch 5"],
  },
  "a document that is no JSON": {
    answers: [{ steps: [later, { send: "oops" }] }, list("9", ["c"])],
    asked: ["list 5", "watch 9"],
  },
  "an event that comes twice": {
    answers: [{ steps: [send("ADDED", "b", "6"), send("ADDED", "b", "6"), later] }],
    asked: ["watch 6"],
  },
  "a stream that goes back in time": {
    answers: [{ steps: [send("ADDED", "b", "6"), send("ADDED", "old", "2")], open: true }, list("7", ["x"])],
    asked: ['list ""', "watch 7"],
  },
};
for (const [name, { answers, asked }] of Object.entries(faults)) {
  test(`after ${name}, it asks for ${asked.join(", ")}`, async () => {
    const followed = follow([list("5", ["a"]), ...answers]);
    await followed.pass(120_000);
    assert.deepEqual(followed.asked(), ["list 0", "watch 5", ...asked]);
    assert.equal(followed.reflector.connected, true);
    assert.equal(followed.openBodies(), 1, "what was left is closed");
    assert.equal(followed.reflector.version, asked.at(-1)?.split(" ")[1]);
  });
}

test("a watch whose server falls silent is given up after its time and resumed", async () => {
  const { pass, asked, reflector } = follow([
    list("5", ["a"]),
    { steps: [send("ADDED", "b", "6")], open: true },
  ]);
  await pass(299_000);
  assert.equal(asked().length, 2);
  await pass(320_000);
  assert.deepEqual(asked(), ["list 0", "watch 5", "watch 6"]);
  assert.equal(reflector.counts.replaces, 1);
});

test("what Retry-After says is waited for", async () => {
  const busy = json(status(429, "TooManyRequests"), 429, { "retry-after": "20" });
  const { pass, asked } = follow([list("5", ["a"]), { steps: [later] }, busy]);
  await pass(21_900);
  assert.equal(asked().length, 3);
  await pass(200);
  assert.equal(asked().length, 4);
});

test("no failure is the last: a server that is away for an hour is asked at least twice a minute", async () => {
  const { pass, requests, reflector } = follow(
    Array.from({ length: 10_000 }, () => new NetworkError("Refused", "refused")),
  );
  await pass(3_600_000);
  assert.ok(requests.length >= 120 && requests.length < 250, String(requests.length));
  assert.equal(reflector.counts.failures, requests.length);
});

test("events of other kinds and of new types are skipped", async () => {
  const table = {
    send: {
      type: "ADDED",
      object: { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata: { resourceVersion: "99" } },
    },
  };
  const { pass, copy, reflector } = follow([
    list("5", ["a"]),
    { steps: [table, { send: { type: "PING", object: {} } }, send("ADDED", "b", "6")], open: true },
  ]);
  await pass(100);
  assert.deepEqual([[...copy.keys()], reflector.version, reflector.counts.skipped], [["a", "b"], "6", 2]);
});

test("a streamed state whose marked bookmark never comes ends in a list, and is not tried again", async () => {
  const { pass, asked, copy, reflector } = follow(
    [
      { steps: [send("ADDED", "a", "4"), send("BOOKMARK", "", "5")], open: true },
      list("7", ["b"]),
      { steps: [later, errorEvent(410, "Expired")] },
      list("9", ["c"]),
    ],
    { watchList: true },
  );
  await pass(9000);
  assert.equal(copy.size, 0, "nothing of an incomplete state is shown");
  await pass(10_000);
  assert.deepEqual(asked(), ['watch ""', "list 0", "watch 7", "list 7", "watch 9"]);
  assert.deepEqual([[...copy.keys()], reflector.connected], [["c"], true]);
});

test("a server that does not know streamed states is listed", async () => {
  const { pass, asked, queries } = follow([json(status(422, "Invalid"), 422), list("7", ["b"])], {
    watchList: true,
  });
  await pass(1000);
  assert.deepEqual(asked(), ['watch ""', "list 0", "watch 7"]);
  assert.deepEqual(
    [queries("configmaps")[0]?.["sendInitialEvents"], queries("configmaps")[0]?.["resourceVersionMatch"]],
    ["true", "NotOlderThan"],
  );
});
