import { test } from "node:test";
import type { Informer } from "@meridian/controller";
import { HandlerHistory, refusals } from "@meridian/controller/testing";
import type { CutKind } from "@meridian/controller/testing";
import type { ConfigMap } from "@meridian/kube";
import type { CrashKind } from "@meridian/runtime/sim";
import fc from "fast-check";
import { ApiWorld, everything } from "./api-world.ts";
import type { RecordedObject } from "./truth-recorder.ts";

const runs = Number(process.env["MERIDIAN_RUNS"] ?? 60);
const seed = Number(process.env["MERIDIAN_SEED"] ?? 20_261_130);

/** One act of a random program against the API server, the network and the clients. */
type Act =
  | { readonly do: "write" | "remove" | "write remotely"; readonly name: string; readonly shown: boolean }
  | { readonly do: "pass" | "hold"; readonly ms: number }
  | { readonly do: "cut"; readonly how: CutKind }
  | { readonly do: "repeat"; readonly back: number }
  | { readonly do: "refuse"; readonly how: "expired" | "busy" | "broken" | "unavailable" }
  | { readonly do: "crash"; readonly how: CrashKind }
  | {
      readonly do:
        "tick" | "compact" | "garbage" | "partition" | "heal" | "start" | "stop" | "late copy" | "handler";
    };

const objectAct = fc.record({
  do: fc.constantFrom("write" as const, "write" as const, "write remotely" as const, "remove" as const),
  name: fc.constantFrom("a", "b", "c", "d"),
  shown: fc.boolean(),
});

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 10, arbitrary: objectAct },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constantFrom("pass" as const, "pass" as const, "pass" as const, "hold" as const),
      ms: fc.constantFrom(1, 5, 50, 1_500, 40_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("cut" as const),
      how: fc.constantFrom<CutKind>("clean", "inside", "broken"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("repeat" as const), back: fc.nat(5) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("refuse" as const),
      how: fc.constantFrom("expired" as const, "busy" as const, "broken" as const, "unavailable" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("crash" as const),
      how: fc.constantFrom<CrashKind>("power", "process"),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "tick" as const,
        "compact" as const,
        "garbage" as const,
        "partition" as const,
        "heal" as const,
        "start" as const,
        "stop" as const,
        "late copy" as const,
        "handler" as const,
      ),
    }),
  },
);

const isShown = (object: RecordedObject): boolean => object.metadata.labels?.["shown"] === "yes";

interface Scenario {
  readonly seed: number;
  readonly watchList: boolean;
  readonly pageSize: number;
  readonly shortHistory: boolean;
}

async function play(acts: readonly Act[], scenario: Scenario): Promise<void> {
  const world = await ApiWorld.start({
    seed: scenario.seed,
    ...(scenario.shortHistory ? { retention: { revisionsMin: 2, revisionsMax: 8, ageMs: 1_000 } } : {}),
  });
  for (const name of ["a", "b", "c"]) world.write(name, { shown: "yes" });
  const { pageSize, watchList } = scenario;
  const copies = new Map<Informer<ConfigMap>, (object: RecordedObject) => boolean>();
  const histories: { readonly copy: Informer<ConfigMap>; readonly history: HandlerHistory<ConfigMap> }[] = [];
  const listen = (copy: Informer<ConfigMap>): void => {
    const history = new HandlerHistory<ConfigMap>();
    copy.addHandler(history.handler);
    histories.push({ copy, history });
  };
  const follow = (selected: boolean): void => {
    const selects = selected ? isShown : everything;
    const selector = selected ? { labelSelector: "shown=yes" } : {};
    const copy = world.follow({ pageSize, watchList, ...selector }, selects);
    copies.set(copy, selects);
    listen(copy);
  };
  follow(false);
  follow(true);

  for (const step of acts) {
    switch (step.do) {
      case "write":
        world.write(step.name, step.shown ? { shown: "yes" } : {});
        break;
      case "write remotely":
        world.writeRemotely(step.name);
        break;
      case "remove":
        world.remove(step.name);
        break;
      case "pass":
        await world.pass(step.ms);
        break;
      case "hold":
        world.box.hold(step.ms);
        break;
      case "cut":
        world.box.cutWatches(step.how);
        break;
      case "repeat":
        world.box.repeat(step.back);
        break;
      case "refuse":
        world.box.befallRequest({ do: "refuse", with: refusals[step.how] });
        break;
      case "garbage":
        world.box.forge("<html>502 Bad Gateway</html>\n");
        break;
      case "tick":
        world.tick();
        break;
      case "compact":
        world.compact();
        break;
      case "partition":
        world.simulation.partition("client", "server");
        break;
      case "heal":
        world.simulation.heal();
        break;
      case "crash":
        world.crashServer(step.how);
        break;
      case "start":
        await world.startServer();
        break;
      case "stop":
        await world.stopServer();
        break;
      case "late copy":
        if (copies.size < 5) follow(copies.size % 2 === 0);
        break;
      case "handler": {
        const [copy] = copies.keys();
        if (copy !== undefined) listen(copy);
        break;
      }
    }
  }
  await world.settle(copies);
  for (const { copy, history } of histories) history.check(copy.lister.list());
  await world.stop();
}

test(`whatever happens to server and network, the copy is the truth at its version (${runs} programs, seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { maxLength: 50, size: "max" }),
      fc.record({
        seed: fc.nat(1_000_000),
        watchList: fc.boolean(),
        pageSize: fc.constantFrom(1, 2, 500),
        shortHistory: fc.boolean(),
      }),
      play,
    ),
    { numRuns: runs, seed },
  );
});
