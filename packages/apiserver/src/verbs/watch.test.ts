import assert from "node:assert/strict";
import { test } from "node:test";
import {
  configMap,
  configMapsPath,
  definitionsPath,
  TestApi,
  widget,
  widgetDefinition,
  widgetsPath,
} from "../test-api.ts";

const labelled = (name: string, on: boolean): Readonly<Record<string, unknown>> => ({
  ...configMap(name),
  metadata: { name, labels: { on: String(on) } },
});
const initialEnd = (object: { readonly [field: string]: unknown }): unknown =>
  (object["metadata"] as { readonly annotations?: Record<string, string> }).annotations?.[
    "k8s.io/initial-events-end"
  ];

async function versionOf(api: TestApi): Promise<string> {
  return String((await api.get(configMapsPath)).body["metadata"]?.["resourceVersion"]);
}

test("a watch from a version tells what came after it, in order, each once", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, configMap("before"));
  const version = await versionOf(api);
  await api.given(configMapsPath, configMap("a"));
  const watch = await api.watch(`${configMapsPath}?watch=1&resourceVersion=${version}`);
  await api.merge(`${configMapsPath}/a`, { data: { k: "v" } });
  const deleted = await api.get(`${configMapsPath}/a`);
  await api.delete(`${configMapsPath}/a`);
  await watch.settle();
  assert.deepEqual(watch.story, ["ADDED a", "MODIFIED a", "DELETED a"]);
  const last = watch.events[2]?.object;
  assert.deepEqual(last?.["data"], deleted.body["data"]);
  assert.equal(last?.["kind"], "ConfigMap");
  assert.ok(
    Number(last?.["metadata"]?.["resourceVersion"]) > Number(deleted.body["metadata"]?.["resourceVersion"]),
  );
  const resumed = await api.watch(
    `${configMapsPath}?watch=1&resourceVersion=${last?.["metadata"]?.["resourceVersion"]}`,
  );
  await resumed.settle();
  assert.deepEqual(resumed.story, []);
  watch.stop();
  resumed.stop();
});

test("headers leave before the first event", async () => {
  await using api = await TestApi.start();
  const watch = await api.watch(`${configMapsPath}?watch=true&resourceVersion=${await versionOf(api)}`);
  assert.equal(watch.response.status, 200);
  assert.equal(watch.response.headers["content-type"], "application/json");
  assert.equal(watch.response.headers["content-length"], undefined);
  watch.stop();
  await watch.ended;
});

test("a watch without a version begins with the state", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, configMap("b"));
  await api.given(configMapsPath, configMap("a"));
  for (const query of ["watch=1", "watch=1&resourceVersion=0"]) {
    const watch = await api.watch(`${configMapsPath}?${query}`);
    await watch.settle();
    assert.deepEqual(watch.story, ["ADDED a", "ADDED b"], query);
    watch.stop();
  }
});

