import type { GslbCounts } from "../controllers/gslb-observer.ts";
import type { LatestPlan } from "../controllers/gslb-controller.ts";
import type { WapiCall } from "../delegation/wapi-client.ts";
import type { PeerContact } from "../peers/peer-session.ts";
import type { ConvergenceCause } from "./convergence-timer.ts";
import type { DelegationCounts } from "./delegation-tally.ts";

/** How the talk with one peer about one zone goes. */
export interface PeerReading extends Omit<PeerContact, "heardAtMs"> {
  readonly zone: string;
  readonly geoTag: string;
  /** How long ago it last answered; `undefined`: never since the start. */
  readonly ageSeconds: number | undefined;
  /** The serial of its own view as last transferred. */
  readonly serial: number | undefined;
}

/** What can be read of a running operator at any time, for metrics. */
export interface BalancerReadings {
  readonly geoTag: string;
  /** Where the operator keeps objects of its own. */
  readonly namespace: string;
  /** What was last decided for each Gslb that there is, by `namespace/name`. */
  readonly plans: Iterable<readonly [string, LatestPlan]>;
  readonly counts: Iterable<GslbCounts>;
  readonly peers: readonly PeerReading[];
  readonly delegations: Iterable<DelegationCounts>;
  /** Whether it vouches for what the DNS server says of the cluster. */
  readonly isVouching: boolean;
  /** Whether it writes what is decided. */
  readonly isLeading: boolean;
  /** Lets everything else run that waits: who reads a lot calls it now and then. */
  pause(): Promise<void>;
  /** Has each time from a seen change to the answer told. One listener; the last counts. */
  onConverged(listener: (cause: ConvergenceCause, seconds: number) => void): void;
  /** Has each call to an Infoblox grid told. One listener; the last counts. */
  onWapiCall(listener: (call: WapiCall) => void): void;
}
