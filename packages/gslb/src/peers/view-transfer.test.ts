import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { fleetKey, peerServer, periodMs, zoneName } from "../testdata/peer-world.ts";
import { ViewTransfer } from "./view-transfer.ts";

test("a view that comes in drops is given up after a period, and its peer is asked host by host", async () => {
  const simulation = new Simulation({ seed: 1 });
  const { clock } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] }).runtime;
  let transfers = 0;
  const transfer = new ViewTransfer({
    ...{ zone: zoneName, clock, deadlineMs: 2_000, periodMs },
    dnsClient: {
      query: ({ name, type }) =>
        Promise.resolve({
          ...{ state: "answered", outcome: "data", server: peerServer, authoritative: true },
          ...{ authority: [], additional: [] },
          records: [{ name, type, class: 1, ttl: 30, data: "ns.example.com. h.example.com. 7 1 1 1 1" }],
        }),
    },
    transfers: {
      fetchZone: ({ signal }) =>
        new Promise((_, reject) => {
          transfers += 1;
          signal!.addEventListener("abort", () => reject(signal!.reason as Error));
        }),
    },
  });
  transfer.setKey(fleetKey());
  const startMs = clock.monotonicMs();
  const question = { servers: [peerServer], signal: new AbortController().signal };
  const check = await simulation.complete(transfer.check(question));
  assert.deepEqual([check.kind, check.kind === "foreign" && check.isProved], ["foreign", true]);
  assert.deepEqual([clock.monotonicMs() - startMs, transfers], [periodMs, 1]);

  const ending = new AbortController();
  const asked = transfer.check({ servers: [peerServer], signal: ending.signal });
  clock.after(1_000, () => ending.abort(new Error("the peer is not asked any more")));
  await assert.rejects(simulation.complete(asked), /not asked any more/);
});
