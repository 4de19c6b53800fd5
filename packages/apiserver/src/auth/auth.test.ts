import assert from "node:assert/strict";
import { test } from "node:test";
import { configMap, configMapsPath, TestApi, type TestRequest } from "../test-api.ts";
import type { Authorizer } from "./identity.ts";

const as = (token: string): TestRequest => ({ headers: { authorization: `Bearer ${token}` } });

const credentials: readonly (readonly [name: string, headers: Record<string, string>, status: number])[] = [
  ["a known token", { authorization: "Bearer admin-token" }, 200],
  ["a known token under another case of the scheme", { authorization: "bearer admin-token" }, 200],
  ["no credentials", { authorization: "" }, 401],
  ["an unknown token", { authorization: "Bearer admin-tokem" }, 401],
  ["the beginning of a token", { authorization: "Bearer admin" }, 401],
  ["another scheme", { authorization: "Basic YWRtaW46YWRtaW4=" }, 401],
  ["a user without rights", { authorization: "Bearer guest-token" }, 403],
];
for (const [name, headers, status] of credentials) {
  test(`${name} gets ${status}`, async () => {
    await using api = await TestApi.start();
    const answer = await api.request("GET", configMapsPath, { headers });
    assert.equal(answer.status, status);
    if (status === 401) {
      assert.equal(answer.body["reason"], "Unauthorized");
      assert.equal(answer.body["message"], "Unauthorized");
    }
  });
}

test("version and health are open, discovery is not", async () => {
  await using api = await TestApi.start();
  for (const path of ["/version", "/healthz", "/livez", "/readyz", "/readyz/ping"]) {
    assert.equal((await api.request("GET", path, as(""))).status, 200, path);
  }
  for (const path of ["/", "/api", "/apis", "/openapi/v3", "/metrics"]) {
    assert.equal((await api.request("GET", path, as(""))).status, 401, path);
  }
});

test("a client certificate names the user and the groups", async () => {
  await using api = await TestApi.start();
  const { body } = await api.server.handler({
    method: "POST",
    target: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    headers: { "content-type": "application/json" },
    body: new TextEncoder().encode("{}"),
    client: { address: "10.0.0.9", port: 1 },
    clientCertificate: { commonName: "ada", organizations: ["system:masters"] },
    signal: new AbortController().signal,
  });
  const review = JSON.parse(new TextDecoder().decode(body as Uint8Array)) as { readonly status: unknown };
  assert.deepEqual(review.status, {
    userInfo: { username: "ada", groups: ["system:masters", "system:authenticated"] },
  });
});

const refusals: readonly (readonly [method: string, path: string, message: string])[] = [
  [
    "GET",
    `${configMapsPath}/a`,
    'configmaps "a" is forbidden: User "guest" cannot get resource "configmaps" in API group "" in the namespace "default"',
  ],
  [
    "GET",
    "/apis/apps/v1/deployments",
    'deployments.apps is forbidden: User "guest" cannot list resource "deployments" in API group "apps" at the cluster scope',
  ],
  [
    "GET",
    `${configMapsPath}?watch=1`,
    'configmaps is forbidden: User "guest" cannot watch resource "configmaps" in API group "" in the namespace "default"',
  ],
  [
    "DELETE",
    configMapsPath,
    'configmaps is forbidden: User "guest" cannot deletecollection resource "configmaps" in API group "" in the namespace "default"',
  ],
  ["GET", "/metrics", 'forbidden: User "guest" cannot get path "/metrics"'],
];
for (const [method, path, message] of refusals) {
  test(`a refusal of ${method} ${path} says who wanted what`, async () => {
    await using api = await TestApi.start();
    const answer = await api.request(method, path, as("guest-token"));
    assert.equal(answer.status, 403);
    assert.equal(answer.body["message"], message);
    assert.equal(answer.body["reason"], "Forbidden");
  });
}

