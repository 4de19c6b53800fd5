import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap } from "@meridian/kube";
import fc from "fast-check";
import { fleet } from "../testdata/fleet.ts";
import type { Fleet } from "../testdata/fleet.ts";
import { refusals } from "../testdata/truth-server.ts";

/** One act of a random program. */
type Act =
  | { readonly do: "put" | "remove"; readonly name: string }
  | {
      readonly do:
        | "tick"
        | "compact"
        | "bookmark"
        | "end"
        | "cut inside"
        | "garbage"
        | "partition"
        | "heal"
        | "late handler";
    }
  | { readonly do: "refuse" | "fail watches"; readonly how: "busy" | "broken" | "gone" }
  | { readonly do: "repeat"; readonly back: number }
  | { readonly do: "pass"; readonly ms: number };

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant("repeat" as const), back: fc.nat(5) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom("put" as const, "remove" as const),
      name: fc.constantFrom("a", "b", "c", "d", "e"),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(1, 5, 50, 1500, 40_000) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "tick",
        "compact",
        "bookmark",
        "end",
        "cut inside",
        "garbage",
        "partition",
        "heal",
        "late handler",
      ),
    }) as fc.Arbitrary<Act>,
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("refuse" as const, "fail watches" as const),
      how: fc.constantFrom("busy" as const, "broken" as const, "gone" as const),
    }),
  },
);

/** What a handler believes that there is, from what it was told alone. */
class Mirror {
  readonly objects = new Map<string, string>();

  add(informer: Fleet["informer"]): void {
    const nameOf = ({ metadata }: ConfigMap): string => metadata.name ?? "";
    const stateOf = ({ metadata }: ConfigMap): string => `${metadata.uid}@${metadata.resourceVersion}`;
    informer.addHandler({
      onAdd: (object) => {
        assert.ok(!this.objects.has(nameOf(object)), "added twice");
        this.objects.set(nameOf(object), stateOf(object));
      },
      onUpdate: (old, object) => {
        assert.equal(this.objects.get(nameOf(object)), stateOf(old), "the old state is the one told before");
        assert.equal(old.metadata.uid, object.metadata.uid);
        this.objects.set(nameOf(object), stateOf(object));
      },
      onDelete: (object) => {
        assert.ok(this.objects.delete(nameOf(object)), "deleted what was never added");
      },
    });
  }

  text(): string {
    return [...this.objects]
      .map(([name, state]) => `${name} ${state}`)
      .sort()
      .join();
  }
}

async function play(
  acts: readonly Act[],
  options: { readonly seed: number; readonly watchList: boolean; readonly pageSize: number },
): Promise<void> {
  const world = await fleet(options);
  const { simulation, truth, informer, start, pass } = world;
  for (const name of ["a", "b", "c"]) truth.put(name, { v: "0" });
  const mirrors = [new Mirror()];
  mirrors[0]?.add(informer);
  simulation.onStep(() => {
    if (informer.hasSynced)
      assert.ok(world.isFaithful(), `the copy at ${informer.version} is not the truth at that version`);
  });
  start();

  let value = 0;
  for (const step of acts) {
    switch (step.do) {
      case "put":
        truth.put(step.name, { v: String(++value) });
        break;
      case "remove":
        truth.remove(step.name);
        break;
      case "pass":
        await pass(step.ms);
        break;
      case "tick":
        truth.tick();
        break;
      case "compact":
        // All that is known up to now, and a little more, is too old.
        truth.tick();
        truth.compact();
        break;
      case "bookmark":
        truth.bookmark();
        break;
      case "repeat":
        truth.repeat(step.back);
        break;
      case "end":
        truth.endWatches();
        break;
      case "cut inside":
        truth.endWatches({ inside: true });
        break;
      case "garbage":
        truth.sendRaw("no json\n");
        break;
      case "partition":
        simulation.partition("client", "server");
        break;
      case "heal":
        simulation.heal();
        break;
      case "late handler": {
        const mirror = new Mirror();
        mirror.add(informer);
        mirrors.push(mirror);
        break;
      }
      case "refuse":
        truth.refusals.push(refusals[step.how]?.() as never);
        break;
      case "fail watches":
        truth.failWatches(refusals[step.how]?.() as never);
        break;
    }
  }

  simulation.heal();
  // The longest that anything may take: a watch that a partition made silent, and the waits behind it.
  await pass(900_000);
  await simulation.run({ until: () => informer.connected, untilMs: simulation.nowMs + 60_000 });
  assert.ok(world.isEqual(), "the copy does not equal the truth");
  const expected = [...truth.objects.values()]
    .map(({ metadata }) => `${metadata.name} ${metadata.uid}@${metadata.resourceVersion}`)
    .sort()
    .join();
  for (const mirror of mirrors)
    assert.equal(mirror.text(), expected, "a handler was told something else than the truth");
  assert.equal(informer.status.handlerErrors, 0);
  await world.stop();
}

test("whatever is written, cut, refused and compacted, the copy is the truth at its version, and in the end the truth", async () => {
  const numRuns = Number(process.env["MERIDIAN_RUNS"] ?? 300);
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { maxLength: 60, size: "max" }),
      fc.record({ seed: fc.nat(1000), watchList: fc.boolean(), pageSize: fc.constantFrom(1, 2, 500) }),
      play,
    ),
    { numRuns },
  );
});
