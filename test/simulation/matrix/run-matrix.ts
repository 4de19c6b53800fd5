import { Fleet } from "../fleet/fleet.ts";
import { balancedZones, forTags, ownerOf, tags, type ClusterKind, type Tag } from "../fleet/fleet-map.ts";
import type { FleetSettings } from "../fleet/fleet-settings.ts";
import { K8gbSight } from "../k8gb/k8gb-sight.ts";
import { packQuestions, targetsIn } from "../observation/asking.ts";
import { MeridianSight } from "../observation/meridian-sight.ts";
import type { Sight } from "../observation/sight.ts";
import { allCuts, applyCut } from "./cuts.ts";
import { applicationOf, matrixCases, primary } from "./matrix-cases.ts";

/** Which clusters are answered, by the cut, the case and the cluster that is asked, each by its place in its list. */
export type Matrix = readonly (readonly Readonly<Record<Tag, readonly Tag[]>>[])[];

export interface MatrixRun {
  readonly kind: ClusterKind;
  readonly splitBrainThresholdSeconds?: number;
}

/** What a fleet is left alone for after each cut and each repair: long enough for everyone's period and time limits. */
const restMs = { meridian: 25_000, k8gb: 90_000 };

/** Runs a fleet of one kind through every cut and writes down what each cluster answers in the end. */
export async function runMatrix(run: MatrixRun): Promise<Matrix> {
  const fleet = new Fleet({ seed: 1, plant: {}, settings: settingsOf(run.kind), onWrong: fail });
  const { simulation } = fleet;
  await simulation.complete(fleet.start());
  for (const tag of tags)
    for (const [index, { strategy, isPrimaryHealthy }] of matrixCases.entries()) {
      const application = applicationOf(index);
      const threshold = run.splitBrainThresholdSeconds;
      fleet.member(tag).user.want({
        application,
        ready: tag !== primary || isPrimaryHealthy,
        targets: application.targets[tag],
        strategy: {
          ...strategy,
          dnsTtlSeconds: 5,
          ...(threshold === undefined ? {} : { splitBrainThresholdSeconds: threshold }),
        },
      });
    }
  const rest = (): Promise<void> => simulation.run({ untilMs: simulation.nowMs + restMs[run.kind] });
  const rows: Readonly<Record<Tag, readonly Tag[]>>[][] = [];
  for (const cut of allCuts()) {
    await rest();
    applyCut(cut, fleet.paths);
    await rest();
    rows.push(answersOf(fleet));
    applyCut(allCuts()[0]!, fleet.paths);
  }
  return rows;
}

function answersOf(fleet: Fleet): Readonly<Record<Tag, readonly Tag[]>>[] {
  const applications = matrixCases.map((_case, index) => applicationOf(index));
  return applications.map((application) => {
    const answered = (tag: Tag): readonly Tag[] => {
      const answer = sightOf(fleet, tag).answer(application, packQuestions(application.question));
      const owners = new Set(targetsIn(answer).map(ownerOf));
      return tags.filter((each) => owners.has(each));
    };
    return forTags(answered);
  });
}

function sightOf(fleet: Fleet, tag: Tag): Sight {
  const k8gb = fleet.k8gbClusters.get(tag);
  if (k8gb !== undefined) return new K8gbSight(k8gb);
  return new MeridianSight(fleet.cluster(tag), {
    zones: fleet.settings.zones.map(({ name }) => name),
    applications: [],
  });
}

function settingsOf(kind: ClusterKind): Partial<FleetSettings> {
  return {
    kinds: forTags(() => kind),
    zones: balancedZones.slice(0, 1),
    periodMs: 5_000,
    zonePeriodMs: 10_000,
    deadlineMs: 500,
    edgePort: 53,
    notify: true,
    dynamicParent: false,
    keyed: forTags(() => true),
    leaseMs: 30_000,
    addressGraceMs: 0,
    secondAddress: forTags(() => false),
    geoMap: false,
    skewMs: forTags(() => 0),
  };
}

function fail(invariant: number, seen: string): void {
  throw new Error(`invariant ${invariant}: ${seen}`);
}
