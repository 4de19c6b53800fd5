import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { clientFromKubeconfig, discover, unknownFields } from "@meridian/controller";
import type { ApiResource, KubeClient } from "@meridian/controller";
import { protobuf } from "@meridian/controller/protobuf";
import { apiVersionOf } from "@meridian/kube";
import type { KubeObject } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { schemaFile, schemaModule } from "../scripts/protobuf-schema.ts";
import { output } from "./harness/command.ts";
import { peerAbsence, peerProgram } from "./harness/peer-programs.ts";
import { realControlPlaneAbsence, startRealControlPlane } from "./harness/real-control-plane.ts";
import type { RealControlPlane } from "./harness/real-control-plane.ts";
import { SchemaObjects } from "./harness/schema-objects.ts";
import type { Fullness } from "./harness/schema-objects.ts";

// Objects of a real kube-apiserver, as JSON and as protobuf: they must be the same. They are put into etcd, where nobody asks
// whether they make sense, so that each field of each kind can be there.

const absence = (await peerAbsence("protobuf-schema")) ?? (await realControlPlaneAbsence());
const fullness: readonly Fullness[] = ["all fields", "no fields", ...Array<Fullness>(6).fill("some fields")];
/** Where kube-apiserver keeps what it does not keep under the name of the resource. */
const storedAt: Readonly<Record<string, string>> = {
  endpoints: "services/endpoints",
  ingresses: "ingress",
  nodes: "minions",
  replicationcontrollers: "controllers",
  services: "services/specs",
};
/** The server obeys these, so that what makes no sense would hit all requests. It has some of its own. */
const obeyed: ReadonlySet<string> = new Set(["FlowSchema", "PriorityLevelConfiguration"]);

describe("built-in kinds as protobuf", { skip: absence ?? false }, () => {
  let plane: RealControlPlane;
  let client: KubeClient;
  let resources: readonly ApiResource[];

  before(async () => {
    plane = await startRealControlPlane();
    const runtime = nodeRuntime({ dataFolder: plane.folder, log: silentLogger });
    client = clientFromKubeconfig(runtime, plane.kubeconfig());
    resources = (await discover(client)).resources.filter(
      (resource) => protobuf.of(resource) !== undefined && resource.verbs.includes("watch"),
    );
  });
  after(async () => {
    await client?.[Symbol.asyncDispose]();
    await plane?.[Symbol.asyncDispose]();
  });

  it("the schema is that of k8s.io/api", async () => {
    assert.equal(await readFile(schemaFile, "utf8"), await schemaModule());
  });

  it("the server serves each kind of the schema", () => {
    const served = resources.map((type) => `${apiVersionOf(type)} ${type.kind}`);
    assert.deepEqual(served.sort(), [...protobuf.kinds].sort());
  });

  it("what a new server has is the same as in JSON", async () => {
    let objects = 0;
    for (const resource of resources) objects += await compare(client, resource);
    assert.ok(objects > 100, `${objects} objects`);
  });

  it("objects with all, no and some of their fields are the same as in JSON", async () => {
    const schema = new SchemaObjects(await output(await peerProgram("protobuf-schema"), []), 1);
    for (const [at, schemaKind] of schema.kinds.entries()) {
      const { apiVersion, kind } = schemaKind;
      if (obeyed.has(kind)) continue;
      const resource = resources.find((type) => type.kind === kind && apiVersionOf(type) === apiVersion);
      assert.ok(resource !== undefined, kind);
      const { plural, namespaced } = resource;
      for (const [index, full] of fullness.entries()) {
        const place = namespaced ? { namespace: "default" } : {};
        const metadata = { name: `made-${at}-${index}`, uid: randomUUID(), ...place };
        const key = ["/registry", storedAt[plural] ?? plural, ...Object.values(place), metadata.name].join(
          "/",
        );
        await put(plane.etcdUrl, key, schema.make(schemaKind, metadata, full));
      }
      assert.ok((await compare(client, resource)) >= fullness.length, `${apiVersion} ${kind}`);
    }
  });
});

/** Holds all objects of a resource against each other; returns how many there are. */
async function compare(client: KubeClient, type: ApiResource): Promise<number> {
  const { items, metadata } = await client.list(type);
  const { resourceVersion = "" } = metadata;
  const objects: KubeObject[] = [];
  const exact = { resourceVersion, resourceVersionMatch: "Exact", wireFormat: protobuf } as const;
  await client.listRaw(type, exact, ({ format, octets, start, end }) => {
    objects.push(format.decode(octets, start, end) as KubeObject);
  });
  assert.equal(objects.length, items.length);
  for (const [index, { kind: _kind, apiVersion: _apiVersion, ...item }] of items.entries()) {
    assert.deepEqual(objects[index], item, `${type.plural} ${item.metadata.name}`);
    assert.ok(!(unknownFields in (objects[index] as object)));
  }
  return items.length;
}

async function put(etcdUrl: string, key: string, object: KubeObject): Promise<void> {
  const [name, value] = [key, JSON.stringify(object)].map((text) => Buffer.from(text).toString("base64"));
  const body = JSON.stringify({ key: name, value });
  const response = await fetch(`${etcdUrl}/v3/kv/put`, { method: "POST", body });
  assert.ok(response.ok, `etcd answers ${response.status}`);
}
