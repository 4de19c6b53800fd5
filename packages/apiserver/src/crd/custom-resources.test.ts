import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "../api-server.ts";
import {
  definitionsPath,
  namesOf,
  TestApi,
  type TestJson,
  widget,
  widgetDefinition,
  widgetsPath,
} from "../test-api.ts";

const definitionPath = `${definitionsPath}/widgets.example.com`;

async function apiWithWidgets(
  version: Readonly<Record<string, unknown>> = {},
  spec: Readonly<Record<string, unknown>> = {},
): Promise<TestApi> {
  const api = await TestApi.start();
  await api.given(definitionsPath, widgetDefinition(version, spec));
  await api.advance(10);
  return api;
}

function conditionOf(
  definition: TestJson,
  type: string,
): { readonly status: string; readonly reason: string } | undefined {
  const { conditions = [] } = definition["status"] as unknown as {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
    }[];
  };
  return conditions.find((condition) => condition.type === type);
}

test("a definition is established at once, with its names and its stored version", async () => {
  await using api = await apiWithWidgets();
  const { body } = await api.get(definitionPath);
  assert.equal(conditionOf(body, "NamesAccepted")?.reason, "NoConflicts");
  assert.equal(conditionOf(body, "Established")?.reason, "InitialNamesAccepted");
  assert.equal(body["status"]?.["acceptedNames"]?.["listKind"], "WidgetList");
  assert.equal(body["status"]?.["acceptedNames"]?.["singular"], "widget");
  assert.deepEqual(body["status"]?.["storedVersions"], ["v1"]);
  assert.deepEqual(body["metadata"]?.["finalizers"], ["customresourcecleanup.apiextensions.k8s.io"]);
});

test("objects are pruned, defaulted and validated", async () => {
  await using api = await apiWithWidgets();
  const { body } = await api.post(widgetsPath, widget("w", { size: 1, unknown: true }));
  assert.deepEqual(body["spec"], { color: "red", size: 1 });
  const bad = await api.post(widgetsPath, widget("x", { size: 0, color: "blue" }));
  assert.equal(bad.status, 422);
  assert.equal(bad.body["details"]?.["kind"], "Widget");
  assert.match(String(bad.body["message"]), /spec.size in body should be greater than or equal to 1/);
  assert.match(
    String(bad.body["message"]),
    /spec.color: Unsupported value: "blue": supported values: "red", "green"/,
  );
  const typed = await api.post(widgetsPath, widget("x", { size: "big" }));
  assert.match(String(typed.body["message"]), /spec.size in body must be of type integer: "string"/);
});

test("list items of custom kinds carry kind and version, and a body without them is refused", async () => {
  await using api = await apiWithWidgets();
  await api.given(widgetsPath, widget("w"));
  const { body } = await api.get(widgetsPath);
  assert.equal(body["items"]?.[0]?.["kind"], "Widget");
  assert.equal((await api.post(widgetsPath, { metadata: { name: "x" } })).status, 400);
});

test("a default that comes later shows on objects that were stored before", async () => {
  await using api = await apiWithWidgets();
  await api.given(widgetsPath, widget("w", { size: 1 }));
  const { body } = await api.get(definitionPath);
  const changed = JSON.parse(
    JSON.stringify(body).replace('"minimum":1', '"minimum":1,"default":7'),
  ) as unknown;
  await api.put(
    definitionPath,
    JSON.parse(JSON.stringify(changed).replace('"default":"red"', '"default":"green"')),
  );
  await api.advance(10);
  await api.given(widgetsPath, widget("x"));
  assert.deepEqual((await api.get(`${widgetsPath}/w`)).body["spec"], { color: "red", size: 1 });
  assert.deepEqual((await api.get(`${widgetsPath}/x`)).body["spec"], { color: "green", size: 7 });
});

