import assert from "node:assert/strict";
import { test } from "node:test";
import type { Gslb } from "../resources/gslb.ts";
import { gslbType } from "../resources/resource-types.ts";
import { openGslbWorld } from "../testdata/gslb-world.ts";
import { AskedHosts } from "./asked-hosts.ts";

test("a host that another Gslb takes over is asked for on, and one that nobody has any more is not", () => {
  const asked = new Map<string, number>();
  const removed: string[] = [];
  const holders = new Map<string, string>();
  const hosts = new AskedHosts(
    {
      addHost: (host, threshold) => void asked.set(host, threshold),
      removeHost: (host) => void (removed.push(host), asked.delete(host)),
    },
    { holder: (host) => holders.get(host) },
  );
  hosts.set("demo/old", new Set(["a", "b", "c"]), 10);
  hosts.set("demo/new", new Set(["a"]), 20);
  holders.set("b", "demo/old").set("c", "demo/new");
  hosts.set("demo/old", new Set(["b"]), 10);
  assert.deepEqual(
    [...asked],
    [
      ["a", 20],
      ["b", 10],
      ["c", 10],
    ],
    "that of c was not looked at yet",
  );
  holders.set("b", "demo/new");
  hosts.remove("demo/old");
  hosts.set("demo/new", new Set(["a", "b", "c"]), 20);
  assert.deepEqual([...asked.values()], [20, 20, 20]);
  assert.deepEqual(removed, []);
  holders.clear();
  hosts.set("demo/new", new Set(["b", "c"]), 20);
  assert.deepEqual(removed, ["a"]);
  hosts.remove("demo/new");
  assert.equal(asked.size, 0);
});

test("an heir that does not take the host after all leaves nothing behind", () => {
  const asked = new Set<string>();
  const holders = new Map([["a", "demo/new"]]);
  const hosts = new AskedHosts(
    { addHost: (host) => void asked.add(host), removeHost: (host) => void asked.delete(host) },
    { holder: (host) => holders.get(host) },
  );
  hosts.set("demo/old", new Set(["a"]), 10);
  hosts.remove("demo/old");
  assert.deepEqual([...asked], ["a"]);
  hosts.set("demo/new", new Set(), 0);
  assert.deepEqual([...asked], []);
});

test("peers' views of a host outlive the Gslb that held it, where a younger one names it too", async () => {
  const world = openGslbWorld();
  const { truth, clock } = world;
  const gslb = (name: string, creationTimestamp: string): Gslb => ({
    ...{
      apiVersion: "k8gb.io/v1beta1",
      kind: "Gslb",
      metadata: { namespace: "demo", name, creationTimestamp },
    },
    spec: {
      strategy: { type: "failover", primaryGeoTag: "us" },
      ingress: { rules: [{ host: "app.cloud.example.com", http: { paths: [] } }] },
    },
  });
  truth.put(gslb("old", "2026-01-01T00:00:00Z"));
  truth.put(gslb("young", "2026-01-02T00:00:00Z"));
  await world.start();
  assert.deepEqual(world.takeAsked(), ["+app.cloud.example.com"]);
  truth.remove(gslbType, { namespace: "demo", name: "old" });
  await clock.advance(1000);
  assert.equal(world.gslbs.claims.holder("app.cloud.example.com"), "demo/young");
  assert.deepEqual(world.takeAsked(), [], "it was never forgotten");
  truth.remove(gslbType, { namespace: "demo", name: "young" });
  await clock.advance(1000);
  assert.deepEqual(world.takeAsked(), ["-app.cloud.example.com"]);
  await world.close();
});

test("a host that a Gslb names and cannot balance is the fleet's, unless it was balanced by that Gslb before", async () => {
  const world = openGslbWorld();
  const { truth, clock } = world;
  const gslb = (type: string): Gslb => ({
    ...{ apiVersion: "k8gb.io/v1beta1", kind: "Gslb", metadata: { namespace: "demo", name: "app" } },
    spec: {
      strategy: { type },
      ingress: { rules: [{ host: "app.cloud.example.com", http: { paths: [] } }] },
    },
  });
  truth.put(gslb("Wrong"));
  await world.start();
  assert.deepEqual(world.takeAsked(), [], "peers that carry it are answered for as if it were not there");
  truth.put(gslb("roundRobin"));
  await clock.advance(1000);
  assert.deepEqual(world.takeAsked(), ["+app.cloud.example.com"]);
  truth.put(gslb("Wrong"));
  await clock.advance(1000);
  assert.deepEqual(world.takeAsked(), [], "what it published goes on");
  await world.close();
});
