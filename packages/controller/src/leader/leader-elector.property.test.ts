import assert from "node:assert/strict";
import { test } from "node:test";
import type { Runtime } from "@meridian/runtime";
import type { SimNode } from "@meridian/runtime/sim";
import fc from "fast-check";
import { ElectionWorld } from "../testdata/election-world.ts";
import type { Runner } from "../testdata/election-world.ts";

const runs = Number(process.env["MERIDIAN_RUNS"] ?? 60);
const seed = Number(process.env["MERIDIAN_SEED"] ?? 20_261_130);

const machines = ["a", "b", "c"] as const;
type Machine = (typeof machines)[number];

/** One act of a random program against candidates, their machines, the network and the server. */
type Act =
  | { readonly do: "pass"; readonly ms: number }
  | {
      readonly do:
        "stop" | "start" | "crash" | "pause" | "suspend" | "resume" | "cut" | "cut answers" | "heal";
      readonly machine: Machine;
    }
  | { readonly do: "jump"; readonly machine: Machine; readonly ms: number }
  | { readonly do: "slow"; readonly machine: Machine; readonly ms: number }
  | { readonly do: "server fails" | "server works" | "touch" };

const machine = fc.constantFrom(...machines);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("pass" as const),
      ms: fc.constantFrom(7, 300, 1_900, 4_000, 9_000, 14_000, 31_000),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "stop" as const,
        "start" as const,
        "crash" as const,
        "pause" as const,
        "suspend" as const,
        "resume" as const,
        "resume" as const,
        "cut" as const,
        "cut answers" as const,
        "heal" as const,
      ),
      machine,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("jump" as const),
      machine,
      ms: fc.constantFrom(-3_600_000, -8_000, 8_000, 3_600_000),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("slow" as const),
      machine,
      ms: fc.constantFrom(5, 1_500, 3_000, 4_500),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("server fails" as const, "server works" as const, "touch" as const),
    }),
  },
);

interface Scenario {
  readonly seed: number;
  /** How fast the clocks go. */
  readonly rates: readonly number[];
  /** Whether leaders ask the clocks before each act, or believe their signal alone. */
  readonly trusting: boolean;
}

/** A machine and the process on it. */
class Place {
  readonly node: SimNode;
  readonly #world: ElectionWorld;
  readonly #trusting: boolean;
  runner: Runner | undefined;
  /** The world's time when it last ran again after a pause. */
  resumedAtMs = -Infinity;
  suspended = false;

  constructor(world: ElectionWorld, node: SimNode, trusting: boolean) {
    this.#world = world;
    this.node = node;
    this.#trusting = trusting;
  }

  start(): void {
    if (this.runner?.outcome() === "runs") return;
    if (!this.node.running) this.node.restart();
    this.runner = this.#world.run(this.node);
  }

  crash(): void {
    this.runner = undefined;
    this.node.crash("process");
  }

  pause(kind: "process" | "machine"): void {
    if (this.node.paused || !this.node.running) return;
    this.suspended = kind === "machine";
    this.node.pause(kind);
  }

  resume(): void {
    if (!this.node.paused) return;
    this.node.resume();
    this.resumedAtMs = this.#world.simulation.nowMs;
  }

