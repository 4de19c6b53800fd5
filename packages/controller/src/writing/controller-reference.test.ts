import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType, namespaceType, serviceType } from "@meridian/kube";
import type { ConfigMap, KubeObject, OwnerReference } from "@meridian/kube";
import { testApi } from "../testing/test-api.ts";
import { createOrUpdate } from "./create-or-update.ts";
import { setControllerReference } from "./controller-reference.ts";

const owner = (kind: string, name: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: "v1",
  kind,
  name,
  uid: `uid-${name}`,
  controller: true,
  blockOwnerDeletion: true,
  ...more,
});

const configMap = (
  ownerReferences?: readonly OwnerReference[],
  data: Record<string, string> = {},
): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "n", name: "a", ...(ownerReferences === undefined ? {} : { ownerReferences }) },
  data,
});

const web: Pick<KubeObject, "metadata"> = { metadata: { namespace: "n", name: "web", uid: "uid-web" } };
const notController = owner("Service", "db", { controller: false });

const cases: readonly {
  readonly name: string;
  readonly before: readonly OwnerReference[];
  readonly after: unknown;
}[] = [
  { name: "nobody owns", before: [], after: [owner("Service", "web")] },
  {
    name: "others own without controlling",
    before: [notController],
    after: [notController, owner("Service", "web")],
  },
  {
    name: "it owns already without controlling, in whichever version",
    before: [owner("Service", "web", { apiVersion: "v0", controller: false }), notController],
    after: [owner("Service", "web"), notController],
  },
  {
    name: "one of its name controlled that is gone",
    before: [owner("Service", "web", { uid: "uid-of-before" })],
    after: [owner("Service", "web")],
  },
  { name: "it controls already", before: [owner("Service", "web")], after: [owner("Service", "web")] },
];
for (const { name, before, after } of cases) {
  test(`an object gets a controller where ${name}`, () => {
    const { metadata } = setControllerReference(configMap(before), web, serviceType);
    assert.deepEqual(metadata.ownerReferences, after);
  });
}

test("an object that another one controls keeps it, whichever part of the reference differs", () => {
  for (const other of [
    owner("Service", "db"),
    owner("Pod", "web"),
    owner("Service", "web", { apiVersion: "x.io/v1" }),
  ]) {
    assert.throws(() => setControllerReference(configMap([notController, other]), web, serviceType), {
      name: "ControllerError",
      code: "AlreadyOwned",
      message:
        `ConfigMap n/a is controlled by ${other.kind} ${other.name}, so Service web cannot control it; ` +
        `choose another name, or let go of it there`,
    });
  }
});

test("an owner is of the same namespace or of none, and known to the server", () => {
  const elsewhere = { metadata: { ...web.metadata, namespace: "m" } };
  const unknown = { metadata: { namespace: "n", name: "web" } };
  const clusterWide: ConfigMap = { ...configMap(), metadata: { name: "a" } };
  for (const [object, by] of [
    [configMap(), elsewhere],
    [configMap(), unknown],
    [clusterWide, web],
  ] as const) {
    assert.throws(() => setControllerReference(object, by, serviceType), { code: "InvalidOwner" });
  }
  const { metadata } = setControllerReference(
    configMap(),
    { metadata: { name: "n", uid: "u" } },
    namespaceType,
  );
  assert.deepEqual(metadata.ownerReferences, [owner("Namespace", "n", { uid: "u" })]);
});

test("createOrUpdate writes no object that another one controls, whatever the mutate function does", async () => {
  const mine = configMap([owner("Service", "web")], { v: "mine" });
  const theirs = configMap([owner("Service", "db")], { v: "theirs" });
  const keepsOwners = (current: ConfigMap): ConfigMap => ({ ...current, data: { v: "mine" } });
  for (const options of [{ desired: mine }, { desired: mine, mutate: keepsOwners }]) {
    const { client, clock, truth } = testApi({ types: [configMapType] });
    const stored = truth.put(theirs);
    const { version } = truth;
    for (const current of [undefined, stored]) {
      const writing = createOrUpdate(client, configMapType, { ...options, current });
      await assert.rejects(clock.outcome(writing), { code: "AlreadyOwned" });
    }
    assert.equal(truth.version, version);
  }
});

test("createOrUpdate takes what nobody controls, what a former owner of the name left, and what mutate takes over", async () => {
  const mine = configMap([owner("Service", "web")], { v: "mine" });
  const takesOver = (current: ConfigMap): ConfigMap => ({
    ...current,
    data: { v: "mine" },
    metadata: { ...current.metadata, ownerReferences: mine.metadata.ownerReferences ?? [] },
  });
  for (const { before, mutate } of [
    { before: configMap() },
    { before: configMap([owner("Service", "web", { uid: "uid-of-before" })]) },
    { before: configMap([owner("Service", "db")]), mutate: takesOver },
  ]) {
    const { client, clock, truth } = testApi({ types: [configMapType] });
    truth.put(before);
    const options = { desired: mine, ...(mutate === undefined ? {} : { mutate }) };
    const { outcome, object } = await clock.outcome(createOrUpdate(client, configMapType, options));
    assert.equal(outcome, "updated");
    assert.deepEqual(
      [object.data, object.metadata.ownerReferences],
      [{ v: "mine" }, [owner("Service", "web")]],
    );
  }
});

test("createOrUpdate of an object that says nothing of a controller leaves the one that is there", async () => {
  const { client, clock, truth } = testApi({ types: [configMapType] });
  truth.put(configMap([owner("Service", "db")]));
  const desired = configMap(undefined, { v: "1" });
  const { object } = await clock.outcome(createOrUpdate(client, configMapType, { desired }));
  assert.deepEqual([object.data, object.metadata.ownerReferences], [{ v: "1" }, [owner("Service", "db")]]);
});