test("versions serve the same objects, pruned by their own schema; deprecated ones warn", async () => {
  const v1 = (widgetDefinition() as { readonly spec: { readonly versions: readonly object[] } }).spec
    .versions[0];
  const old = {
    name: "v1beta1",
    served: true,
    storage: false,
    deprecated: true,
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
      },
    },
  };
  await using api = await apiWithWidgets(
    {},
    { versions: [v1, old, { ...old, name: "v2alpha1", served: false }] },
  );
  const created = await api.given(widgetsPath, widget("w", { size: 2 }));
  const { body, headers } = await api.get("/apis/example.com/v1beta1/namespaces/default/widgets/w");
  assert.equal(body["apiVersion"], "example.com/v1beta1");
  assert.deepEqual(body["spec"], { size: 2 });
  assert.equal(body["metadata"]?.["resourceVersion"], created["metadata"]?.["resourceVersion"]);
  assert.equal(
    headers["warning"],
    '299 - "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget"',
  );
  assert.equal((await api.get("/apis/example.com/v2alpha1/namespaces/default/widgets")).status, 404);
  const group = await api.get("/apis/example.com");
  assert.equal(group.body["preferredVersion"]?.["version"], "v1");
});

test("rules in CEL are checked, transition rules on updates", async () => {
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: { size: { type: "integer" } },
          "x-kubernetes-validations": [
            { rule: "self.size < 10", message: "too big" },
            { rule: "self.size >= oldSelf.size", message: "may not shrink" },
          ],
        },
      },
    },
  };
  await using api = await apiWithWidgets({ schema });
  const big = await api.post(widgetsPath, widget("w", { size: 10 }));
  assert.equal(big.status, 422);
  assert.match(String(big.body["message"]), /too big/);
  await api.given(widgetsPath, widget("w", { size: 5 }));
  assert.match(
    String((await api.merge(`${widgetsPath}/w`, { spec: { size: 4 } })).body["message"]),
    /may not shrink/,
  );
  assert.equal((await api.merge(`${widgetsPath}/w`, { spec: { size: 6 } })).status, 200);
});

test("fields that are declared selectable select", async () => {
  await using api = await apiWithWidgets({ selectableFields: [{ jsonPath: ".spec.color" }] });
  await api.given(widgetsPath, widget("r"));
  await api.given(widgetsPath, widget("g", { color: "green" }));
  assert.deepEqual(namesOf((await api.get(`${widgetsPath}?fieldSelector=spec.color%3Dgreen`)).body), ["g"]);
  const watch = await api.watch(`${widgetsPath}?watch=1&fieldSelector=spec.color%3Dgreen`);
  await api.merge(`${widgetsPath}/g`, { spec: { color: "red" } });
  await watch.settle();
  assert.deepEqual(watch.story, ["ADDED g", "DELETED g"]);
  watch.stop();
});