  /** Whether its code, if it ran at this moment, would do what only a leader may. */
  acts(rate: number): boolean {
    const term = this.runner?.terms.at(-1);
    if (term === undefined || !this.node.running || this.node.paused) return false;
    if (!this.#trusting) return term.leading;
    // What has just been woken is told by its timers, which come before anything else that is due; a suspended machine's
    // within its next second.
    const graceMs = this.suspended ? 1_001 / rate : 0;
    if (this.#world.simulation.nowMs - this.resumedAtMs <= graceMs) return term.leading;
    return !term.signal.aborted;
  }
}

async function play(acts: readonly Act[], scenario: Scenario): Promise<{ readonly terms: number }> {
  const world = await ElectionWorld.start(scenario.seed);
  const { simulation } = world;
  const places = new Map<Machine, Place>(
    machines.map((name, index) => {
      const node = world.machine(name, `10.0.0.${index + 2}`, scenario.rates[index] ?? 1);
      return [name, new Place(world, node, scenario.trusting)];
    }),
  );
  const at = (name: Machine): Place => places.get(name) as Place;
  let terms = 0;
  simulation.onStep(() => {
    const leaders = machines.filter((name, index) => at(name).acts(scenario.rates[index] ?? 1));
    assert.ok(
      leaders.length <= 1,
      `${leaders.join(" and ")} lead at once at ${simulation.nowMs.toFixed(0)} ms`,
    );
  });
  const broken: Parameters<typeof perform>[1]["broken"] = async () => ({
    status: 503,
    headers: {},
    body: new Uint8Array(),
  });

  for (const place of places.values()) place.start();
  for (const step of acts) {
    await perform(step, { world, at, broken });
    await world.pass(0);
  }

  world.instead = undefined;
  simulation.heal();
  for (const name of machines) {
    simulation.setLink(name, "server", { delayMs: { min: 1, max: 10 } });
    at(name).resume();
    at(name).node.skewMs = 0;
  }
  // Connections that the cuts have left half open, the longest wait of a candidate, and the end of a dead leader's lease.
  await world.pass(180_000);
  for (const place of places.values()) place.start();
  await world.pass(60_000);
  const leading = machines.filter((name) => at(name).runner?.elector.status.leading === true);
  assert.equal(leading.length, 1, "in the end one leads");
  assert.equal(world.holder, at(leading[0] as Machine).runner?.elector.identity);
  terms = world.lease?.spec?.leaseTransitions ?? 0;

  for (const { runner } of places.values()) {
    runner?.stop();
    if (runner !== undefined) await simulation.complete(runner.ended);
  }
  assert.equal(world.holder, "", "whoever stops in order leaves the lease to the next");
  return { terms };
}

async function perform(
  step: Act,
  {
    world,
    at,
    broken,
  }: {
    readonly world: ElectionWorld;
    readonly at: (name: Machine) => Place;
    readonly broken: NonNullable<Parameters<Runtime["network"]["serveHttp"]>[0]["handler"]>;
  },
): Promise<void> {
  const { simulation, truth } = world;
  switch (step.do) {
    case "pass":
      return world.pass(step.ms);
    case "start":
      return at(step.machine).start();
    case "stop":
      return at(step.machine).runner?.stop();
    case "crash":
      return at(step.machine).crash();
    case "pause":
      return at(step.machine).pause("process");
    case "suspend":
      return at(step.machine).pause("machine");
    case "resume":
      return at(step.machine).resume();
    case "cut":
      return simulation.partition(step.machine, "server");
    case "cut answers":
      return simulation.partition("server", step.machine, "one");
    case "heal":
      return simulation.heal(step.machine, "server");
    case "jump":
      at(step.machine).node.skewMs += step.ms;
      return;
    case "slow":
      return simulation.setLink(step.machine, "server", { delayMs: { min: step.ms / 2, max: step.ms } });
    case "server fails":
      world.instead = broken;
      return;
    case "server works":
      world.instead = undefined;
      return;
    case "touch": {
      const { lease } = world;
      const labels = { touched: String(truth.version) };
      if (lease !== undefined) truth.put({ ...lease, metadata: { ...lease.metadata, labels } });
    }
  }
}

const program = fc.array(act, { minLength: 15, maxLength: 60, size: "max" });
// The renew deadline is two thirds of the lease: clocks may differ by almost as much.
const rates = fc.array(fc.constantFrom(0.85, 1, 1.2), { minLength: 3, maxLength: 3 });

test(`whatever happens to processes, clocks and network, no two lead at once, and in the end one does (${runs} programs, seed ${seed})`, async () => {
  let terms = 0;
  await fc.assert(
    fc.asyncProperty(
      program,
      fc.record({ seed: fc.nat(1_000_000), rates, trusting: fc.boolean() }),
      async (acts, scenario) => {
        terms += (await play(acts, scenario)).terms;
      },
    ),
    { numRuns: runs, seed },
  );
  assert.ok(terms >= runs, `the lease changed hands only ${terms} times`);
});

test("the check for two leaders notices clocks that differ by more than an election can bear", async () => {
  // The leader's clock is so slow that its ten seconds are longer than the fifteen of the others.
  const scenario = { seed: 1, rates: [0.5, 1.2, 1.2], trusting: false };
  const acts: readonly Act[] = [
    { do: "stop", machine: "b" },
    { do: "stop", machine: "c" },
    { do: "pass", ms: 14_000 },
    { do: "start", machine: "b" },
    { do: "pass", ms: 4_000 },
    { do: "cut", machine: "a" },
    { do: "pass", ms: 31_000 },
  ];
  await assert.rejects(play(acts, scenario), /a and b lead at once/);
});