test("an authorizer is asked for each request, a list of one name with that name", async () => {
  const asked: unknown[] = [];
  const authorizer: Authorizer = {
    authorize(user, attributes) {
      asked.push([user.username, attributes]);
      return { allowed: true };
    },
  };
  await using api = await TestApi.start({ authorizer });
  await api.request("GET", `${configMapsPath}?fieldSelector=metadata.name%3Da`, as("guest-token"));
  assert.deepEqual(asked, [
    [
      "guest",
      {
        kind: "resource",
        verb: "list",
        group: "",
        version: "v1",
        resource: "configmaps",
        namespace: "default",
        name: "a",
      },
    ],
  ]);
});

test("access reviews answer what the authorizer would", async () => {
  await using api = await TestApi.start();
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const body = { spec: { resourceAttributes: { verb: "get", resource: "pods", namespace: "default" } } };
  const admin = await api.request("POST", path, { body });
  assert.equal(admin.status, 201);
  assert.equal(admin.body["status"]?.["allowed"], true);
  const guest = await api.request("POST", path, { body, ...as("guest-token") });
  assert.equal(guest.body["status"]?.["allowed"], false);
  const other = await api.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
    body: { spec: { ...body.spec, user: "x", groups: ["system:masters"] } },
  });
  assert.equal(other.body["status"]?.["allowed"], true);
  const rules = await api.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {
    body: { spec: {} },
  });
  assert.deepEqual(rules.body["status"]?.["resourceRules"], [
    { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  ]);
  assert.equal((await api.get(path)).status, 405);
  assert.equal((await api.request("POST", path, { body: { spec: {} } })).status, 400);
});

test("tokens and secrets are never logged", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, configMap("a"));
  const answer = await api.request("GET", configMapsPath, as("wrong-token"));
  assert.doesNotMatch(answer.text, /wrong-token/);
});

test("who may, can stand in for another user", async () => {
  await using api = await TestApi.start();
  const whoami = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const headers = { "impersonate-user": "ada", "impersonate-group": "engineers, poets" };
  const { body } = await api.request("POST", whoami, { body: {}, headers });
  assert.deepEqual(body["status"]?.["userInfo"], {
    username: "ada",
    groups: ["engineers", "poets", "system:authenticated"],
  });
  assert.equal((await api.request("GET", configMapsPath, { headers })).status, 403);
  const guest = await api.request("GET", configMapsPath, {
    headers: { ...headers, authorization: "Bearer guest-token" },
  });
  assert.match(String(guest.body["message"]), /User "guest" cannot impersonate resource "users"/);
  assert.equal(
    (await api.request("GET", configMapsPath, { headers: { "impersonate-group": "x" } })).status,
    400,
  );
});

test("an apply and an update that create need the right to create", async () => {
  const authorizer: Authorizer = {
    authorize: (_, attributes) => ({
      allowed: attributes.kind === "resource" && attributes.verb !== "create",
    }),
  };
  await using api = await TestApi.start({ authorizer });
  const applied = await api.apply(`${configMapsPath}/a?fieldManager=x`, configMap("a"));
  assert.equal(applied.status, 403);
  const lease = await api.put("/apis/coordination.k8s.io/v1/namespaces/default/leases/l", {
    metadata: { name: "l" },
  });
  assert.equal(lease.status, 403);
});

test("a token review tells whose a token is", async () => {
  await using api = await TestApi.start();
  const path = "/apis/authentication.k8s.io/v1/tokenreviews";
  const known = await api.post(path, { spec: { token: "guest-token" } });
  assert.equal(known.status, 201);
  assert.deepEqual(known.body["status"], {
    authenticated: true,
    user: { username: "guest", groups: ["system:authenticated"] },
  });
  const unknown = await api.post(path, { spec: { token: "made-up" } });
  assert.deepEqual(unknown.body["status"], { user: {} });
  assert.equal((await api.post(path, { spec: {} })).status, 400);
});
