import assert from "node:assert/strict";
import { test } from "node:test";
import { testApi, type TestApi } from "@meridian/controller/testing";
import {
  apiVersionOf,
  customResourceDefinitionType,
  type KubeObject,
  type ResourceType,
} from "@meridian/kube";
import type { ObjectKind } from "../resources/object-kind.ts";
import { TaskScope } from "../tasks/task-scope.ts";
import { OptionalCopies } from "./optional-copies.ts";
import type { OptionalCopy } from "./optional-copy.ts";

const kind: ObjectKind = {
  group: "routes.example",
  plural: "routes",
  kind: "Route",
  namespaced: true,
  versions: ["v1", "v1beta1"],
};

function typeIn(version: string): ResourceType {
  return { ...kind, version };
}

function definition(...served: readonly string[]): KubeObject {
  const versions = ["v1beta1", "v1"].map((name) => ({
    name,
    served: served.includes(name),
    storage: name === "v1",
  }));
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "routes.routes.example" },
    spec: {
      group: kind.group,
      names: { plural: kind.plural, kind: kind.kind },
      scope: "Namespaced",
      versions,
    },
    status: { conditions: [{ type: "Established", status: "True" }] },
  } as KubeObject;
}

function route(name: string, version: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  return {
    apiVersion: apiVersionOf(typeIn(version)),
    kind: "Route",
    metadata: { name, namespace: "demo", labels },
  };
}

interface World extends TestApi {
  readonly copies: OptionalCopies;
  readonly routes: OptionalCopy;
  readonly told: string[];
  readonly close: () => Promise<void>;
  /** What `kubectl apply` and `delete` of the definition do to what the API server serves. */
  readonly serve: (...versions: readonly string[]) => void;
  readonly removeDefinition: () => void;
}

function openWorld(): World {
  const types: ResourceType[] = [customResourceDefinitionType];
  const api = testApi({ types, unserved: "answer" });
  const tasks = new TaskScope(api.runtime.log);
  const copies = new OptionalCopies(api.runtime, { client: api.client, tasks });
  const told: string[] = [];
  const routes = copies.of(kind);
  const name = ({ metadata }: KubeObject): string => metadata.name ?? "";
  routes.addHandler({
    onAdd: (object) => void told.push(`+${name(object)}`),
    onUpdate: (_old, object) => void told.push(`~${name(object)}`),
    onDelete: (object) => void told.push(`-${name(object)}`),
  });
  copies.onState(() => told.push(routes.state.is));
  copies.start();
  const isServed = (version: string): boolean =>
    types.some((type) => type.kind === kind.kind && type.version === version);
  return {
    ...{ ...api, copies, routes, told },
    close: () => tasks.close(),
    serve(...versions) {
      for (const version of versions) if (!isServed(version)) types.push(typeIn(version));
      api.truth.put(definition(...versions));
    },
    removeDefinition() {
      types.splice(1);
      api.truth.remove(customResourceDefinitionType, { name: "routes.routes.example" });
      api.truth.endWatches();
    },
  };
}

test("a kind is absent, complete while its definition is there, and gone with it; again and again", async () => {
  const world = openWorld();
  const { clock, truth, routes, told, copies } = world;
  await clock.outcome(copies.settled());
  assert.deepEqual([routes.state.is, routes.list()], ["absent", []]);
  for (let round = 0; round < 2; round += 1) {
    told.length = 0;
    world.serve("v1");
    truth.put(route("a", "v1"));
    await clock.until(() => told.length >= 3);
    assert.deepEqual([routes.get("demo/a")?.metadata.name, routes.state.is], ["a", "complete"]);
    truth.put(route("a", "v1", { team: "x" }));
    truth.put(route("b", "v1"));
    await clock.until(() => told.length >= 5);
    truth.remove(typeIn("v1"), { namespace: "demo", name: "b" });
    await clock.until(() => told.length >= 6);
    world.removeDefinition();
    await clock.until(() => routes.state.is === "absent" && told.length >= 8);
    assert.deepEqual(
      [[...told].sort(), routes.list(), routes.get("demo/a")],
      [["+a", "+b", "-a", "-b", "absent", "complete", "waiting", "~a"], [], undefined],
    );
  }
  await clock.outcome(world.close());
});

test("a kind that moves to another version is read without a gap", async () => {
  const world = openWorld();
  const { clock, truth, routes, told } = world;
  world.serve("v1beta1");
  truth.put(route("kept", "v1beta1"));
  await clock.until(() => routes.list().length === 1);
  await clock.advance(1000);
  told.length = 0;
  world.serve("v1beta1", "v1");
  const seen = new Set<string>();
  await clock.until(() => {
    seen.add(`${routes.state.is} ${routes.get("demo/kept") === undefined ? "without" : "with"} it`);
    return routes.informer?.type.version === "v1" && told.length > 0;
  });
  truth.put(route("kept", "v1"));
  await clock.advance(1000);
  assert.deepEqual([told, [...seen]], [["~kept", "~kept"], ["complete with it"]]);
  assert.equal(routes.get("demo/kept")?.apiVersion, "routes.example/v1");
  await clock.outcome(world.close());
});

test("what may not be read is said to be so, and read once it may be", async () => {
  const world = openWorld();
  const { clock, truth, box, routes, copies } = world;
  world.serve("v1");
  truth.put(route("a", "v1"));
  const forbidden = { code: 403, reason: "Forbidden" } as const;
  box.befallRequest(
    { do: "refuse", with: forbidden },
    { times: 3, only: ({ target }) => target.includes("/routes.example/") },
  );
  await clock.outcome(copies.settled());
  assert.deepEqual([routes.state.is, routes.list()], ["unreadable", []]);
  await clock.until(() => routes.state.is === "complete");
  assert.equal(routes.list().length, 1);
  await clock.outcome(world.close());
});

test("a kind that nobody asks for is not followed", async () => {
  const { runtime, client, truth, clock } = testApi({
    types: [customResourceDefinitionType, typeIn("v1")],
    unserved: "answer",
  });
  const tasks = new TaskScope(runtime.log);
  const copies = new OptionalCopies(runtime, { client, tasks });
  truth.put(definition("v1"));
  copies.start();
  await clock.outcome(copies.settled());
  await clock.advance(60_000);
  assert.deepEqual([truth.openWatches, copies.all.length], [1, 1]);
  await clock.outcome(tasks.close());
});
