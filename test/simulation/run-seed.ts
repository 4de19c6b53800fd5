import type { SimLogLine } from "@meridian/runtime/sim";
import { peersOf, tags } from "./fleet/fleet-map.ts";
import { Fleet } from "./fleet/fleet.ts";
import type { FleetSettings } from "./fleet/fleet-settings.ts";
import type { Plant } from "./fleet/plant.ts";
import { AlikePicks } from "./invariants/alike-picks.ts";
import { AnsweredHosts } from "./invariants/answered-hosts.ts";
import { BelievedTargets } from "./invariants/believed-targets.ts";
import { ClosedDoors } from "./invariants/closed-doors.ts";
import { FreshViews } from "./invariants/fresh-views.ts";
import type { Invariant } from "./invariants/invariant.ts";
import { KeptWrites } from "./invariants/kept-writes.ts";
import { ReportedFaults } from "./invariants/reported-faults.ts";
import { TrueCopies } from "./invariants/true-copies.ts";
import { mayBeCut } from "./k8gb/k8gb-exceptions.ts";
import { World } from "./observation/world.ts";
import { thresholdSecondsMax } from "./scenario/draw-applications.ts";
import { drawScenario, type Step } from "./scenario/scenario.ts";

export interface RunSeedOptions {
  readonly plant?: Plant;
  /** Of the fleet, in place of those that the seed draws. */
  readonly settings?: Partial<FleetSettings>;
  /** Only violations of this invariant end the run; others are not looked at. */
  readonly only?: number;
  readonly onLog?: (line: SimLogLine) => void;
  readonly onStep?: (atMs: number, text: string) => void;
}

/** Something that must not be, as a checker saw it. */
export interface Violation {
  readonly invariant: number;
  readonly seen: string;
  readonly atMs: number;
}

export interface RunResult {
  readonly seed: number;
  readonly violation: Violation | undefined;
  /** Equal for equal seeds. */
  readonly traceHash: string;
  readonly virtualMs: number;
  readonly steps: number;
  /** How often each invariant was judged, by its number. */
  readonly judged: ReadonlyMap<number, number>;
}

/** How often the checkers are asked while nothing changes, since bounds end by the clock. */
const checkEveryMs = 200;

/** Runs one whole scenario under a seed, and checks every invariant after each step of it. */
export async function runSeed(seed: number, options: RunSeedOptions = {}): Promise<RunResult> {
  const run = new SeedRun(seed, options);
  const violation = await run.run();
  const { simulation } = run.fleet;
  return {
    seed,
    violation,
    traceHash: simulation.traceHash,
    virtualMs: simulation.nowMs,
    steps: simulation.steps,
    judged: new Map(run.invariants.map((invariant) => [invariant.number, invariant.judged])),
  };
}

class SeedRun {
  readonly fleet: Fleet;
  invariants: readonly Invariant[] = [];
  readonly #options: RunSeedOptions;
  #violation: Violation | undefined;
  #checkedAtMs = 0;

  constructor(seed: number, options: RunSeedOptions) {
    this.#options = options;
    this.fleet = new Fleet({
      seed,
      plant: options.plant ?? {},
      ...(options.settings === undefined ? {} : { settings: options.settings }),
      onWrong: (invariant, seen) => this.#report(invariant, seen),
      ...(options.onLog === undefined ? {} : { onLog: options.onLog }),
    });
  }

  async run(): Promise<Violation | undefined> {
    try {
      await this.#runScenario();
    } catch (error) {
      if (this.#violation === undefined) throw error;
    }
    return this.#violation;
  }

  async #runScenario(): Promise<void> {
    const { simulation, settings } = this.fleet;
    await simulation.complete(this.fleet.start());

    const scenario = drawScenario(simulation.random("timeline"), settings);
    const world = new World(this.fleet, scenario.applications);
    for (const step of scenario.initial) this.#take(step);
    this.invariants = this.#checkersOf(world);
    simulation.onStep(() => this.#observe(world));
    const startMs = simulation.nowMs;
    for (const step of scenario.steps) simulation.schedule(startMs + step.atMs, () => this.#take(step));

    const repairMs = startMs + scenario.repairMs;
    await simulation.run({ untilMs: repairMs });
    this.#options.onStep?.(simulation.nowMs, "repair everything");
    this.fleet.repair();
    await simulation.run({ untilMs: repairMs + quietMs(world) });

    this.#checkRecovered(world);
    for (const invariant of this.invariants) invariant.finish?.();
    this.#stopAtViolation();
  }

  #take(step: Step): void {
    this.#options.onStep?.(this.fleet.simulation.nowMs, step.text);
    step.act(this.fleet);
  }

  #checkersOf(world: World): readonly Invariant[] {
    const report = (invariant: number) => (seen: string) => this.#report(invariant, seen);
    return [
      new BelievedTargets(world, report(1)),
      new AnsweredHosts(world, report(2)),
      new AlikePicks(world, report(3)),
      new FreshViews(world, report(4)),
      new TrueCopies(world, report(5)),
      new KeptWrites(world, report(6)),
      new ReportedFaults(world, report(7)),
      new ClosedDoors(world, report(8)),
    ];
  }

  #observe(world: World): void {
    const { nowMs } = this.fleet.simulation;
    const isChanged = world.update();
    if (isChanged || nowMs >= this.#checkedAtMs + checkEveryMs) {
      this.#checkedAtMs = nowMs;
      for (const invariant of this.invariants) invariant.check();
    }
    this.#stopAtViolation();
  }

  /** Without this a fleet that never comes back would satisfy every checker. */
  #checkRecovered(world: World): void {
    for (const tag of tags) {
      if (!this.fleet.member(tag).user.idle) this.#report(4, `${tag} still refuses what its users write`);
      for (const facts of world.facts(tag).applications) {
        const isWanted = facts.strategy.value !== null;
        const isExcused =
          this.fleet.member(tag).kind === "k8gb" &&
          peersOf(tag).some((peer) => mayBeCut(world.sameIn(peer, facts).published.value));
        if (isWanted && !isExcused && world.expectation(tag, facts)?.isWhole !== true)
          this.#report(
            4,
            `${tag} has not come back to a state in which ${facts.application.host} can be judged`,
          );
      }
    }
  }

  #report(invariant: number, seen: string): void {
    const { only } = this.#options;
    if (this.#violation !== undefined || (only !== undefined && only !== invariant)) return;
    this.#violation = { invariant, seen, atMs: this.fleet.simulation.nowMs };
  }

  #stopAtViolation(): void {
    if (this.#violation !== undefined) throw new Error(this.#violation.seen);
  }
}

/** Long enough for every threshold, every back-off and every keepalive to end. */
function quietMs({ fleet: { settings }, seenMsMax }: World): number {
  const forOurs = 1000 * thresholdSecondsMax + 3 * settings.periodMs + 75_000;
  return Math.max(forOurs, settings.zonePeriodMs + 2 * seenMsMax + 10_000);
}
