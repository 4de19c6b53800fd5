import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType, secretType } from "@meridian/kube";
import type { ConfigMap, ResourceType, Secret } from "@meridian/kube";
import { NetworkError } from "@meridian/runtime";
import { json, scriptedWorld } from "../testdata/scripted-http.ts";
import type { Script, ScriptedWorld } from "../testdata/scripted-http.ts";
import { KubeClient } from "./kube-client.ts";
import { scaleTo } from "./scale.ts";
import type { KubeClientOptions } from "./client-options.ts";

const configMaps: ResourceType = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};
const gslbs: ResourceType = {
  group: "k8gb.io",
  version: "v1beta1",
  plural: "gslbs",
  kind: "Gslb",
  namespaced: true,
};
const web = { namespace: "default", name: "web" };
const webObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { ...web, resourceVersion: "7" } };

function client(
  script: Script,
  options: Partial<KubeClientOptions> = {},
): ScriptedWorld & { client: KubeClient } {
  const world = scriptedWorld(script);
  return { ...world, client: new KubeClient(world.runtime, { origin: "https://10.0.0.2:6443", ...options }) };
}

const status = (code: number, reason: string, more: object = {}): object => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: `this is ${reason}`,
  reason,
  code,
  ...more,
});

test("each verb is the request that the API knows", async () => {
  const { client: kube, requests } = client(() => json(webObject), {
    token: "secret",
    origin: "https://h:1/base/",
  });
  await kube.get(configMaps, web);
  await kube.create(configMaps, webObject, { fieldManager: "me", dryRun: true });
  await kube.update(configMaps, webObject);
  await kube.updateStatus(gslbs, webObject);
  await kube.patch(configMaps, web, { type: "merge", body: { data: { a: "1" } } });
  await kube.patch(configMaps, web, { type: "apply", body: webObject, force: true, fieldManager: "me" });
  await kube.patch(configMaps, web, { type: "json", body: [], subresource: "status" });
  await kube.delete(configMaps, web, { preconditions: { uid: "u1" }, propagationPolicy: "Background" });
  const base = "/base/api/v1/namespaces/default/configmaps";
  assert.deepEqual(
    requests.map(({ method, target, headers }) => [method, target, headers?.["content-type"]]),
    [
      ["GET", `${base}/web`, undefined],
      ["POST", `${base}?fieldManager=me&dryRun=All`, "application/json"],
      ["PUT", `${base}/web`, "application/json"],
      ["PUT", "/base/apis/k8gb.io/v1beta1/namespaces/default/gslbs/web/status", "application/json"],
      ["PATCH", `${base}/web`, "application/merge-patch+json"],
      ["PATCH", `${base}/web?fieldManager=me&force=true`, "application/apply-patch+yaml"],
      ["PATCH", `${base}/web/status`, "application/json-patch+json"],
      ["DELETE", `${base}/web`, "application/json"],
    ],
  );
  assert.ok(requests.every(({ headers }) => headers?.["authorization"] === "Bearer secret"));
  assert.deepEqual(JSON.parse(new TextDecoder().decode(requests[7]?.body)), {
    apiVersion: "v1",
    kind: "DeleteOptions",
    propagationPolicy: "Background",
    preconditions: { uid: "u1" },
  });
});

