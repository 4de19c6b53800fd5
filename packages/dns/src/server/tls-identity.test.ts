import assert from "node:assert/strict";
import test from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { TlsIdentityFiles } from "./tls-identity.ts";

test("a renewed pair is served when it fits, whatever happens to its files meanwhile", async () => {
  const sim = new Simulation({ seed: 2 });
  const { runtime } = sim.node({ name: "server", addresses: ["10.0.0.2"] });
  const files = new Map([
    ["cert", "one"],
    ["key", "one"],
  ]);
  const file = (
    path: string,
  ): { path: string; stamp: () => Promise<string>; read: () => Promise<Uint8Array> } => ({
    path,
    stamp: async () => files.get(path) ?? "",
    read: async () => {
      const text = files.get(path);
      if (text === undefined) throw new Error(`there is no ${path}`);
      return new TextEncoder().encode(text);
    },
  });
  const served: string[] = [];
  const follower = new TlsIdentityFiles(runtime, {
    certificate: file("cert"),
    privateKey: file("key"),
    served: { certificatePem: "one", privateKeyPem: "one" },
    onIdentity: ({ certificatePem, privateKeyPem }) => {
      if (certificatePem !== privateKeyPem) throw new Error("they do not fit");
      served.push(certificatePem);
    },
  });
  const wait = (): Promise<unknown> => sim.run({ untilMs: sim.nowMs + 11_000 });
  await wait();
  assert.deepEqual(served, []);
  files.set("cert", "two");
  await wait();
  assert.deepEqual(served, [], "half a pair is not served");
  files.set("key", "two");
  await wait();
  await wait();
  assert.deepEqual(served, ["two"]);
  files.delete("key");
  await wait();
  files.set("key", "three").set("cert", "three");
  await sim.complete(follower.look());
  assert.deepEqual(served, ["two", "three"], "at once when nudged");
  await sim.complete(Promise.resolve(follower[Symbol.asyncDispose]()));
  files.set("key", "four").set("cert", "four");
  await wait();
  assert.equal(served.length, 2);
});
