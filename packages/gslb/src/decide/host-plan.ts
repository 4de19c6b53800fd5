import type { FamilyTargets } from "./address-family.ts";
import type { BackendState, ServiceRef } from "./gslb-snapshot.ts";
import type { HostHealth } from "./health.ts";
import type { PeerView } from "./peer-view.ts";
import type { Decision } from "./strategy.ts";

/** How one host came to its records. */
export interface HostPlan {
  readonly host: string;
  readonly zone: string;
  readonly health: HostHealth;
  readonly services: readonly (ServiceRef & BackendState)[];
  /** The addresses of this cluster, whether it is healthy or not. */
  readonly exposed: FamilyTargets;
  /** What it publishes as `localtargets-<host>`. */
  readonly published: FamilyTargets;
  /** As they count for this Gslb now. */
  readonly views: readonly PeerView[];
  /** Absent where the spec is invalid. */
  readonly decision?: Decision;
  /** The stored answer stands in for the decision. */
  readonly held: boolean;
}

/** A host that a Gslb names and does not get. */
export interface RefusedHost {
  readonly host: string;
  readonly reason: "HostInvalid" | "HostOutsideZones" | "HostConflict";
  readonly message: string;
}
