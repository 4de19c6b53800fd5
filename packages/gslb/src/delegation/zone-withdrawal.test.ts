import assert from "node:assert/strict";
import { test } from "node:test";
import { delegated } from "../testdata/parent-world.ts";
import type { ParentDelegation } from "./parent-delegation.ts";
import { ZoneWithdrawal, type WithdrawalStep } from "./zone-withdrawal.ts";

const signal = new AbortController().signal;
const eu = delegated("eu", {});

/** A withdrawal whose provider is done at once; the parent delegates to whom `nameServers` names, or nobody can say where it is absent. */
function openWithdrawal() {
  const world: { nowMs: number; nameServers: readonly string[] | undefined } = { nowMs: 0, nameServers: [] };
  const withdrawal = new ZoneWithdrawal(
    { monotonicMs: () => world.nowMs },
    {
      provider: { name: "fake", ensure: async () => {}, withdraw: async () => "withdrawn" },
      fleet: {
        async delegation(): Promise<ParentDelegation> {
          const { nameServers } = world;
          return nameServers === undefined
            ? { state: "failed", verdict: "no reply in time" }
            : { state: "known", nameServers, ttlSeconds: 60, glue: new Map() };
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

test("a parent that cannot be asked may still delegate: it is asked again for two minutes after it was last heard", async () => {
  const { world, step } = openWithdrawal();
  world.nameServers = undefined;
  const blind = /nobody can tell whether .* still delegates .*: no reply in time/;
  assert.match(textOf(await step()), blind);
  world.nowMs = 60_000;
  world.nameServers = [eu.ownNameServer];
  assert.match(textOf(await step()), /still delegates/);
  world.nowMs = 179_999;
  world.nameServers = undefined;
  assert.match(textOf(await step()), blind);
  world.nowMs = 180_000;
  assert.match(textOf(await step()), /until resolvers have forgotten/);
  world.nowMs += 60_000;
  assert.deepEqual(await step(), { state: "done" });
});

test("a parent that is seen to delegate now and then is waited for ten minutes in all", async () => {
  const { world, step } = openWithdrawal();
  for (; world.nowMs < 600_000; world.nowMs += 100_000) {
    world.nameServers = world.nowMs % 200_000 === 0 ? [eu.ownNameServer] : undefined;
    assert.match(textOf(await step()), /still delegates/);
  }
  assert.match(textOf(await step()), /until resolvers have forgotten/);
});