test("the scale of a custom kind stands where its definition says", async () => {
  const scale = { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" };
  await using api = await apiWithWidgets({ subresources: { status: {}, scale } });
  await api.given(widgetsPath, widget("w", { size: 2 }));
  assert.deepEqual((await api.get(`${widgetsPath}/w/scale`)).body["spec"], { replicas: 2 });
  await api.merge(`${widgetsPath}/w/scale`, { spec: { replicas: 5 } });
  assert.equal((await api.get(`${widgetsPath}/w`)).body["spec"]?.["size"], 5);
});

test("deleting a definition deletes its objects, and creates are refused meanwhile", async () => {
  await using api = await apiWithWidgets();
  await api.given(widgetsPath, {
    ...widget("held"),
    metadata: { name: "held", finalizers: ["example.com/hold"] },
  });
  await api.given(widgetsPath, widget("free"));
  const deleted = await api.delete(definitionPath);
  assert.equal(deleted.body["kind"], "CustomResourceDefinition");
  await api.advance(1_000);
  assert.deepEqual(namesOf((await api.get(widgetsPath)).body), ["held"]);
  assert.equal((await api.post(widgetsPath, widget("new"))).status, 405);
  assert.equal(conditionOf((await api.get(definitionPath)).body, "Terminating")?.status, "True");
  await api.merge(`${widgetsPath}/held`, { metadata: { finalizers: null } });
  await api.advance(1_000);
  assert.equal((await api.get(definitionPath)).status, 404);
  assert.equal((await api.get(widgetsPath)).status, 404);
  await api.given(definitionsPath, widgetDefinition());
  await api.advance(10);
  assert.deepEqual(namesOf((await api.get(widgetsPath)).body), []);
});

test("a name that another definition holds is a conflict until that one is gone", async () => {
  await using api = await apiWithWidgets();
  const gadget = {
    ...(widgetDefinition() as object),
    metadata: { name: "gadgets.example.com" },
    spec: {
      ...(widgetDefinition() as { readonly spec: object }).spec,
      names: { plural: "gadgets", kind: "Gadget", shortNames: ["wd"] },
    },
  };
  await api.given(definitionsPath, gadget);
  await api.advance(10);
  const waiting = await api.get(`${definitionsPath}/gadgets.example.com`);
  assert.equal(conditionOf(waiting.body, "NamesAccepted")?.reason, "ShortNamesConflict");
  assert.equal(conditionOf(waiting.body, "Established")?.status, "False");
  assert.equal((await api.get("/apis/example.com/v1/gadgets")).status, 404);
  await api.delete(definitionPath);
  await api.advance(1_000);
  const granted = await api.get(`${definitionsPath}/gadgets.example.com`);
  assert.equal(conditionOf(granted.body, "NamesAccepted")?.status, "True");
  assert.equal((await api.get("/apis/example.com/v1/gadgets")).status, 200);
});

const refusals: readonly (readonly [name: string, definition: unknown, message: RegExp])[] = [
  [
    "a name that is not plural and group",
    { ...(widgetDefinition() as object), metadata: { name: "other.example.com" } },
    /metadata.name/,
  ],
  ["no stored version", widgetDefinition({ storage: false }), /storage/],
  ["no schema", widgetDefinition({ schema: undefined }), /schema/],
  [
    "a schema without types",
    widgetDefinition({
      schema: { openAPIV3Schema: { type: "object", properties: { spec: { properties: {} } } } },
    }),
    /spec.versions\[0\].schema.openAPIV3Schema.properties\[spec\].type: Required value/,
  ],
  [
    "a rule that does not parse",
    widgetDefinition({
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-validations": [{ rule: "self.." }] } },
    }),
    /x-kubernetes-validations/,
  ],
  [
    "conversion by a webhook",
    widgetDefinition(
      {},
      { conversion: { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"] } } },
    ),
    /spec.conversion.strategy: Unsupported value: "Webhook": supported values: "None"/,
  ],
];
for (const [name, definition, message] of refusals) {
  test(`a definition is refused for ${name}`, async () => {
    await using api = await TestApi.start();
    const answer = await api.post(definitionsPath, definition);
    assert.equal(answer.status, 422, answer.text);
    assert.equal(answer.body["reason"], "Invalid");
    assert.match(String(answer.body["message"]), message);
  });
}

test("wrong scope in the path names nothing", async () => {
  await using api = await apiWithWidgets({}, { scope: "Cluster" });
  assert.equal((await api.get(widgetsPath)).status, 404);
  assert.equal((await api.get("/apis/example.com/v1/widgets")).status, 200);
});

test("another server over the same store serves the definitions that it finds", async () => {
  await using api = await apiWithWidgets();
  await api.given(widgetsPath, widget("w"));
  await using second = createApiServer(api.runtime, {
    storage: api.storage,
    tokens: [{ token: "t", username: "u", groups: ["system:masters"] }],
  });
  await second.ready;
  const { status } = await second.handler({
    method: "GET",
    target: `${widgetsPath}/w`,
    headers: { authorization: "Bearer t" },
    body: new Uint8Array(),
    client: { address: "10.0.0.9", port: 1 },
    signal: new AbortController().signal,
  });
  assert.equal(status, 200);
  const closing = Promise.resolve(second[Symbol.asyncDispose]());
  await api.simulation.complete(closing);
});

test("a finalizer without a domain is warned of once, when it is new", async () => {
  await using api = await apiWithWidgets();
  const held = {
    ...widget("w", { size: 1 }),
    metadata: { name: "w", finalizers: ["mine", "example.com/fine"] },
  };
  const created = await api.post(widgetsPath, held);
  assert.match(
    String(created.headers["warning"]),
    /metadata\.finalizers: \\"mine\\": prefer a domain-qualified/,
  );
  assert.doesNotMatch(String(created.headers["warning"]), /fine/);
  const later = await api.merge(`${widgetsPath}/w`, { spec: { size: 2 } });
  assert.equal(later.headers["warning"], undefined);
});

test("of several names that are taken the last is told", async () => {
  await using api = await apiWithWidgets();
  await api.given(definitionsPath, {
    ...(widgetDefinition({}, { names: { plural: "gadgets", kind: "Widget" } }) as object),
    metadata: { name: "gadgets.example.com" },
  });
  await api.advance(10);
  const { body } = await api.get(`${definitionsPath}/gadgets.example.com`);
  assert.equal(conditionOf(body, "NamesAccepted")?.reason, "ListKindConflict");
});
