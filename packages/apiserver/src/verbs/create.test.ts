import assert from "node:assert/strict";
import { test } from "node:test";
import { configMap, configMapsPath, definitionsPath, TestApi, widgetDefinition } from "../test-api.ts";

test("a created object carries what the server owns", async () => {
  await using api = await TestApi.start();
  const { body, status } = await api.post(configMapsPath, {
    ...configMap("a", { k: "v" }),
    metadata: {
      name: "a",
      uid: "mine",
      creationTimestamp: "2001-01-01T00:00:00Z",
      generation: 7,
      selfLink: "/x",
    },
  });
  assert.equal(status, 201);
  assert.equal(body["metadata"]?.["namespace"], "default");
  assert.match(String(body["metadata"]?.["uid"]), /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  assert.match(String(body["metadata"]?.["creationTimestamp"]), /^2026-01-01T00:00:0\dZ$/);
  assert.equal(body["metadata"]?.["generation"], undefined);
  assert.equal(body["metadata"]?.["selfLink"], undefined);
  assert.match(String(body["metadata"]?.["resourceVersion"]), /^[1-9]\d*$/);
  const again = await api.get(`${configMapsPath}/a`);
  assert.deepEqual(again.body, body);
});

const refusals: readonly {
  readonly name: string;
  readonly path?: string;
  readonly body: unknown;
  readonly status: number;
  readonly reason: string;
  readonly message: RegExp;
}[] = [
  {
    name: "neither name nor generateName",
    body: { metadata: {} },
    status: 422,
    reason: "Invalid",
    message: /metadata.name: Required value: name or generateName is required/,
  },
  {
    name: "another namespace in the body",
    body: { metadata: { name: "a", namespace: "other" } },
    status: 400,
    reason: "BadRequest",
    message: /namespace of the provided object does not match/,
  },
  {
    name: "another version in the body",
    body: { apiVersion: "v2", kind: "ConfigMap", metadata: { name: "a" } },
    status: 400,
    reason: "BadRequest",
    message: /\(v2\) does not match the expected API version \(v1\)/,
  },
  {
    name: "another kind in the body",
    body: { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } },
    status: 400,
    reason: "BadRequest",
    message: /\(Secret\) does not match the expected kind/,
  },
  {
    name: "a namespace that does not exist",
    path: "/api/v1/namespaces/nowhere/configmaps",
    body: configMap("a"),
    status: 404,
    reason: "NotFound",
    message: /^namespaces "nowhere" not found$/,
  },
  {
    name: "a resourceVersion",
    body: { metadata: { name: "a", resourceVersion: "5" } },
    status: 400,
    reason: "BadRequest",
    message: /resourceVersion should not be set on objects to be created/,
  },
  {
    name: "a bad name",
    body: { metadata: { name: "A_b" } },
    status: 422,
    reason: "Invalid",
    message: /^ConfigMap "A_b" is invalid: metadata.name: Invalid value: "A_b": /,
  },
  {
    name: "labels that are no texts",
    body: { metadata: { name: "a", labels: { a: 1 } } },
    status: 400,
    reason: "BadRequest",
    message: /metadata.labels/,
  },
  {
    name: "no object at all",
    body: "[]",
    status: 400,
    reason: "BadRequest",
    message: /must be a JSON object/,
  },
  {
    name: "a field of another type",
    body: { metadata: { name: "a" }, data: { k: 5 } },
    status: 400,
    reason: "BadRequest",
    message: /^ConfigMap in version "v1" cannot be handled as a ConfigMap: .*data\.k .*string/,
  },
  {
    name: "more content than a config map may hold",
    body: configMap("a", { k: "x".repeat(1024 * 1024 + 1) }),
    status: 422,
    reason: "Invalid",
    message: /^ConfigMap "a" is invalid: \[\]: Too long: may not be more than 1048576 bytes$/,
  },
  {
    name: "more content than a secret may hold",
    path: "/api/v1/namespaces/default/secrets",
    body: { metadata: { name: "a" }, data: { k: "AAAA".repeat(1024 * 350) } },
    status: 422,
    reason: "Invalid",
    message: /^Secret "a" is invalid: data: Too long/,
  },
  { name: "no JSON", body: "{", status: 400, reason: "BadRequest", message: /unexpected end/ },
  {
    name: "a key that changes prototypes",
    body: '{"metadata":{"name":"a"},"data":{"__proto__":"x"}}',
    status: 400,
    reason: "BadRequest",
    message: /__proto__/,
  },
];

for (const { body, message, name, path, reason, status } of refusals) {
  test(`a create is refused for ${name}`, async () => {
    await using api = await TestApi.start();
    const answer = await api.post(path ?? configMapsPath, body);
    assert.equal(answer.status, status, answer.text);
    assert.equal(answer.body["reason"], reason);
    assert.match(String(answer.body["message"]), message);
    assert.equal(answer.body["kind"], "Status");
    assert.equal(answer.body["code"], status);
  });
}

test("an existing name answers AlreadyExists, and says so when the object is on its way out", async () => {
  await using api = await TestApi.start();
  const body = { ...configMap("a"), metadata: { name: "a", finalizers: ["example.com/hold"] } };
  await api.given(configMapsPath, body);
  const twice = await api.post(configMapsPath, body);
  assert.equal(twice.status, 409);
  assert.equal(twice.body["reason"], "AlreadyExists");
  assert.equal(twice.body["message"], 'configmaps "a" already exists');
  assert.deepEqual(twice.body["details"], { name: "a", kind: "configmaps" });
  await api.delete(`${configMapsPath}/a`);
  const deleting = await api.post(configMapsPath, body);
  assert.match(String(deleting.body["message"]), /^object is being deleted: /);
});

