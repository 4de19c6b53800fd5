import assert from "node:assert/strict";
import { test } from "node:test";
import { json, scriptedWorld } from "../testdata/scripted-http.ts";
import type { Script, ScriptedWorld } from "../testdata/scripted-http.ts";
import { discover } from "./discovery.ts";
import { KubeClient } from "./kube-client.ts";
import { RestMapper } from "./rest-mapper.ts";

const verbs = ["get", "list", "watch"];
const aggregatedResource = (resource: string, kind: string, more: object = {}): object => ({
  resource,
  responseKind: { group: "", version: "", kind },
  scope: "Namespaced",
  singularResource: kind.toLowerCase(),
  verbs,
  ...more,
});
const core = {
  kind: "APIGroupDiscoveryList",
  items: [
    {
      metadata: { name: "" },
      versions: [
        {
          version: "v1",
          freshness: "Current",
          resources: [
            aggregatedResource("pods", "Pod", {
              shortNames: ["po"],
              categories: ["all"],
              subresources: [{ subresource: "status", verbs: ["get", "patch", "update"] }],
            }),
            aggregatedResource("events", "Event", { shortNames: ["ev"] }),
            aggregatedResource("nodes", "Node", { scope: "Cluster" }),
            // A resource that is only there for its subresources has no kind of its own.
            { resource: "odd", scope: "Namespaced", verbs: [] },
          ],
        },
      ],
    },
  ],
};
const groups = (...more: object[]): object => ({
  kind: "APIGroupDiscoveryList",
  items: [
    {
      metadata: { name: "events.k8s.io" },
      versions: [{ version: "v1", freshness: "Current", resources: [aggregatedResource("events", "Event")] }],
    },
    {
      metadata: { name: "k8gb.io" },
      versions: [
        { version: "v1beta1", freshness: "Current", resources: [aggregatedResource("gslbs", "Gslb")] },
        { version: "v1alpha1", freshness: "Current", resources: [aggregatedResource("gslbs", "Gslb")] },
      ],
    },
    { metadata: { name: "metrics.k8s.io" }, versions: [{ version: "v1", freshness: "Stale" }] },
    ...more,
  ],
});

const legacy: Readonly<Record<string, object>> = {
  "/api": { kind: "APIVersions", versions: ["v1"] },
  "/apis": {
    kind: "APIGroupList",
    groups: [
      {
        versions: [{ groupVersion: "k8gb.io/v1alpha1" }, { groupVersion: "k8gb.io/v1beta1" }],
        preferredVersion: { groupVersion: "k8gb.io/v1beta1" },
      },
      { versions: [{ groupVersion: "metrics.k8s.io/v1" }] },
    ],
  },
  "/api/v1": {
    resources: [
      { name: "pods", singularName: "pod", namespaced: true, kind: "Pod", verbs, shortNames: ["po"] },
      {
        name: "pods/status",
        singularName: "",
        namespaced: true,
        kind: "Pod",
        verbs: ["get", "patch", "update"],
      },
      { name: "nodes", singularName: "node", namespaced: false, kind: "Node", verbs },
    ],
  },
  "/apis/k8gb.io/v1beta1": {
    resources: [{ name: "gslbs", singularName: "gslb", namespaced: true, kind: "Gslb", verbs }],
  },
  "/apis/k8gb.io/v1alpha1": {
    resources: [{ name: "gslbs", singularName: "gslb", namespaced: true, kind: "Gslb", verbs }],
  },
};

function world(script: Script): ScriptedWorld & { client: KubeClient; mapper: RestMapper } {
  const scripted = scriptedWorld(script);
  const client = new KubeClient(scripted.runtime, { origin: "https://10.0.0.2:6443" });
  return { ...scripted, client, mapper: new RestMapper(scripted.runtime, client) };
}

const modern: Script = ({ target }) => json(target === "/api" ? core : groups());
const old: Script = ({ target }) =>
  target in legacy ? json(legacy[target]) : json({ kind: "Status", reason: "ServiceUnavailable" }, 503);