test("subresources, server-side apply and collections have requests of their own", async () => {
  const { client: kube, requests } = client(() => json(webObject));
  const pods: ResourceType = { ...configMaps, plural: "pods", kind: "Pod" };
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: web };
  await kube.get(gslbs, web, { subresource: "scale", resourceVersion: "0" });
  await kube.create(pods, eviction, { subresource: "eviction", dryRun: true });
  await kube.apply(gslbs, webObject, { fieldManager: "me", force: true, subresource: "status" });
  await scaleTo(kube, gslbs, { ...web, replicas: 3, fieldManager: "me" });
  await kube.deleteCollection(configMaps, { namespace: "default", labelSelector: "a=b", dryRun: true });
  const base = "/api/v1/namespaces/default";
  const gslbPath = "/apis/k8gb.io/v1beta1/namespaces/default/gslbs/web";
  assert.deepEqual(
    requests.map(({ method, target, headers }) => [method, target, headers?.["content-type"]]),
    [
      ["GET", `${gslbPath}/scale?resourceVersion=0`, undefined],
      ["POST", `${base}/pods/web/eviction?dryRun=All`, "application/json"],
      ["PATCH", `${gslbPath}/status?fieldManager=me&force=true`, "application/apply-patch+yaml"],
      ["PATCH", `${gslbPath}/scale?fieldManager=me`, "application/merge-patch+json"],
      ["DELETE", `${base}/configmaps?labelSelector=a%3Db`, "application/json"],
    ],
  );
  const bodies = requests.map(({ body }) => (body === undefined ? "" : new TextDecoder().decode(body)));
  assert.deepEqual(JSON.parse(bodies[3] ?? ""), { spec: { replicas: 3 } });
  assert.deepEqual(JSON.parse(bodies[4] ?? ""), { apiVersion: "v1", kind: "DeleteOptions", dryRun: ["All"] });
});

test("a review is created without a name", async () => {
  const { client: kube, requests } = client(() => json({ kind: "SelfSubjectReview", metadata: {} }));
  const group = { group: "authentication.k8s.io", version: "v1" };
  const reviews: ResourceType = {
    ...group,
    plural: "selfsubjectreviews",
    kind: "SelfSubjectReview",
    namespaced: false,
  };
  await kube.create(reviews, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "SelfSubjectReview",
    metadata: {},
  });
  assert.equal(requests[0]?.target, "/apis/authentication.k8s.io/v1/selfsubjectreviews");
});

test("an apply that conflicts says whose the fields are", async () => {
  const causes = [
    { reason: "FieldManagerConflict", message: 'conflict with "kubectl"', field: ".spec.replicas" },
  ];
  const { client: kube } = client(() => json(status(409, "Conflict", { details: { causes } }), 409));
  await assert.rejects(kube.apply(gslbs, webObject, { fieldManager: "me", subresource: "status" }), {
    verb: "apply",
    subresource: "status",
    reason: "Conflict",
    details: { causes },
    message: "cannot apply gslbs.k8gb.io/status default/web: this is Conflict (409 Conflict)",
  });
});

test("what is read by a type that knows its objects is known to the compiler, and a mistake is found", async () => {
  const { client: kube } = client(() => json({ ...webObject, data: { a: "1" }, items: [] }));
  const { data } = await kube.get(configMapType, web);
  assert.equal(data?.["a"], "1");
  const secret: Secret = { apiVersion: "v1", kind: "Secret", metadata: web, stringData: {} };
  await kube.update(secretType, secret);
  const made = await kube.create(configMapType, { apiVersion: "v1", kind: "ConfigMap", metadata: web });
  assert.equal(made.data?.["a"], "1", "what is written yields what the type says, not what was sent");
  // @ts-expect-error -- a Service is no ConfigMap's business
  await kube.update(configMapType, { apiVersion: "v1", kind: "Service", metadata: web, data: 7 });
});

test("warnings of the server are handed over with what they are about", async () => {
  const warned: string[] = [];
  const { client: kube } = client(
    () => json(webObject, 200, { warning: '299 - "v1beta1 is deprecated", 299 - "unknown field \\"x\\""' }),
    { onWarning: (text, { verb, resource }) => warned.push(`${verb} ${resource}: ${text}`) },
  );
  await kube.get(configMaps, web);
  assert.deepEqual(warned, ["get configmaps: v1beta1 is deprecated", 'get configmaps: unknown field "x"']);
});

test("a client that was closed says so, and asks nobody", async () => {
  const { client: kube, requests } = client(() => json(webObject));
  await kube[Symbol.asyncDispose]();
  await assert.rejects(kube.get(configMaps, web), { name: "ApiError", reason: "Closed" });
  await assert.rejects(kube.watch(configMaps), { name: "ApiError", reason: "Closed" });
  assert.equal(requests.length, 0);
});

