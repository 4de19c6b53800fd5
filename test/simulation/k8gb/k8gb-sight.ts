import { parseMessage } from "@meridian/dns";
import type { Application, GslbStrategySpec } from "../fleet/application.ts";
import type { WantedApplication } from "../fleet/cluster-user.ts";
import { clientAddress } from "../fleet/fleet-map.ts";
import { askDirectly, type DirectAnswer, type PackedQuestions } from "../observation/asking.ts";
import type { Sight, SightChanges } from "../observation/sight.ts";
import type { K8gbCluster } from "./k8gb-cluster.ts";

/** Sees a cluster that runs k8gb. Of what it can serve only IPv4 counts: it publishes nothing else. */
export class K8gbSight implements Sight {
  readonly #cluster: K8gbCluster;
  readonly #seen = new Map<string, WantedApplication>();
  readonly #tamperedMs = new Map<string, number>();

  constructor(cluster: K8gbCluster) {
    this.#cluster = cluster;
  }

  takeChanges(): SightChanges {
    const { applications, tamperedMs } = this.#cluster.user;
    return {
      keys: [],
      applications: takeNew(applications, this.#seen),
      tampered: takeNew(tamperedMs, this.#tamperedMs),
    };
  }

  strategy(name: string): GslbStrategySpec | null {
    return this.#cluster.user.applications.get(name)?.strategy ?? null;
  }

  healthy(name: string): boolean {
    const wanted = this.#cluster.user.applications.get(name);
    return wanted?.strategy !== undefined && wanted.ready;
  }

  addresses(name: string): readonly string[] {
    const targets = this.#cluster.user.applications.get(name)?.targets ?? [];
    return targets.filter((target) => !target.includes(":")).toSorted();
  }

  version(): string | undefined {
    return this.#cluster.answersSinceMs === undefined ? undefined : String(this.#cluster.user.version);
  }

  answer(_application: Application, questions: PackedQuestions): DirectAnswer {
    return this.ask(questions);
  }

  ask(questions: PackedQuestions): DirectAnswer {
    return askDirectly(
      ({ message }) => parseMessage(this.#cluster.answer(message, clientAddress)),
      questions,
    );
  }
}

/** The keys whose values are others than those that were seen; they are seen now. */
function takeNew<T>(present: ReadonlyMap<string, T>, seen: Map<string, T>): readonly string[] {
  const changed: string[] = [];
  for (const [key, value] of present) {
    if (seen.get(key) === value) continue;
    seen.set(key, value);
    changed.push(key);
  }
  return changed;
}
