import assert from "node:assert/strict";
import { test } from "node:test";
import { isConflict, type ConfigMap } from "@meridian/kube";
import { ApiWorld, configMaps } from "./api-world.ts";

const seeds = Number(process.env["MERIDIAN_SEEDS"] ?? 6);
const firstSeed = Number(process.env["MERIDIAN_SEED"] ?? 1);

interface Count {
  /** Increments that were answered with success. */
  acknowledged: number;
  /** Increments of which nobody knows whether they happened. */
  unknown: number;
}

/** Reads, adds one, and writes back the state it saw, again and again. */
async function increment(
  { client, sleep }: { readonly client: ApiWorld["client"]; readonly sleep: () => Promise<void> },
  stopped: () => boolean,
  count: Count,
): Promise<void> {
  while (!stopped()) {
    await sleep();
    try {
      const seen = await client.get<ConfigMap>(configMaps, { namespace: "default", name: "counter" });
      const data = { value: String(Number(seen.data?.["value"]) + 1) };
      count.unknown++;
      await client.update<ConfigMap>(configMaps, { ...seen, data });
      count.unknown--;
      count.acknowledged++;
    } catch (error) {
      if (isConflict(error)) count.unknown--;
    }
  }
}

test(`four writers, a server that is killed and a network that breaks lose no update (${seeds} seeds)`, async () => {
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const world = await ApiWorld.start({ seed });
    const random = world.simulation.random("faults");
    const { client, simulation } = world;
    await simulation.complete(
      client.create<ConfigMap>(configMaps, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "counter", namespace: "default" },
        data: { value: "0" },
      }),
    );
    const count: Count = { acknowledged: 0, unknown: 0 };
    let stopped = false;
    const writer = { client, sleep: () => world.sleep(random.uint32() % 150) };
    const writers = Promise.all(Array.from({ length: 4 }, () => increment(writer, () => stopped, count)));
    for (let fault = 0; fault < 4; fault++) {
      await world.pass(random.uint32() % 4_000);
      if (random.uint32() % 2 === 0) simulation.partition("client", "server");
      else world.crashServer(random.uint32() % 2 === 0 ? "power" : "process");
      await world.pass(random.uint32() % 5_000);
      simulation.heal();
      await world.startServer();
    }
    await world.pass(15_000);
    stopped = true;
    await simulation.complete(writers);
    const { data } = await simulation.complete(
      client.get<ConfigMap>(configMaps, { namespace: "default", name: "counter" }),
    );
    const value = Number(data?.["value"]);
    const { acknowledged, unknown } = count;
    assert.ok(
      value >= acknowledged && value <= acknowledged + unknown,
      `seed ${seed}: the counter is ${value} after ${acknowledged} acknowledged and ${unknown} unknown increments`,
    );
    assert.ok(acknowledged > 20, `seed ${seed}: only ${acknowledged} increments got through`);
    await world.stop();
  }
});
