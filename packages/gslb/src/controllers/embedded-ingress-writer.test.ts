import assert from "node:assert/strict";
import { test } from "node:test";
import { invalid, type Ingress } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import type { ReferenceSource } from "../references/reference-source.ts";
import { resolveReference } from "../references/resolve-reference.ts";
import type { Gslb } from "../resources/gslb.ts";
import { FakeObjects } from "../testdata/fake-objects.ts";
import { writeEmbeddedIngress } from "./embedded-ingress-writer.ts";

const rule = {
  host: "app.x",
  http: {
    paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
  },
};
const gslb: Gslb = {
  apiVersion: "k8gb.io/v1beta1",
  kind: "Gslb",
  metadata: { name: "app", namespace: "demo", uid: "u1", annotations: { app: "x" } },
  spec: { strategy: { type: "roundRobin" }, ingress: { rules: [rule], backend: { service: { name: "d" } } } },
};
const nothing: ReferenceSource = {
  state: () => ({ is: "complete" }),
  get: () => undefined,
  list: () => [],
  slicesOf: () => [],
};

async function write(server: FakeObjects, given: Gslb = gslb): Promise<string | undefined> {
  const outcome = await writeEmbeddedIngress(given, resolveReference(given, nothing), {
    client: server.client,
    copies: { ingresses: { lister: { get: () => stored(server) } } },
    log: silentLogger,
    signal: new AbortController().signal,
  });
  return outcome?.kind === "failed" ? `${outcome.reason}: ${outcome.message}` : undefined;
}

const stored = (server: FakeObjects): Ingress | undefined => server.objects.get("ingresses demo/app");
const put = (server: FakeObjects, ingress: Ingress): unknown =>
  server.objects.set("ingresses demo/app", ingress);

test("the Ingress has the spec, one label, no annotation, and the Gslb as its controller", async () => {
  const server = new FakeObjects();
  assert.equal(await write(server), undefined);
  const { metadata, spec } = stored(server)!;
  assert.deepEqual(
    [metadata.labels, metadata.annotations, metadata.ownerReferences?.[0]?.uid],
    [{ "app.k8gb.io/managed-by": "gslb" }, undefined, "u1"],
  );
  assert.deepEqual(spec, { rules: [rule], defaultBackend: { service: { name: "d" } } });
});

test("it is written again only where the spec differs, and keeps a class that admission gave it", async () => {
  const server = new FakeObjects();
  await write(server);
  const made = stored(server)!;
  put(server, {
    ...made,
    metadata: { ...made.metadata, annotations: { by: "others" } },
    spec: { ...made.spec, ingressClassName: "nginx" },
  });
  await write(server);
  assert.equal(server.writes, 1);
  await write(server, { ...gslb, spec: { ...gslb.spec, ingress: { rules: [] } } });
  assert.deepEqual(
    [stored(server)!.spec, stored(server)!.metadata.annotations],
    [{ rules: [], ingressClassName: "nginx" }, { by: "others" }],
  );
});

test("none is made for a Gslb that is being deleted", async () => {
  const server = new FakeObjects();
  const metadata = { ...gslb.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
  assert.equal(await write(server, { ...gslb, metadata }), undefined);
  assert.equal(server.writes, 0);
});

test("an Ingress of that name that is somebody else's is left alone", async () => {
  const server = new FakeObjects();
  put(server, {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "app", namespace: "demo" },
    spec: { rules: [] },
  });
  assert.match((await write(server))!, /^NotOwned: Ingress demo\/app exists and is not this Gslb's/);
  assert.equal(server.writes, 0);
});

test("an Ingress that the API server refuses is told, and other failures are tried again", async () => {
  const server = new FakeObjects();
  server.failure = invalid({ group: "networking.k8s.io", kind: "Ingress" }, "app", []);
  assert.match(
    (await write(server))!,
    /^InvalidReference: the API server refuses the Ingress of spec.ingress/,
  );
  server.failure = new Error("away");
  await assert.rejects(write(server), /away/);
});
