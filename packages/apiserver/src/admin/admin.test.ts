import assert from "node:assert/strict";
import { test } from "node:test";
import { configMap, configMapsPath, TestApi, type TestRequest } from "../test-api.ts";

const tokens = [
  { token: "admin-token", username: "admin", groups: ["system:masters"] },
  { token: "keeper-token", username: "keeper", groups: ["meridian:history"] },
  { token: "guest-token", username: "guest" },
];
const as = (token: string, request: TestRequest = {}): TestRequest => ({
  ...request,
  headers: { authorization: `Bearer ${token}` },
});

test("compaction has a right of its own, which is no right to any object", async () => {
  await using api = await TestApi.start({ tokens });
  const cases: readonly (readonly [token: string, status: number, objects: number])[] = [
    ["admin-token", 200, 200],
    ["keeper-token", 200, 403],
    ["guest-token", 403, 403],
    ["unknown-token", 401, 401],
  ];
  for (const [token, status, objects] of cases) {
    for (const [method, path] of [
      ["POST", "/meridian/compact"],
      ["GET", "/meridian/history"],
      ["GET", "/meridian/requests"],
    ] as const) {
      assert.equal((await api.request(method, path, as(token))).status, status, `${token} ${path}`);
    }
    assert.equal((await api.request("GET", configMapsPath, as(token))).status, objects, token);
  }
  const refused = await api.request("POST", "/meridian/compact", as("guest-token"));
  assert.equal(refused.body["message"], 'forbidden: User "guest" cannot post path "/meridian/compact"');
});

test("the history says what was written, by whom and with what", async () => {
  await using api = await TestApi.start({ tokens });
  await api.given(`${configMapsPath}?fieldManager=painter`, configMap("a"));
  await api.merge(`${configMapsPath}/a?fieldManager=plumber`, { data: { x: "1" } });
  await api.merge(`${configMapsPath}/a`, { data: { x: "1" } }); // changes nothing
  await api.request("DELETE", `${configMapsPath}/a`, { headers: { "user-agent": "broom/1.0" } });
  const { body } = await api.get("/meridian/history?limit=3");
  const changes = body["changes"] as unknown as readonly Record<string, string>[];
  assert.deepEqual(
    changes,
    [
      ["created", "painter"],
      ["changed", "plumber"],
      ["deleted", "broom"],
    ].map(([type, fieldManager], index) => ({
      resourceVersion: changes[index]?.["resourceVersion"],
      type,
      group: "",
      resource: "configmaps",
      namespace: "default",
      name: "a",
      user: "admin",
      fieldManager,
    })),
  );
  assert.equal(changes.at(-1)?.["resourceVersion"], body["resourceVersion"]);
});

test("what the server wrote by itself has no writer", async () => {
  await using api = await TestApi.start({ tokens });
  const { body } = await api.get("/meridian/history");
  const first = (body["changes"] as unknown as readonly Record<string, string>[])[0];
  assert.equal(first?.["resource"], "namespaces");
  assert.equal(first?.["user"], undefined);
});

test("after a compaction the history begins later, and an older watch is Expired", async () => {
  await using api = await TestApi.start({ tokens });
  const versions: string[] = [];
  for (const name of ["a", "b", "c", "d"]) {
    const { metadata } = await api.given(configMapsPath, configMap(name));
    versions.push(String(metadata?.["resourceVersion"]));
  }
  const answer = await api.post("/meridian/compact", { keep: 2 });
  assert.deepEqual(answer.body, { compactedResourceVersion: versions[1] });
  const { body } = await api.get("/meridian/history");
  assert.equal(body["compactedResourceVersion"], versions[1]);
  assert.equal((body["changes"] as unknown as readonly unknown[]).length, 2);

  const tooOld = await api.watch(`${configMapsPath}?watch=1&resourceVersion=${versions[0]}`);
  await tooOld.ended;
  assert.equal(tooOld.events[0]?.object["reason"], "Expired");
  const fits = await api.watch(`${configMapsPath}?watch=1&resourceVersion=${versions[1]}`);
  await fits.settle();
  assert.deepEqual(fits.story, ["ADDED c", "ADDED d"]);
  fits.stop();

  const whole = await api.request("POST", "/meridian/compact");
  assert.deepEqual(whole.body, { compactedResourceVersion: versions[3] });
  const back = await api.post("/meridian/compact", { resourceVersion: versions[0] });
  assert.deepEqual(back.body, { compactedResourceVersion: versions[3] }, "a compaction does not go back");
});

const malformed: readonly (readonly [body: string, message: RegExp])[] = [
  ["{", /no JSON/],
  ["[]", /must be an object/],
  ['{"keep":-1}', /keep must be a whole number/],
  ['{"keep":"x"}', /keep must be a whole number/],
  ['{"keep":1,"resourceVersion":"1"}', /not both/],
  ['{"resourceVersion":1}', /text of digits/],
  ['{"resourceVersion":"9007199254740991"}', /in the future/],
  ['{"keeep":1}', /unknown field "keeep"/],
];
for (const [body, message] of malformed) {
  test(`a compaction asked for by ${body} is refused`, async () => {
    await using api = await TestApi.start({ tokens });
    const answer = await api.request("POST", "/meridian/compact", { body });
    assert.equal(answer.status, 400);
    assert.match(String(answer.body["message"]), message);
  });
}

test("requests are counted by user, verb and resource, and open watches with them", async () => {
  await using api = await TestApi.start({ tokens });
  const counted = async (): Promise<readonly unknown[]> => {
    const { body } = await api.get("/meridian/requests");
    const all = body["requests"] as unknown as readonly Record<string, unknown>[];
    return all.map(({ user, verb, group, resource, count, open }) =>
      [user, verb, group, resource, count, open].join(" "),
    );
  };
  await api.get(configMapsPath);
  await api.get(configMapsPath);
  await api.get(`${configMapsPath}/none`);
  await api.request("GET", configMapsPath, as("guest-token")); // not let in
  const watch = await api.watch(`${configMapsPath}?watch=1`);
  await api.given(configMapsPath, configMap("a"));
  await watch.settle();
  assert.deepEqual(await counted(), [
    "admin list  configmaps 2 0",
    "admin get  configmaps 1 0",
    "admin watch  configmaps 1 1",
    "admin create  configmaps 1 0",
  ]);
  watch.stop();
  await watch.ended;
  assert.ok((await counted()).includes("admin watch  configmaps 1 0"));
});

test("other methods and other paths are no part of it", async () => {
  await using api = await TestApi.start({ tokens });
  assert.equal((await api.get("/meridian/compact")).status, 405);
  assert.equal((await api.post("/meridian/history", {})).status, 405);
  assert.equal((await api.get("/meridian/other")).status, 404);
  assert.equal((await api.get("/meridian/history/x")).status, 404);
  assert.equal((await api.get("/meridian/history?limit=x")).status, 400);
});
