import assert from "node:assert/strict";
import { test } from "node:test";
import { delegated } from "../testdata/parent-world.ts";
import type { ParentDelegation } from "./parent-delegation.ts";
import { ZoneWithdrawal, type WithdrawalStep } from "./zone-withdrawal.ts";

const signal = new AbortController().signal;
const eu = delegated("eu", {});

/** A withdrawal whose provider is done at once; the parent delegates to whom `nameServers` names. */
function openWithdrawal() {
  const world = { nowMs: 0, nameServers: [] as readonly string[] };
  const withdrawal = new ZoneWithdrawal(
    { monotonicMs: () => world.nowMs },
    {
      provider: { name: "fake", ensure: async () => {}, withdraw: async () => "withdrawn" },
      fleet: {
        async delegation(): Promise<ParentDelegation> {
          return { state: "known", nameServers: world.nameServers, ttlSeconds: 60, glue: new Map() };
        },
      },
    },
  );
  return { world, step: () => withdrawal.step(eu, signal), withdrawal };
}

function textOf(step: WithdrawalStep): string {
  return step.state === "waiting" ? step.message : step.state;
}

test("a parent that goes on delegating is waited for ten minutes, and caches for the longest TTL that was seen", async () => {
  const { world, step } = openWithdrawal();
  world.nameServers = [eu.ownNameServer];
  assert.match(textOf(await step()), /still delegates/);
  world.nowMs = 599_999;
  assert.match(textOf(await step()), /still delegates/);
  world.nowMs = 600_000;
  assert.deepEqual(await step(), {
    state: "waiting",
    afterMs: 60_000,
    message: `${eu.loadBalancedZone} is answered until resolvers have forgotten the delegation`,
  });
  world.nowMs = 660_000;
  assert.deepEqual(await step(), { state: "done" });
});

test("what is done stays done for a while, and is no answer for a zone of the name that comes and goes later", async () => {
  const { world, step, withdrawal } = openWithdrawal();
  await step();
  world.nowMs = 60_000;
  assert.equal((await step()).state, "done");
  assert.equal((await step()).state, "done");
  world.nowMs = 60_000 + 600_001;
  assert.equal((await step()).state, "waiting");
  withdrawal.forget(eu);
  world.nowMs += 60_000;
  assert.equal((await step()).state, "waiting", "one that was delegated meanwhile begins anew");
});
