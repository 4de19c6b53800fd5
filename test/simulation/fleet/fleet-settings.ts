import type { Random } from "@meridian/runtime";
import { balancedZones, forTags, tags, type BalancedZone, type ClusterKind, type Tag } from "./fleet-map.ts";
import { chance, pick } from "./draws.ts";

/** What all clusters of one run are set to. */
export interface FleetSettings {
  readonly kinds: Readonly<Record<Tag, ClusterKind>>;
  readonly zones: readonly BalancedZone[];
  /** How often peers are asked. */
  readonly periodMs: number;
  /** How often clusters look for each other's DNS servers. */
  readonly zonePeriodMs: number;
  /** How long one question to a peer may take. */
  readonly deadlineMs: number;
  /** Where the edge server is asked; peers are asked there first, then on 53. */
  readonly edgePort: number;
  readonly notify: boolean;
  /** Whether each of ours writes its part of the delegation into the parent zones by dynamic update. */
  readonly dynamicParent: boolean;
  /** Who has the fleet's key, so that views are transferred between any two who have. */
  readonly keyed: Readonly<Record<Tag, boolean>>;
  /** How long what a cluster says of itself is answered after its operator has died. */
  readonly leaseMs: number;
  /** How long a cluster keeps its own addresses when its load balancer shows none any more. */
  readonly addressGraceMs: number;
  /** Whose DNS server has two addresses. */
  readonly secondAddress: Readonly<Record<Tag, boolean>>;
  /** Whether there is a map of where clients and targets are. */
  readonly geoMap: boolean;
  /** How far each wall clock is ahead at the start. */
  readonly skewMs: Readonly<Record<Tag, number>>;
  readonly historyRevisionsMin: number;
  readonly snapshotAfterBytes: number;
}

export function drawSettings(random: Random): FleetSettings {
  const skew = (): number => (chance(random, 0.5) ? 0 : Math.round((random.float() - 0.5) * 10_000));
  const kinds = drawKinds(random);
  const hasK8gb = tags.some((tag) => kinds[tag] === "k8gb");
  return {
    kinds,
    zones: balancedZones.filter((_zone, index) => index === 0 || chance(random, 0.3)),
    periodMs: pick(random, [5_000, 10_000, 15_000]),
    zonePeriodMs: 30_000,
    deadlineMs: pick(random, [500, 1_000, 2_000]),
    // With another port each question of k8gb to a living peer takes 4 s, so such a fleet takes minutes to come to rest.
    edgePort: chance(random, hasK8gb ? 0.05 : 0.25) ? 1053 : 53,
    notify: chance(random, 0.8),
    dynamicParent: chance(random, 0.3),
    keyed: drawKeyed(random),
    leaseMs: 12_000,
    addressGraceMs: pick(random, [0, 0, 5_000]),
    secondAddress: forTags(() => chance(random, 0.3)),
    geoMap: chance(random, 0.7),
    skewMs: forTags(skew),
    historyRevisionsMin: pick(random, [5, 50, 1_000]),
    snapshotAfterBytes: pick(random, [16_384, 131_072]),
  };
}

/** Most fleets have a key in every cluster or in none; one that is being introduced is in some. */
function drawKeyed(random: Random): Readonly<Record<Tag, boolean>> {
  const probability = pick(random, [0, 1, 1, 0.6]);
  return forTags(() => chance(random, probability));
}

/** Half of the fleets are ours alone; in the others any of the clusters are k8gb's, now and then all. */
function drawKinds(random: Random): Readonly<Record<Tag, ClusterKind>> {
  if (chance(random, 0.5)) return forTags(() => "meridian");
  if (chance(random, 0.05)) return forTags(() => "k8gb");
  const mixtures = [1, 2, 3, 4, 5, 6];
  const mixture = pick(random, mixtures);
  return forTags((_tag, index) => ((mixture >> index) & 1 ? "k8gb" : "meridian"));
}
