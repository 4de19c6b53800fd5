import { parseObjectKey } from "@meridian/kube";
import { clusterChanges, type ClusterChange } from "../decide/cluster-change.ts";
import type { GslbPlan } from "../decide/plan-gslb.ts";

/** Told of what becomes of Gslbs, by `namespace/name`: for metrics and logs. It must not throw. */
export interface GslbObserver {
  /** One was looked at; what was decided may not be written yet. */
  onPass(key: string, before: GslbPlan | undefined, after: GslbPlan): void;
  /** A pass ended with an error, and is tried again. */
  onFailure(key: string): void;
  /** It is gone. */
  onGone(key: string): void;
}

/** What was counted of one Gslb since it is there, or since the start. */
export interface GslbCounts {
  readonly namespace: string;
  readonly name: string;
  /** Passes that came to an end with nothing to complain of. */
  passes: number;
  /** Passes that failed, or in which the Gslb cannot be brought about as it is. */
  errors: number;
  readonly changes: Map<ClusterChange["cause"], number>;
}

/** Counts passes, errors and changes of each Gslb for as long as it is there. */
export class GslbTally implements GslbObserver {
  readonly #counts = new Map<string, GslbCounts>();

  get counts(): Iterable<GslbCounts> {
    return this.#counts.values();
  }

  onPass(key: string, before: GslbPlan | undefined, after: GslbPlan): void {
    const counts = this.#of(key);
    if (isBroken(after)) counts.errors += 1;
    else counts.passes += 1;
    for (const { cause } of clusterChanges(before, after))
      counts.changes.set(cause, (counts.changes.get(cause) ?? 0) + 1);
  }

  onFailure(key: string): void {
    this.#of(key).errors += 1;
  }

  onGone(key: string): void {
    this.#counts.delete(key);
  }

  #of(key: string): GslbCounts {
    const found = this.#counts.get(key);
    if (found !== undefined) return found;
    const { namespace = "", name } = parseObjectKey(key);
    const counts = { namespace, name, passes: 0, errors: 0, changes: new Map() };
    this.#counts.set(key, counts);
    return counts;
  }
}

/** Whether a person has to act before the Gslb can be brought about: what k8gb counts as an error. */
function isBroken({ status }: GslbPlan): boolean {
  return (status.conditions ?? []).some(
    ({ type, status: verdict }) => verdict === "False" && (type === "Accepted" || type === "ResolvedRefs"),
  );
}
