import { setTimeout as sleep } from "node:timers/promises";
import { measureApply } from "./apply-section.ts";
import { BenchFleet } from "./bench-fleet.ts";
import { measureChanges } from "./change-section.ts";
import type { ClusterProgram } from "./cluster-process.ts";
import type { GslbSettings } from "./gslb-bench.ts";
import { measureQuiet } from "./quiet-section.ts";
import type { GslbSectionName } from "./section-names.ts";

/** A fleet, and what is tried with it beside changes and quiet. */
export interface FleetCase {
  readonly program: ClusterProgram;
  readonly clusters: number;
  readonly gslbs: number;
  readonly tries: readonly ("apply" | "restart" | "lost peers")[];
}

/** What was measured of a fleet in one respect. */
export interface Measured {
  readonly section: GslbSectionName;
  readonly about: string;
  readonly values: Readonly<Record<string, number>>;
}

/** A peer looks at what is told at most once a second. */
const apartMs = 1_100;
const burstGapMs = 200;

/** Starts a fleet and measures it in every respect that there is. */
export async function measureFleet(
  { program, clusters, gslbs, tries }: FleetCase,
  { periodSeconds, changes, applied }: GslbSettings,
  onMeasured: (measured: Measured) => Promise<void>,
): Promise<void> {
  const more = tries.includes("apply") ? applied : 0;
  await using fleet = await BenchFleet.start({ program, clusters, gslbs, more, periodSeconds });
  const isPolling = program === "polling-cluster";
  // The model answers by a scan of all it has, as the plugin does: many questions would be its only work.
  const everyMs = isPolling ? 50 : Math.max(1, Math.ceil(clusters / 4));
  const changing = { changes, everyMs, withinMs: 3_000 * periodSeconds };
  const change = async (about: string, gapMs: number, overlapping: boolean): Promise<void> => {
    const values = await measureChanges(fleet, { ...changing, gapMs, overlapping });
    await onMeasured({ section: "gslb-change", about, values });
  };

  await onMeasured({ section: "gslb-quiet", about: "quiet", values: await measureQuiet(fleet, 1) });
  // Those that poll are slow and alike for every host: their changes may overlap, over one period.
  if (isPolling) {
    await change("one change after the other", (periodSeconds * 1000) / changes, true);
    return;
  }
  await change("one change after the other", apartMs, false);
  await change(`${1000 / burstGapMs} changes a second`, burstGapMs, true);
  if (tries.includes("apply"))
    await onMeasured({ section: "gslb-apply", about: `${applied} more`, values: await measureApply(fleet) });
  const firstMs = Math.max(...fleet.startMs);
  const firstCpuSeconds = fleet.startCpuMs / 1000;
  const again = tries.includes("restart") ? await measureRestart(fleet) : {};
  await onMeasured({ section: "gslb-start", about: "start", values: { firstMs, firstCpuSeconds, ...again } });
  if (!tries.includes("lost peers")) return;
  await fleet.lose(fleet.tags.at(-1)!, "silent");
  await fleet.lose(fleet.tags.at(-2)!, "dead");
  // That its Gslbs say so is a cost of the loss, not of the changes.
  await sleep(1_000 * periodSeconds);
  await fleet.settled();
  await change("one peer silent, one dead", apartMs, false);
}

async function measureRestart(fleet: BenchFleet): Promise<Record<string, number>> {
  const cluster = fleet.cluster(fleet.tags[0]!);
  const againMs = await cluster.call("restart");
  return { againMs, againWrites: (await cluster.call("counts")).apiWrites };
}
