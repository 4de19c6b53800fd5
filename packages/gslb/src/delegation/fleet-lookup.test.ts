import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { FleetLookup } from "./fleet-lookup.ts";
import { ZoneMembers } from "./zone-members.ts";

test("peers of a large fleet that are asked at once leave one listener on the signal, of which Node warns from 11 on", async () => {
  const peers = Array.from({ length: 20 }, (_, index) => `c${index}`);
  const zone = { loadBalancedZone: "cloud.example.com", parentZone: "example.com" };
  const abort = new AbortController();
  let asked = 0;
  let listenersMax = 0;
  const lookup = new FleetLookup({
    dnsClient: {
      query: ({ signal }) => {
        asked += 1;
        signal?.addEventListener("abort", () => {});
        listenersMax = Math.max(listenersMax, getEventListeners(abort.signal, "abort").length);
        return Promise.resolve({ state: "unreachable", reason: "silent" });
      },
    },
    config: {
      ...{ geoTag: "eu", nameServerPrefix: "gslb-ns-", peerDeadlineMs: 2_000, edgeDnsServers: [] },
      peers: new Map(peers.map((tag, index) => [tag, [{ address: `192.0.2.${index}`, port: 53 }]])),
    },
    edgeServers: () => [],
    members: new ZoneMembers({
      ...{ geoTag: "eu", peerGeoTags: peers, nameServerPrefix: "gslb-ns-" },
      ...{ areDynamic: false, onChange() {} },
    }),
    provider: undefined,
  });
  await lookup.words(zone, [], abort.signal);
  assert.equal(asked, peers.length);
  assert.equal(listenersMax, 1);
  assert.equal(getEventListeners(abort.signal, "abort").length, 0);
});
