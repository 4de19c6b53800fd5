import assert from "node:assert/strict";
import { test } from "node:test";
import type { ZoneDelegation, ZoneDelegationSpec } from "../resources/zone-delegation.ts";
import { answersFrom, type ZoneAnswers } from "../testdata/zone-answers.ts";
import { conditionOf, finalized, peersKnown, withPeers, zoneDelegation } from "../testdata/zone-samples.ts";
import { FakeProvider, openZoneWorld, type ZoneWorld } from "../testdata/zone-world.ts";

/** Has `a.x` delegated for an object, which is then changed; a second operator starts with what the first one left. */
async function restartedWith(
  { provider, answers }: { readonly provider: FakeProvider; readonly answers: ZoneAnswers },
  changed: Partial<ZoneDelegationSpec>,
  others: readonly ZoneDelegation[] = [],
): Promise<ZoneWorld> {
  const first = openZoneWorld({
    zones: [finalized(zoneDelegation("z", "a.x"))],
    settings: withPeers,
    answer: answersFrom(answers),
    provider,
  });
  await first.settle();
  const zone = first.objects.get("z")!;
  const second = openZoneWorld({
    zones: [...others, { ...zone, spec: { ...zone.spec!, ...changed } }],
    settings: withPeers,
    answer: answersFrom(answers),
    provider,
  });
  await second.settle();
  return second;
}

for (const { what, changed } of [
  { what: "zone", changed: { loadBalancedZone: "b_.-.x" } },
  { what: "parent", changed: { parentZone: "b_" } },
])
  test(`an object whose ${what} was made invalid is served after a restart, and withdrawn when it goes`, async () => {
    const provider = new FakeProvider();
    const answers: ZoneAnswers = new Map(peersKnown);
    const { objects, answered, members, settle, remove } = await restartedWith(
      { provider, answers },
      changed,
    );
    assert.match(conditionOf(objects.get("z"), "Accepted"), /^False InvalidZone/);
    assert.deepEqual([...answered.keys()], ["a.x"]);
    assert.deepEqual(members.of("a.x"), ["us", "za"]);
    await settle(600_000);
    assert.deepEqual([...answered.keys()], ["a.x"], "it is delegated here");

    for (const tag of ["us", "za"]) answers.delete(`gslb-ns-${tag}-a.x A`);
    remove("z");
    await settle(10_000);
    assert.match(conditionOf(objects.get("z"), "Programmed"), /^False Withdrawing: x still delegates a.x/);
    assert.ok(provider.calls.includes("withdraw x a.x last"));
    answers.set("a.x NS", []);
    await settle(20_000);
    assert.ok(answered.has("a.x"), "until resolvers have forgotten it");
    await settle(20_000);
    assert.equal(objects.has("z"), false);
    assert.equal(answered.size, 0);
    assert.deepEqual([...new Set(provider.calls)], ["ensure x a.x", "withdraw x a.x last"]);
  });

test("an object that is made right after a restart leaves what it had before", async () => {
  const provider = new FakeProvider();
  const answers: ZoneAnswers = new Map(peersKnown);
  const { answered, settle, change } = await restartedWith(
    { provider, answers },
    { loadBalancedZone: "-.x" },
  );
  answers.set("a.x NS", []);
  change("z", (zone) => ({ ...zone, spec: { ...zone.spec!, loadBalancedZone: "b.x" } }));
  await settle();
  assert.deepEqual([...answered.keys()].sort(), ["a.x", "b.x"]);
  await settle(60_000);
  assert.deepEqual([...answered.keys()], ["b.x"]);
  assert.deepEqual([...provider.delegated.keys()], ["x b.x"]);
});

test("an object that was made a second one of another's zone withdraws its own and nothing of the other", async () => {
  const provider = new FakeProvider();
  const answers: ZoneAnswers = new Map(peersKnown);
  const world = await restartedWith({ provider, answers }, { loadBalancedZone: "b.x" }, [
    zoneDelegation("b", "b.x"),
  ]);
  const { objects, answered, settle, remove } = world;
  answers.set("a.x NS", []);
  remove("z");
  await settle(600_000);
  assert.equal(objects.has("z"), false);
  assert.deepEqual([...answered.keys()], ["b.x"]);
  assert.deepEqual([...provider.delegated.keys()], ["x b.x"]);
  assert.ok(!provider.calls.some((call) => call.startsWith("withdraw x b.x")));
});

test("what an annotation names that is no zone is neither served nor keeps its object", async () => {
  const provider = new FakeProvider();
  const zone = finalized(zoneDelegation("z", "-.x"));
  const annotations = { "meridian/delegated": "x:-b.x" };
  const { objects, answered, settle, remove } = openZoneWorld({
    zones: [{ ...zone, metadata: { ...zone.metadata, annotations } }],
    provider,
  });
  await settle();
  assert.equal(answered.size, 0);
  remove("z");
  await settle(600_000);
  assert.equal(objects.has("z"), false);
  assert.deepEqual(provider.calls, []);
});