for (const [name, script, requests] of [
  ["new", modern, 2],
  ["old", old, 6],
] as const) {
  test(`a ${name} server tells its resources, its preferences and what it does not know, in ${requests} requests`, async () => {
    const { client, requests: sent } = world(script);
    const { resources, failures } = await discover(client);
    assert.equal(sent.length, requests);
    assert.deepEqual(resources.find(({ kind }) => kind === "Pod")?.subresources, [
      { name: "status", verbs: ["get", "patch", "update"] },
    ]);
    assert.deepEqual(
      resources.filter(({ kind }) => kind === "Gslb").map(({ version }) => version),
      ["v1beta1", "v1alpha1"],
    );
    assert.deepEqual(
      failures.map(({ groupVersion }) => groupVersion),
      ["metrics.k8s.io/v1"],
    );
    assert.ok(!resources.some(({ plural }) => plural === "odd" || plural.includes("/")));
  });
}

test("objects, kinds and words of people are found", async () => {
  const { mapper, requests } = world(modern);
  const path = async (
    asked: Promise<{ group: string; version: string; plural: string }>,
  ): Promise<string> => {
    const { group, version, plural } = await asked;
    return `${group}/${version}/${plural}`;
  };
  const gslb = { apiVersion: "k8gb.io/v1alpha1", kind: "Gslb" };
  assert.equal(await path(mapper.typeOf(gslb)), "k8gb.io/v1alpha1/gslbs");
  assert.equal(await path(mapper.typeOfKind({ group: "k8gb.io", kind: "Gslb" })), "k8gb.io/v1beta1/gslbs");
  const words: readonly (readonly [string, string])[] = [
    ["pods", "/v1/pods"],
    ["pod", "/v1/pods"],
    ["po", "/v1/pods"],
    ["Pod", "/v1/pods"],
    ["ev", "/v1/events"],
    ["events", "/v1/events"],
    ["events.events.k8s.io", "events.k8s.io/v1/events"],
    ["gslbs.k8gb.io", "k8gb.io/v1beta1/gslbs"],
    ["gslb.v1alpha1.k8gb.io", "k8gb.io/v1alpha1/gslbs"],
  ];
  for (const [word, expected] of words) assert.equal(await path(mapper.typeOfWord(word)), expected, word);
  const { namespaced } = await mapper.typeOfWord("nodes");
  assert.equal(namespaced, false);
  assert.equal(requests.length, 2);
});

test("a kind that was not there is asked for again, but not for each question", async () => {
  let installed = false;
  const widgets = {
    metadata: { name: "example.com" },
    versions: [{ version: "v1", freshness: "Current", resources: [aggregatedResource("widgets", "Widget")] }],
  };
  const made = world(({ target }) =>
    json(target === "/api" ? core : groups(...(installed ? [widgets] : []))),
  );
  const { mapper, simulation, requests } = made;
  const widget = { apiVersion: "example.com/v1", kind: "Widget" };
  for (let count = 0; count < 20; count++) {
    await assert.rejects(mapper.typeOf(widget), {
      code: "UnknownKind",
      message:
        "the server at https://10.0.0.2:6443 serves no kind Widget of example.com/v1; it could not say what is in metrics.k8s.io/v1; see that its definition is installed",
    });
  }
  assert.equal(requests.length, 2);
  installed = true;
  await simulation.run({ untilMs: 2_000 });
  assert.equal((await mapper.typeOf(widget)).plural, "widgets");
  assert.equal(requests.length, 4);
});

test("questions that come at once share one round of requests", async () => {
  const { mapper, requests } = world(modern);
  const pod = { apiVersion: "v1", kind: "Pod" };
  await Promise.all(Array.from({ length: 50 }, () => mapper.typeOf(pod)));
  assert.equal(requests.length, 2);
});

test("a server that does not answer is the caller's error, and the next question asks again", async () => {
  let away = true;
  const { mapper } = world((request, count) =>
    away ? json({ kind: "Status", reason: "Forbidden" }, 403) : modern(request, count),
  );
  const pod = { apiVersion: "v1", kind: "Pod" };
  await assert.rejects(mapper.typeOf(pod), { name: "ApiError", reason: "Forbidden" });
  away = false;
  assert.equal((await mapper.typeOf(pod)).plural, "pods");
});
