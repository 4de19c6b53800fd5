import type { KubeObject } from "@meridian/kube";
import type { KubeClient } from "../client/kube-client.ts";
import { ControllerError } from "../controller-error.ts";
import type { EventNote } from "../events/event-correlation.ts";

/** Which lease decides, who stands for election, and the times. The defaults are client-go's. */
export interface LeaderElectionOptions {
  readonly client: Pick<KubeClient, "get" | "create" | "update">;
  /** Where the lease is. */
  readonly namespace: string;
  /** The lease's name: one for each role, the same in all candidates. */
  readonly name: string;
  /** Who this is, for people: the Pod's name. A random part is added, so that no two candidates are ever the same. */
  readonly candidate: string;
  /** How long others wait for a renewal before they take the lease. Whole seconds. Default 15,000. */
  readonly leaseDurationMs?: number;
  /** How long the leader goes on without a renewal. Default 10,000. */
  readonly renewDeadlineMs?: number;
  /** The wait between two renewals; between two tries to lead it is this to 2.2 times as long. Default 2,000. */
  readonly retryPeriodMs?: number;
  /** Is told on the lease when this candidate begins and ceases to lead: an `EventRecorder`. */
  readonly events?: { record(about: KubeObject, note: EventNote): void };
}

/** The times of an election. */
export interface ElectionTimes {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** How much longer than `retryPeriodMs` a wait may be, drawn anew each time, so that candidates do not come together. */
export const retryJitter = 1.2;

/** @throws ControllerError `InvalidElection` for times under which two could lead, or nobody for long */
export function electionTimes(options: Partial<ElectionTimes>): ElectionTimes {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
  const problems: string[] = [];
  if (!(retryPeriodMs > 0)) problems.push(`retryPeriodMs (${retryPeriodMs}) must be more than 0`);
  if (!(leaseDurationMs >= 1000 && leaseDurationMs % 1000 === 0)) {
    problems.push(`leaseDurationMs (${leaseDurationMs}) must be whole seconds: the lease carries no less`);
  }
  if (!(leaseDurationMs > renewDeadlineMs)) {
    problems.push(
      `leaseDurationMs (${leaseDurationMs}) must be more than renewDeadlineMs (${renewDeadlineMs})`,
    );
  }
  if (!(renewDeadlineMs > retryPeriodMs * retryJitter)) {
    problems.push(
      `renewDeadlineMs (${renewDeadlineMs}) must be more than ${retryJitter} times retryPeriodMs (${retryPeriodMs})`,
    );
  }
  if (problems.length > 0) throw new ControllerError("InvalidElection", problems.join("; "));
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}
