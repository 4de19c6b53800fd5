import assert from "node:assert/strict";
import { test } from "node:test";
import type { Informer } from "@meridian/controller";
import type { ConfigMap } from "@meridian/kube";
import { ApiWorld, everything } from "./api-world.ts";

/** Stories that each user of a copy meets one day, told by our API server to our informer. */
interface Story {
  readonly name: string;
  readonly tell: (world: ApiWorld, copy: Informer<ConfigMap>) => Promise<void>;
  /** How often the whole collection was taken again. */
  readonly resyncs: number;
  /** How often the history was gone. */
  readonly expired: number;
}

const stories: readonly Story[] = [
  {
    name: "a watch that the network cuts is resumed without a new list",
    async tell(world) {
      world.box.cutWatches("broken");
      world.write("b");
      await world.pass(5_000);
      world.box.cutWatches("clean");
      world.remove("a");
      await world.pass(5_000);
    },
    resyncs: 0,
    expired: 0,
  },
  {
    name: "JSON that ends in the middle is not believed, and nothing is lost",
    async tell(world) {
      await world.pass(2_000);
      world.write("b");
      world.box.cutWatches("inside");
      world.write("c");
      await world.pass(40_000);
    },
    resyncs: 0,
    expired: 0,
  },
  {
    name: "history that is compacted while the client is cut off ends in 410 and one new list",
    async tell(world) {
      world.simulation.partition("client", "server");
      for (let at = 0; at < 5; at++) world.write("a");
      world.remove("a");
      world.write("b");
      await world.pass(100);
      world.tick();
      await world.pass(100);
      world.compact();
      await world.pass(120_000);
      world.simulation.heal();
      await world.pass(120_000);
    },
    resyncs: 1,
    expired: 1,
  },
  {
    name: "events that come twice change nothing",
    async tell(world) {
      world.write("a");
      world.write("b");
      await world.pass(100);
      for (const back of [0, 0, 1, 1]) world.box.repeat(back);
      await world.pass(1_000);
    },
    resyncs: 0,
    expired: 0,
  },
  {
    name: "events that come late come in order",
    async tell(world) {
      world.box.hold(10_000);
      for (const name of ["b", "c", "b", "d"]) world.write(name);
      world.remove("c");
      await world.pass(5_000);
      world.write("e");
      await world.pass(10_000);
    },
    resyncs: 0,
    expired: 0,
  },
  {
    name: "an API server that is killed and started again from its disk goes on where it was",
    async tell(world) {
      world.write("b");
      await world.pass(1_000);
      world.crashServer("power");
      await world.pass(3_000);
      await world.startServer();
      world.write("c");
      await world.pass(60_000);
    },
    resyncs: 0,
    expired: 0,
  },
  {
    name: "an API server that compacts after its restart makes the copy list again",
    async tell(world) {
      world.simulation.partition("client", "server");
      world.crashServer("process");
      await world.startServer();
      world.write("b");
      await world.pass(100);
      world.tick();
      await world.pass(100);
      world.compact();
      await world.pass(1_000);
      world.simulation.heal();
      await world.pass(120_000);
    },
    resyncs: 1,
    expired: 1,
  },
];

for (const story of stories) {
  test(story.name, async () => {
    const world = await ApiWorld.start({ seed: 1 });
    world.write("a");
    const copy = world.follow({});
    await world.simulation.run({ until: () => copy.connected });
    // Past the first second, in which a watch that ends counts as one that never worked.
    await world.pass(2_000);
    await story.tell(world, copy);
    await world.settle(new Map([[copy, everything]]));
    assert.deepEqual(
      { resyncs: copy.resyncs, expired: copy.status.expired },
      { resyncs: story.resyncs, expired: story.expired },
    );
    await world.stop();
  });
}

/** A checker that never fails proves nothing: what no honest network does must be noticed. */
const planted: readonly { readonly fault: string; readonly plant: (world: ApiWorld) => void }[] = [
  {
    fault: "an event that is lost between two others",
    plant(world) {
      world.box.befallEvent({ do: "drop" });
      world.write("b");
      world.write("c");
    },
  },
  {
    fault: "an event of a write that never was",
    plant(world) {
      const version = Math.max(...world.truth.changes.map((change) => change.version)) + 1;
      const metadata = { name: "ghost", namespace: "default", uid: "u", resourceVersion: String(version) };
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: {} };
      world.box.forge(`${JSON.stringify({ type: "ADDED", object })}\n`);
    },
  },
];

for (const { fault, plant } of planted) {
  test(`the checker of the copies notices ${fault}`, async () => {
    const world = await ApiWorld.start({ seed: 1 });
    world.write("a");
    const copy = world.follow({});
    await world.simulation.run({ until: () => copy.connected });
    await assert.rejects(async () => {
      plant(world);
      await world.pass(1_000);
    }, /the copy is not the truth at/);
  });
}
