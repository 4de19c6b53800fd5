import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger, type Logger } from "@meridian/runtime";
import type { DelegatedZone } from "../delegation/delegation-provider.ts";
import { FakeProvider } from "../testdata/zone-world.ts";
import { DelegationTally } from "./delegation-tally.ts";

const { signal } = new AbortController();
const zone: DelegatedZone = {
  ...{ loadBalancedZone: "a.x", parentZone: "x", nameServers: ["gslb-ns-eu-a.x"], isLast: false },
  ...{ ttlSeconds: 30, ownNameServer: "gslb-ns-eu-a.x", ownAddresses: { A: ["192.0.2.1"], AAAA: [] } },
};

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
    [...tally.of(["a.x"])],
    [{ zone: "a.x", provider: "fake", ensured: 1, failed: 1, withdrawn: 2 }],
  );
});

test("the counts of a zone that is done with are forgotten, and those of the others stay", async () => {
  const tally = new DelegationTally(silentLogger);
  const counted = tally.over(new FakeProvider());
  await counted.ensure(zone, signal);
  await counted.ensure({ ...zone, loadBalancedZone: "b.x" }, signal);
  const [, other] = tally.of(["B.x", "a.x"]);
  assert.deepEqual([...tally.of(["B.x"])], [other]);
  assert.equal(other?.zone, "b.x");
  assert.deepEqual([...tally.of(["a.x", "b.x"])], [other], "one that comes again begins anew");
});

test("a pass that was broken off did not fail", async () => {
  const tally = new DelegationTally(silentLogger);
  const provider = new FakeProvider();
  const counted = tally.over(provider);
  await counted.ensure(zone, signal);
  provider.failure = new Error("the operator was stopped");
  await assert.rejects(counted.ensure(zone, AbortSignal.abort(provider.failure)), /stopped/);
  await assert.rejects(counted.withdraw(zone, AbortSignal.abort(provider.failure)), /stopped/);
  assert.deepEqual(
    [...tally.of(["a.x"])].map(({ ensured, failed }) => [ensured, failed]),
    [[1, 0]],
  );
});
