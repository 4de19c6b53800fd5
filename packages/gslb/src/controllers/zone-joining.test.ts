import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceRecord, Verdict } from "@meridian/dns";
import { finalized, serversOf, zoneDelegation } from "../testdata/zone-samples.ts";
import {
  FakeProvider,
  openZoneWorld,
  type ZoneWorld,
  type ZoneWorldOptions,
} from "../testdata/zone-world.ts";

const pair = { loadBalancedZone: "a.x", parentZone: "x" };
const dynamic = { MERIDIAN_GEO_TAGS: "dynamic" };
const edgeAddress = "192.0.2.53";
const wildcardAddress = "203.0.113.66";

/** What stands behind the parent's wildcard. */
interface Behind {
  readonly isAuthoritative: boolean;
  /** Its NS set of the zone. */
  readonly nameServers: readonly string[];
}

/** Answers of a parent that delegates to `delegated` and has a wildcard, so that every name has an address. */
function wildcardParent(
  delegated: readonly string[],
  behind: () => Behind | undefined,
): NonNullable<ZoneWorldOptions["answer"]> {
  return ({ name, type, servers }): Verdict => {
    const server = servers[0]!;
    const answered = (data: readonly string[], authoritative = true): Verdict => ({
      ...{ state: "answered", outcome: data.length > 0 ? "data" : "nodata", authoritative, server },
      records: data.map((each): ResourceRecord => ({ name, type, ttl: 30, data: each })),
      ...{ authority: [], additional: [] },
    });
    if (server.address === edgeAddress) {
      if (name === "x") return answered(["ns.x."]);
      if (name === "a.x") return answered(delegated);
      return answered(type === "A" ? [name === "ns.x" ? edgeAddress : wildcardAddress] : []);
    }
    const said = behind();
    return said === undefined
      ? { state: "unreachable", reason: "no reply in time" }
      : answered(said.nameServers, said.isAuthoritative);
  };
}

/** As NOTIFYs of these clusters do. */
function notify({ members, controller }: ZoneWorld, tags: readonly string[]): void {
  members.hear(
    pair,
    tags.map((tag) => `gslb-ns-${tag}-a.x`),
  );
  controller.enqueueAll();
}

const made = ["x1", "x2", "x3"];
const fooling: readonly { readonly what: string; readonly behind: Behind | undefined }[] = [
  { what: "to nobody", behind: undefined },
  {
    what: "to a cluster, which answers but has another name",
    behind: { isAuthoritative: true, nameServers: ["gslb-ns-eu-a.x.", "gslb-ns-us-a.x."] },
  },
  {
    what: "to a resolver, which repeats what it was told",
    behind: { isAuthoritative: false, nameServers: made.map((tag) => `gslb-ns-${tag}-a.x.`) },
  },
];
for (const { what, behind } of fooling)
  test(`clusters that a NOTIFY makes up are none where the parent has a wildcard that leads ${what}`, async () => {
    const provider = new FakeProvider();
    const world = openZoneWorld({
      zones: [finalized(zoneDelegation("a-x", "a.x"))],
      settings: dynamic,
      answer: wildcardParent([], () => behind),
      provider,
    });
    await world.settle();
    notify(world, made);
    await world.settle(10_000);
    assert.deepEqual(world.members.candidates("a.x"), made);
    await world.settle(3_600_000);
    assert.deepEqual(world.members.candidates("a.x"), [], "they are not looked for for ever");
    assert.deepEqual(serversOf(world.objects.get("a-x")), ["gslb-ns-eu-a.x 192.0.2.1"]);
    assert.deepEqual(world.answered.get("a.x"), ["gslb-ns-eu-a.x"]);
    world.remove("a-x");
    await world.settle(60_000);
    assert.equal(world.objects.has("a-x"), false);
    assert.ok(provider.calls.includes("withdraw x a.x last"), "nobody else is there");
  });

test("clusters that a NOTIFY made up keep no delegation of a former name", async () => {
  const provider = new FakeProvider();
  const world = openZoneWorld({
    zones: [finalized(zoneDelegation("z", "a.x"))],
    settings: dynamic,
    answer: wildcardParent([], () => undefined),
    provider,
  });
  await world.settle();
  notify(world, made);
  await world.settle();
  world.change("z", (zone) => ({ ...zone, spec: { ...zone.spec!, loadBalancedZone: "b.x" } }));
  await world.settle(60_000);
  assert.ok(provider.calls.includes("withdraw x a.x last"));
});

test("a cluster that joins is taken in at its NOTIFY, before the parent names it, and found again by the next one if it was slow", async () => {
  let behind: Behind | undefined;
  const world = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    settings: dynamic,
    answer: wildcardParent([], () => behind),
  });
  await world.settle();
  notify(world, ["us"]);
  await world.settle(1000);
  assert.deepEqual(world.members.of("a.x"), []);
  behind = { isAuthoritative: true, nameServers: ["gslb-ns-us-a.x."] };
  notify(world, ["us"]);
  await world.settle(1000);
  assert.deepEqual(world.members.of("a.x"), ["us"]);
  assert.deepEqual(world.answered.get("a.x"), ["gslb-ns-eu-a.x", "gslb-ns-us-a.x"]);
  behind = undefined;
  await world.settle(600_000);
  assert.deepEqual(world.members.of("a.x"), ["us"], "a member stays while it is silent");
});

test("a cluster that the parent names is taken in while its server is silent", async () => {
  const world = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    settings: dynamic,
    answer: wildcardParent(["gslb-ns-us-a.x."], () => undefined),
  });
  await world.settle();
  assert.deepEqual(world.members.of("a.x"), ["us"]);
});

test("a server that answers to any name makes up 32 clusters at most, and keeps out none that the parent names", async () => {
  const tags = Array.from({ length: 40 }, (_, index) => `x${index}`);
  const named: string[] = [];
  const world = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    settings: dynamic,
    answer: wildcardParent(named, () => ({
      ...{ isAuthoritative: true, nameServers: tags.map((tag) => `gslb-ns-${tag}-a.x.`) },
    })),
  });
  await world.settle();
  for (let first = 0; first < tags.length; first += 10) {
    notify(world, tags.slice(first, first + 10));
    await world.settle(1000);
  }
  await world.settle(60_000);
  assert.equal(world.members.of("a.x").length, 32);
  named.push("gslb-ns-us-a.x.");
  await world.settle(600_000);
  assert.equal(world.members.of("a.x").length, 33);
  assert.ok(world.members.of("a.x").includes("us"));
});
