import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logger } from "@meridian/runtime";
import type { DelegatedZone } from "../delegation/delegation-provider.ts";
import { FakeProvider } from "../testdata/zone-world.ts";
import { DelegationTally } from "./delegation-tally.ts";

test("what a provider is asked for is logged in k8gb's words, and counted", async () => {
  const lines: string[] = [];
  const take =
    (level: string) =>
    (message: string): void =>
      void lines.push(`${level} ${message}`);
  const log: Logger = {
    ...{ error: take("error"), warn: take("warn"), info: take("info"), debug: take("debug") },
    child: () => log,
  };
  const tally = new DelegationTally(log);
  const provider = new FakeProvider();
  const counted = tally.over(provider);
  const { signal } = new AbortController();
  const zone: DelegatedZone = {
    ...{ loadBalancedZone: "a.x", parentZone: "x", nameServers: ["gslb-ns-eu-a.x"], isLast: false },
    ...{ ttlSeconds: 30, ownNameServer: "gslb-ns-eu-a.x", ownAddresses: { A: ["192.0.2.1"], AAAA: [] } },
  };
  await counted.ensure(zone, signal);
  await counted.withdraw(zone, signal);
  await counted.withdraw({ ...zone, isLast: true }, signal);
  assert.deepEqual(lines, [
    "debug Calling DNS provider",
    "info Removing Glue A",
    "info Removing delegated zone from edge DNS",
  ]);
  provider.failure = new Error("no");
  await assert.rejects(counted.ensure(zone, signal), /no/);
  assert.deepEqual(
    [...tally.counts],
    [{ zone: "a.x", provider: "fake", ensured: 1, failed: 1, withdrawn: 2 }],
  );
});