test("initial events end with a marked bookmark, also when there are none", async () => {
  await using api = await TestApi.start();
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const empty = await api.watch(`${configMapsPath}?${query}`);
  await empty.settle();
  assert.deepEqual(empty.story, ["BOOKMARK"]);
  assert.equal(initialEnd(empty.events[0]!.object), "true");
  assert.equal(empty.events[0]?.object["kind"], "ConfigMap");
  assert.equal(empty.events[0]?.object["metadata"]?.["resourceVersion"], String(api.storage.revision()));
  await api.given(configMapsPath, configMap("a"));
  await empty.settle();
  assert.deepEqual(empty.story, ["BOOKMARK", "ADDED a"]);
  empty.stop();

  const unmarked = await api.watch(
    `${configMapsPath}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
  );
  await unmarked.settle();
  assert.deepEqual(unmarked.story, ["ADDED a"]);
  unmarked.stop();

  const now = await api.watch(
    `${configMapsPath}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`,
  );
  await now.settle();
  assert.deepEqual(now.story, []);
  now.stop();
});

test("entering a selector is ADDED, leaving it is DELETED with the last state inside", async () => {
  await using api = await TestApi.start();
  const watch = await api.watch(
    `${configMapsPath}?watch=1&resourceVersion=${await versionOf(api)}&labelSelector=on%3Dtrue`,
  );
  await api.given(configMapsPath, labelled("a", false));
  await api.merge(`${configMapsPath}/a`, labelled("a", true));
  await api.merge(`${configMapsPath}/a`, { data: { k: "v" } });
  const left = await api.merge(`${configMapsPath}/a`, labelled("a", false));
  await api.merge(`${configMapsPath}/a`, { data: { k: "w" } });
  await watch.settle();
  assert.deepEqual(watch.story, ["ADDED a", "MODIFIED a", "DELETED a"]);
  assert.deepEqual(watch.events[2]?.object["metadata"]?.["labels"], { on: "true" });
  assert.deepEqual(watch.events[2]?.object["data"], { k: "v" });
  assert.equal(
    watch.events[2]?.object["metadata"]?.["resourceVersion"],
    left.body["metadata"]?.["resourceVersion"],
  );
  watch.stop();
});

test("a watch of one name sees it come, go and come again", async () => {
  await using api = await TestApi.start();
  const watch = await api.watch(
    `${configMapsPath}?watch=1&resourceVersion=${await versionOf(api)}&fieldSelector=metadata.name%3Da`,
  );
  await api.given(configMapsPath, configMap("a"));
  await api.given(configMapsPath, configMap("ab"));
  await api.delete(`${configMapsPath}/a`);
  await api.given(configMapsPath, configMap("a"));
  await watch.settle();
  assert.deepEqual(watch.story, ["ADDED a", "DELETED a", "ADDED a"]);
  watch.stop();
});

test("the last finalizer's removal shows the last stored state as DELETED", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, {
    ...configMap("a"),
    metadata: { name: "a", finalizers: ["example.com/hold"] },
  });
  const watch = await api.watch(`${configMapsPath}?watch=1&resourceVersion=${await versionOf(api)}`);
  await api.delete(`${configMapsPath}/a`);
  await api.merge(`${configMapsPath}/a`, { metadata: { finalizers: null } });
  await watch.settle();
  assert.deepEqual(watch.story, ["MODIFIED a", "DELETED a"]);
  assert.deepEqual(watch.events[1]?.object["metadata"]?.["finalizers"], ["example.com/hold"]);
  watch.stop();
});

test("a watch from before the history's beginning ends as Expired", async () => {
  await using api = await TestApi.start();
  const version = await versionOf(api);
  await api.given(configMapsPath, configMap("a"));
  await api.storage.compact(api.storage.revision());
  const watch = await api.watch(`${configMapsPath}?watch=1&resourceVersion=${version}`);
  await watch.ended;
  assert.equal(watch.response.status, 200);
  assert.deepEqual(watch.story, ["ERROR"]);
  assert.equal(watch.events[0]?.object["code"], 410);
  assert.equal(watch.events[0]?.object["reason"], "Expired");
  assert.match(String(watch.events[0]?.object["message"]), /^too old resource version: /);
});

test("a watch from the future stays quiet until it is reached; one that wants the state fails", async () => {
  await using api = await TestApi.start();
  const future = Number(api.storage.revision()) + 1;
  const watch = await api.watch(`${configMapsPath}?watch=1&resourceVersion=${future}`);
  await api.given(configMapsPath, configMap("a"));
  await api.given(configMapsPath, configMap("b"));
  await watch.settle();
  assert.deepEqual(watch.story, ["ADDED b"]);
  watch.stop();
  const state = await api.watch(
    `${configMapsPath}?watch=1&resourceVersion=${future + 100}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
  );
  await api.advance(4_000);
  await state.ended;
  assert.equal(state.events[0]?.type, "ERROR");
  assert.equal(state.events[0]?.object["code"], 504);
});

test("a watch ends by itself after its time", async () => {
  await using api = await TestApi.start();
  const version = await versionOf(api);
  const short = await api.watch(`${configMapsPath}?watch=1&timeoutSeconds=5&resourceVersion=${version}`);
  await api.advance(4_900);
  assert.equal(short.hasEnded, false);
  await api.advance(200);
  await short.ended;
  assert.deepEqual(short.events, []);
});

test("bookmarks come each minute and before the end, with the version of the whole store", async () => {
  await using api = await TestApi.start();
  const version = await versionOf(api);
  const watch = await api.watch(
    `${configMapsPath}?watch=1&timeoutSeconds=100&allowWatchBookmarks=true&resourceVersion=${version}`,
  );
  await api.given("/api/v1/namespaces/default/secrets", { metadata: { name: "s" } });
  const later = String(api.storage.revision());
  await api.advance(61_000);
  await watch.settle();
  assert.deepEqual(watch.story, ["BOOKMARK"]);
  assert.equal(watch.events[0]?.object["metadata"]?.["resourceVersion"], later);
  assert.deepEqual(Object.keys(watch.events[0].object).sort(), ["apiVersion", "kind", "metadata"]);
  await api.given("/api/v1/namespaces/default/secrets", { metadata: { name: "t" } });
  await api.advance(37_500);
  await watch.settle();
  assert.deepEqual(watch.story, ["BOOKMARK", "BOOKMARK"]);
  await api.advance(2_500);
  await watch.ended;
});