test("a list fills in what the wire leaves out, and takes null for no items", async () => {
  const items = [{ metadata: { name: "a" } }, { apiVersion: "v9", kind: "Other", metadata: { name: "b" } }];
  const answers = [
    { kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: "5" }, items },
    { metadata: {}, items: null },
  ];
  const { client: kube, queries } = client((_, count) => json(answers[count]));
  const list = await kube.list<ConfigMap>(configMaps, {
    namespace: "default",
    limit: 2,
    labelSelector: "a in (b,c)",
    continueToken: "t=",
  });
  assert.deepEqual(
    list.items.map(({ apiVersion, kind }) => [apiVersion, kind]),
    [
      ["v1", "ConfigMap"],
      ["v9", "Other"],
    ],
  );
  assert.deepEqual(queries("configmaps")[0], { limit: "2", labelSelector: "a in (b,c)", continue: "t=" });
  assert.deepEqual((await kube.list(configMaps)).items, []);
});

test("a refusal names verb, resource, namespace and name, and what the server said", async () => {
  const { client: kube } = client(() => json(status(404, "NotFound", { details: { name: "web" } }), 404));
  await assert.rejects(kube.get(configMaps, web), {
    name: "ApiError",
    verb: "get",
    resource: "configmaps",
    namespace: "default",
    objectName: "web",
    code: 404,
    reason: "NotFound",
    details: { name: "web" },
    message: "cannot get configmaps default/web: this is NotFound (404 NotFound)",
  });
});

test("an answer of something else becomes a Status that names the attempt", async () => {
  const { client: kube } = client(() => ({ status: 502, steps: [{ send: "<h1>Bad\n gateway</h1>" }] }));
  await assert.rejects(kube.get(gslbs, web), {
    code: 502,
    message: "cannot get gslbs.k8gb.io default/web: the server answered HTTP 502: <h1>Bad gateway</h1> (502)",
  });
});

test("an answer that is no object is refused", async () => {
  for (const body of ["pong", "[]", "null", "{}"]) {
    const { client: kube } = client(() => ({ steps: [{ send: body }] }));
    await assert.rejects(kube.get(configMaps, web), { reason: "MalformedResponse", code: 0 });
  }
});

test("an empty name never leaves the client, since it would mean the whole collection", async () => {
  const { client: kube, requests } = client(() => json(webObject));
  await assert.rejects(kube.delete(configMaps, { namespace: "default", name: "" }), {
    reason: "InvalidRequest",
  });
  await assert.rejects(kube.delete(configMaps, { namespace: "default", name: ".." }), {
    reason: "InvalidRequest",
  });
  await assert.rejects(kube.get(configMaps, { name: "web" }), { reason: "InvalidRequest" });
  const nameless = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default" } };
  await assert.rejects(kube.update(configMaps, nameless), { reason: "InvalidRequest" });
  await assert.rejects(kube.create(configMaps, nameless, { subresource: "x" }), { reason: "InvalidRequest" });
  await assert.rejects(kube.deleteCollection(configMaps), { reason: "InvalidRequest" });
  await assert.rejects(kube.deleteCollection(configMaps, { namespace: "" }), { reason: "InvalidRequest" });
  assert.equal(requests.length, 0);
});

test("429 is obeyed for any verb, with the wait that the server names", async () => {
  const { client: kube, simulation } = client((_, count) =>
    count < 2 ? json(status(429, "TooManyRequests"), 429, { "retry-after": "3" }) : json(webObject),
  );
  await simulation.complete(kube.create(configMaps, webObject));
  assert.equal(simulation.nowMs, 6000);
});

const once = (code: number, reason: string): Script => {
  const refusal = json(status(code, reason, { details: { retryAfterSeconds: 1 } }), code);
  return (_, count) => (count === 0 ? refusal : json(webObject));
};

