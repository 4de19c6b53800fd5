import type { Random } from "@meridian/runtime";
import { tags, type Tag } from "./fleet-map.ts";
import { chance, pick } from "./draws.ts";

/** What all clusters of one run are set to. */
export interface FleetSettings {
  /** How often peers are asked. */
  readonly periodMs: number;
  /** How long one question to a peer may take. */
  readonly deadlineMs: number;
  readonly notify: boolean;
  /** How far each wall clock is ahead at the start. */
  readonly skewMs: Readonly<Record<Tag, number>>;
  readonly historyRevisionsMin: number;
  readonly snapshotAfterBytes: number;
}

export function drawSettings(random: Random): FleetSettings {
  const skew = (): number => (chance(random, 0.5) ? 0 : Math.round((random.float() - 0.5) * 10_000));
  return {
    periodMs: pick(random, [5_000, 10_000, 15_000]),
    deadlineMs: pick(random, [500, 1_000, 2_000]),
    notify: chance(random, 0.8),
    skewMs: Object.fromEntries(tags.map((tag) => [tag, skew()])) as Record<Tag, number>,
    historyRevisionsMin: pick(random, [5, 50, 1_000]),
    snapshotAfterBytes: pick(random, [16_384, 131_072]),
  };
}