const invalidQueries: readonly (readonly [string, string])[] = [
  ["sendInitialEvents=true", "resourceVersionMatch"],
  ["resourceVersionMatch=NotOlderThan", "resourceVersionMatch"],
  ["sendInitialEvents=true&resourceVersionMatch=Exact", "resourceVersionMatch"],
  ["continue=x", "continue"],
  ["resourceVersion=abc", "resourceVersion"],
];
for (const [query, field] of invalidQueries) {
  test(`a watch with ${query} is invalid`, async () => {
    await using api = await TestApi.start();
    const { body, status } = await api.get(`${configMapsPath}?watch=1&${query}`);
    assert.equal(status, 422);
    assert.equal(body["details"]?.["causes"]?.[0]?.["field"], field);
  });
}

test("tables and metadata are watched too, the columns sent once", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, configMap("a", { k: "v" }));
  const table = await api.watch(`${configMapsPath}?watch=1`, {
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
  });
  await api.given(configMapsPath, configMap("b"));
  await table.settle();
  assert.equal(table.events[0]?.object["kind"], "Table");
  assert.equal(table.events[0]?.object["rows"]?.[0]?.["cells"]?.[0], "a");
  assert.equal(table.events[0]?.object["columnDefinitions"]?.[0]?.["name"], "Name");
  assert.equal(table.events[1]?.object["columnDefinitions"], null);
  table.stop();
  const partial = await api.watch(`${configMapsPath}?watch=1`, {
    accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  });
  await partial.settle();
  assert.equal(partial.events[0]?.object["kind"], "PartialObjectMetadata");
  assert.equal(partial.events[0]?.object["data"], undefined);
  partial.stop();
});

test("a watch ends when its kind is changed or removed", async () => {
  await using api = await TestApi.start();
  const definition = await api.given(definitionsPath, widgetDefinition());
  await api.advance(10);
  await api.given(widgetsPath, widget("w"));
  const watch = await api.watch(`${widgetsPath}?watch=1`);
  await watch.settle();
  assert.deepEqual(watch.story, ["ADDED w"]);
  await api.merge(`${definitionsPath}/${definition["metadata"]?.["name"]}`, {
    spec: { names: { categories: ["other"] } },
  });
  await api.advance(10);
  await watch.ended;
});

test("closing the server ends its watches cleanly", async () => {
  const api = await TestApi.start();
  const watch = await api.watch(`${configMapsPath}?watch=1`);
  await watch.settle();
  await api[Symbol.asyncDispose]();
  await watch.ended;
  assert.deepEqual(watch.events, []);
});

test("watchers of one collection see the same events in the same order", async () => {
  await using api = await TestApi.start();
  const version = await versionOf(api);
  const watches = await Promise.all(
    Array.from({ length: 5 }, () => api.watch(`${configMapsPath}?watch=1&resourceVersion=${version}`)),
  );
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => api.post(configMapsPath, configMap(`m${index}`))),
  );
  await watches[0]?.settle();
  const versions = watches.map(({ events }) =>
    events.map(({ object }) => Number(object["metadata"]?.["resourceVersion"])),
  );
  assert.equal(versions[0]?.length, 20);
  assert.deepEqual(
    versions[0],
    [...versions[0]].sort((a, b) => a - b),
  );
  for (const other of versions) assert.deepEqual(other, versions[0]);
  for (const watch of watches) watch.stop();
});

const watchFlags: readonly (readonly [text: string, isWatch: boolean])[] = [
  ["watch=1", true],
  ["watch=true", true],
  ["watch=", true],
  ["watch=yes", true],
  ["watch=0", false],
  ["watch=False", false],
  ["allowWatchBookmarks=true", false],
];
for (const [text, isWatch] of watchFlags) {
  test(`${text} asks for a ${isWatch ? "watch" : "list"}`, async () => {
    await using api = await TestApi.start();
    const stopping = new AbortController();
    const { body } = await api.send("GET", `${configMapsPath}?${text}`, { signal: stopping.signal });
    assert.equal(!(body instanceof Uint8Array), isWatch);
    stopping.abort();
  });
}

test("hundreds of watches are told of the server's end, and leave no listeners that Node warns of", async () => {
  const warnings: string[] = [];
  const note = (warning: Error): number => warnings.push(warning.name);
  process.on("warning", note);
  try {
    const api = await TestApi.start();
    const watches = await Promise.all(
      Array.from({ length: 200 }, () => api.watch(`${configMapsPath}?watch=1`)),
    );
    await watches[0]?.settle();
    await api[Symbol.asyncDispose]();
    await Promise.all(watches.map(({ ended }) => ended));
    assert.deepEqual(warnings, []);
  } finally {
    process.off("warning", note);
  }
});