test("a 5xx with Retry-After is repeated for reads, and for writes where the server cannot have begun", async () => {
  const attempts: readonly (readonly [number, string, "get" | "update", number])[] = [
    [503, "ServiceUnavailable", "get", 2],
    [503, "ServiceUnavailable", "update", 2],
    [500, "InternalError", "get", 2],
    [500, "InternalError", "update", 1],
    [504, "Timeout", "update", 1],
  ];
  for (const [code, reason, verb, sent] of attempts) {
    const { client: kube, simulation, requests } = client(once(code, reason));
    const asking = verb === "get" ? kube.get(configMaps, web) : kube.update(configMaps, webObject);
    if (sent === 2) await simulation.complete(asking);
    else await assert.rejects(simulation.complete(asking), { code, reason });
    assert.equal(requests.length, sent, `${verb} after ${code}`);
  }
});

test("a server that is busy for ever is asked ten times", async () => {
  const busy = json(status(429, "TooManyRequests"), 429, { "retry-after": "1" });
  const { client: kube, simulation, requests } = client(() => busy);
  await assert.rejects(simulation.complete(kube.get(configMaps, web)), { code: 429 });
  assert.equal(requests.length, 10);
});

test("a wait beyond the deadline is not begun", async () => {
  const { client: kube, simulation } = client(() =>
    json(status(429, "TooManyRequests"), 429, { "retry-after": "60" }),
  );
  await assert.rejects(simulation.complete(kube.get(configMaps, web)), { code: 429 });
  assert.equal(simulation.nowMs, 0);
});

test("a version that the server lacks is the caller's to change, so it is not repeated", async () => {
  const causes = [{ reason: "ResourceVersionTooLarge" }];
  const { client: kube, requests } = client(() =>
    json(status(504, "Timeout", { details: { causes, retryAfterSeconds: 1 } }), 504),
  );
  await assert.rejects(kube.list(configMaps, { resourceVersion: "99" }), { code: 504 });
  assert.equal(requests.length, 1);
});

test("a server that never answers meets the deadline, slow headers and slow bodies alike", async () => {
  for (const script of [
    (): object => ({ delayMs: 10 ** 9 }),
    (): object => ({ steps: [{ send: "{" }], open: true }),
  ]) {
    const { client: kube, simulation, openBodies } = client(script, { deadlineMs: 2000 });
    await assert.rejects(simulation.complete(kube.get(configMaps, web)), {
      reason: "DeadlineExceeded",
      message: "cannot get configmaps default/web: no complete answer within 2000 ms (DeadlineExceeded)",
    });
    assert.equal(simulation.nowMs, 2000);
    assert.equal(openBodies(), 0);
  }
});

test("the caller's signal ends a request with its reason and leaves no timer", async () => {
  const { client: kube, simulation } = client(() => ({ open: true }));
  const stop = new AbortController();
  const reason = new Error("enough");
  simulation.schedule(100, () => stop.abort(reason));
  await assert.rejects(simulation.complete(kube.get(configMaps, web, { signal: stop.signal })), reason);
  await simulation.run({ untilMs: 200 });
  assert.equal(simulation.pendingTimers, 0);
});

test("an unreachable server is named with the attempt, and the network's error is the cause", async () => {
  const refused = new NetworkError("Refused", "connection refused by 10.0.0.2:6443");
  const { client: kube } = client(() => refused);
  await assert.rejects(kube.update(configMaps, webObject), {
    reason: "Unreachable",
    message: "cannot update configmaps default/web: connection refused by 10.0.0.2:6443 (Unreachable)",
    cause: refused,
  });
});

test("a kept connection that had died is no failure of a read", async () => {
  const { client: kube } = client((_, count) =>
    count === 0 ? new NetworkError("Broken", "reset") : json(webObject),
  );
  assert.deepEqual(await kube.get(configMaps, web), webObject);
});

test("a token never appears in an error", async () => {
  const { client: kube } = client(() => json(status(401, "Unauthorized"), 401), { token: "s3cr3t" });
  await assert.rejects(
    kube.get(configMaps, web),
    (error: Error) => !JSON.stringify([error.message, error.stack, error]).includes("s3cr3t"),
  );
});

test("any path can be read, as JSON or as text", async () => {
  const { client: kube } = client(({ target }) =>
    target === "/version" ? json({ major: "1" }) : { steps: [{ send: "ok" }] },
  );
  assert.deepEqual([await kube.getRaw("/version"), await kube.getRaw("/readyz")], [{ major: "1" }, "ok"]);
});