test("generateName makes a name and stays in the object", async () => {
  await using api = await TestApi.start();
  const { body } = await api.post(configMapsPath, { metadata: { generateName: "web-" } });
  assert.match(String(body["metadata"]?.["name"]), /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  assert.equal(body["metadata"]?.["generateName"], "web-");
});

test("dryRun does everything but write", async () => {
  await using api = await TestApi.start();
  const dry = await api.post(`${configMapsPath}?dryRun=All`, configMap("a"));
  assert.equal(dry.status, 201);
  assert.match(String(dry.body["metadata"]?.["uid"]), /-/);
  assert.equal((await api.get(`${configMapsPath}/a`)).status, 404);
  const wrong = await api.post(`${configMapsPath}?dryRun=Some`, configMap("a"));
  assert.equal(wrong.status, 422);
});

test("unknown and duplicate fields are refused, warned of, or ignored", async () => {
  await using api = await TestApi.start();
  const body =
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1"},"data":{"x":"2"},"foo":1}';
  const strict = await api.request("POST", `${configMapsPath}?fieldValidation=Strict`, { body });
  assert.equal(strict.status, 400);
  assert.equal(
    strict.body["message"],
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data", unknown field "foo"',
  );
  const warned = await api.request("POST", configMapsPath, { body });
  assert.equal(warned.status, 201);
  assert.equal(
    warned.headers["warning"],
    '299 - "duplicate field \\"data\\"", 299 - "unknown field \\"foo\\""',
  );
  assert.deepEqual(warned.body["data"], { x: "2" });
  assert.equal(warned.body["foo"], undefined);
  await api.delete(`${configMapsPath}/a`);
  const ignored = await api.request("POST", `${configMapsPath}?fieldValidation=Ignore`, { body });
  assert.equal(ignored.headers["warning"], undefined);
});

test("bodies may be YAML", async () => {
  await using api = await TestApi.start();
  const { body, status } = await api.request("POST", configMapsPath, {
    body: "metadata:\n  name: a\ndata:\n  k: v\n",
    contentType: "application/yaml",
  });
  assert.equal(status, 201);
  assert.deepEqual(body["data"], { k: "v" });
  const other = await api.request("POST", configMapsPath, { body: "x", contentType: "text/plain" });
  assert.equal(other.status, 415);
});

test("a body beyond the limit is refused", async () => {
  await using api = await TestApi.start();
  const answer = await api.post(configMapsPath, " ".repeat(3 * 1024 * 1024 + 1));
  assert.equal(answer.status, 413);
  assert.equal(answer.body["reason"], "RequestEntityTooLarge");
});

test("a secret's texts are moved into its data, and its values never appear in errors", async () => {
  await using api = await TestApi.start();
  const path = "/api/v1/namespaces/default/secrets";
  const { body } = await api.post(path, { metadata: { name: "s" }, stringData: { pw: "hunter2" } });
  assert.deepEqual(body["data"], { pw: "aHVudGVyMg==" });
  assert.equal(body["stringData"], undefined);
  assert.equal(body["type"], "Opaque");
  const bad = await api.post(path, { metadata: { name: "t" }, data: { pw: "hunter2!" } });
  assert.equal(bad.status, 422);
  assert.doesNotMatch(bad.text, /hunter2/);
});

test("a lease's times rest with six digits, however many came", async () => {
  await using api = await TestApi.start();
  const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const times = {
    "2026-01-02T03:04:05Z": "2026-01-02T03:04:05.000000Z",
    "2026-01-02T03:04:05.678Z": "2026-01-02T03:04:05.678000Z",
    "2026-01-02T03:04:05.123456Z": "2026-01-02T03:04:05.123456Z",
    "2026-01-02T03:04:05.123456789Z": "2026-01-02T03:04:05.123456Z",
  };
  for (const [index, [sent, stored]] of Object.entries(times).entries()) {
    const { body } = await api.post(path, { metadata: { name: `l${index}` }, spec: { renewTime: sent } });
    assert.equal(body["spec"]?.["renewTime"], stored);
  }
});

test("a definition whose columns are no list cannot even be decoded", async () => {
  await using api = await TestApi.start();
  const answer = await api.post(
    definitionsPath,
    widgetDefinition({ additionalPrinterColumns: { name: "x" } }),
  );
  assert.equal(answer.status, 400, answer.text);
});

test("a pod may offer one port under two protocols, and set a variable twice", async () => {
  await using api = await TestApi.start();
  const ports = [
    { containerPort: 53, protocol: "UDP" },
    { containerPort: 53, protocol: "TCP" },
  ];
  const env = [
    { name: "A", value: "1" },
    { name: "A", value: "2" },
  ];
  const pods = "/api/v1/namespaces/default/pods";
  const created = await api.given(pods, {
    metadata: { name: "dns" },
    spec: { containers: [{ name: "c", ports, env }] },
  });
  assert.deepEqual(created["spec"]?.["containers"]?.[0]?.["ports"], ports);
  assert.deepEqual(created["spec"]?.["containers"]?.[0]?.["env"], env);
  const twice = await api.post(pods, {
    metadata: { name: "twins" },
    spec: { containers: [{ name: "c" }, { name: "c" }] },
  });
  assert.equal(twice.status, 422);
});
