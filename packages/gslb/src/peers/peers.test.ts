import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { TaskScope } from "../tasks/task-scope.ts";
import { Peers } from "./peers.ts";
import { PeerViews } from "./peer-views.ts";

const zone = "cloud.example.com";

test("who follows what peers carry is told when a peer leaves the fleet, and not when one joins", () => {
  const { runtime } = new Simulation({ seed: 1 }).node({ name: "eu", addresses: ["10.0.0.1"] });
  const views = new PeerViews(runtime.clock, { get: () => undefined, set() {}, retain() {} }, () => {});
  const told: string[] = [];
  const peers: Peers = new Peers(runtime, {
    ...{ views, geoTag: "eu", peerGeoTags: ["us", "za"], nameServerPrefix: "gslb-ns-" },
    ...{ deadlineMs: 2_000, periodMs: 30_000, tasks: new TaskScope(silentLogger) },
    dnsClient: { query: () => Promise.resolve({ state: "unreachable", reason: "nobody" }) },
    onCarriage: (of) =>
      told.push(
        `${of} ${peers
          .sessions(of)
          .map(({ geoTag }) => geoTag)
          .join()}`,
      ),
  });
  peers.addZone({ loadBalancedZone: zone, parentZone: "example.com" });
  peers.setPeers(zone, ["us", "za", "au"]);
  assert.deepEqual(told, []);
  peers.setPeers("Cloud.Example.com", ["au", "za"]);
  assert.deepEqual(told, [`${zone} za,au`]);
});
