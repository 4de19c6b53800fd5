import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@meridian/kube";
import type { Gslb } from "../resources/gslb.ts";
import { gslbType } from "../resources/resource-types.ts";
import { openGslbWorld, type GslbWorld } from "../testdata/gslb-world.ts";
import { legacyGslbs } from "../resources/legacy-gslb.ts";

const metadata = { namespace: "demo", name: "app" };
const legacy = (labels: Readonly<Record<string, string>> = {}): KubeObject => ({
  ...{ apiVersion: "k8gb.absa.oss/v1beta1", kind: "Gslb", metadata: { ...metadata, labels } },
});
const canonical: KubeObject = { apiVersion: "k8gb.io/v1beta1", kind: "Gslb", metadata };
const migrated = { "k8gb.io/migrated-to-k8gb-io": "true" };

/** A world with the definition, and what a handler is told. */
async function open(): Promise<{ world: GslbWorld; told: () => Promise<readonly string[]> }> {
  const world = openGslbWorld();
  world.define(legacyGslbs, "v1beta1");
  const said: string[] = [];
  const group = (gslb: Gslb): string =>
    gslb.apiVersion?.startsWith("k8gb.io") === true ? "present" : "legacy";
  await world.start();
  world.copies.gslbs.addHandler({
    onAdd: (gslb, { initial }) => void said.push(`${initial ? "there" : "add"} ${group(gslb)}`),
    // Writes of the status are not of interest here.
    onUpdate: (old, gslb) =>
      void (group(old) === group(gslb) || said.push(`${group(old)} to ${group(gslb)}`)),
    onDelete: (gslb) => void said.push(`delete ${group(gslb)}`),
  });
  const told = async (): Promise<readonly string[]> => {
    await world.clock.advance(2000);
    return said.splice(0);
  };
  return { world, told };
}

test("a successor takes over in one step, and what was there before does when it goes", async () => {
  const { world, told } = await open();
  world.truth.put(legacy());
  assert.deepEqual(await told(), ["add legacy"]);
  world.truth.put(canonical);
  assert.deepEqual(await told(), ["legacy to present"]);
  assert.equal(world.copies.gslbs.lister.size, 1);
  world.truth.put(legacy({ some: "label" }));
  assert.deepEqual(await told(), []);
  world.truth.remove(gslbType, metadata);
  assert.deepEqual(await told(), ["present to legacy"]);
  world.truth.put(legacy(migrated));
  assert.deepEqual(await told(), ["delete legacy"]);
  assert.deepEqual([...world.copies.gslbs.lister.keys()], []);
  await world.close();
});

test("whoever comes later is told of what there is, of both groups", async () => {
  const { world, told } = await open();
  world.truth.put(legacy());
  world.truth.put({ ...canonical, metadata: { ...metadata, name: "other" } });
  assert.deepEqual((await told()).toSorted(), ["add legacy", "add present"]);
  const there: string[] = [];
  world.copies.gslbs.addHandler({ onAdd: ({ metadata: { name = "" } }) => void there.push(name) });
  await told();
  assert.deepEqual(there.toSorted(), ["app", "other"]);
  assert.deepEqual([...world.copies.gslbs.lister.keys()].toSorted(), ["demo/app", "demo/other"]);
  await world.close();
});

test("without the definition there are no legacy Gslbs, and it may come and go", async () => {
  const { world, told } = await open();
  world.truth.put(legacy());
  await told();
  world.undefine(legacyGslbs);
  assert.deepEqual(await told(), ["delete legacy"]);
  assert.equal(world.copies.gslbs.isLegacyUnknown, false);
  world.define(legacyGslbs, "v1beta1");
  world.truth.put(legacy());
  assert.deepEqual(await told(), ["add legacy"]);
  await world.close();
});
