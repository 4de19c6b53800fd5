import type { FamilyTargets } from "./address-family.ts";
import type { HostHealth, ServiceHealthPolicy, BackendHealth } from "./health.ts";
import type { PeerState } from "./peer-view.ts";
import type { Reason } from "./strategy.ts";

/** How one cluster answers for a host, and why. Plain JSON; times are ISO 8601. */
export interface Explanation {
  readonly host: string;
  /** The geo tag of the explaining cluster. */
  readonly geoTag: string;
  /** The load-balanced zone that the host is in; absent where it is in none. */
  readonly zone?: string;
  /** Why there is nothing to explain, for people: no Gslb claims the host, or it was not reconciled yet. */
  readonly problem?: string;
  /** Where no Gslb and no record answers for the host: the hosts that Gslbs name, sorted, 50 at most. */
  readonly knownHosts?: readonly string[];
  readonly gslb?: { readonly namespace: string; readonly name: string };
  readonly strategy?: {
    readonly type: string;
    readonly primaryGeoTag?: string;
    readonly weight?: Readonly<Record<string, number>>;
    readonly dnsTtlSeconds: number;
    readonly splitBrainThresholdSeconds: number;
  };
  readonly health?: {
    readonly policy: ServiceHealthPolicy;
    readonly verdict: HostHealth;
    readonly services: readonly ExplainedService[];
  };
  readonly local?: {
    /** What this cluster can be reached at. */
    readonly targets: FamilyTargets;
    /** Whether it is published as `localtargets-<host>`. */
    readonly published: boolean;
    /** Where the addresses come from: an annotation, the configuration or the referenced object. */
    readonly source: string;
  };
  readonly peers: readonly ExplainedPeer[];
  readonly decision?: {
    /** Geo tags in the answer, sorted. */
    readonly picked: readonly string[];
    readonly targets: FamilyTargets;
    readonly reasons: readonly Reason[];
    /** True from a start until each peer was asked: the stored answer stands in for the decision. */
    readonly held: boolean;
    /** When it was last decided. */
    readonly at: string;
  };
  /** What the own DNS server answers now, by type; `state` is `data`, `nodata`, `nxdomain` or `notReady`. */
  readonly dns: readonly {
    readonly type: "A" | "AAAA";
    readonly state: "data" | "nodata" | "nxdomain" | "notReady";
    readonly ttl?: number;
    readonly records: readonly string[];
  }[];
  /** Conditions of the Gslb that are not as they should be: `Accepted=False HostConflict: ...`. */
  readonly warnings: readonly string[];
}

/** One Service behind the host. */
export interface ExplainedService {
  readonly namespace: string;
  readonly name: string;
  readonly state: BackendHealth;
  readonly readyEndpoints: number;
}

/** What is known of one peer's targets for the host. */
export interface ExplainedPeer {
  readonly geoTag: string;
  /** Where it is asked, `address:port`, in order. */
  readonly servers: readonly string[];
  readonly views: readonly {
    readonly family: "A" | "AAAA";
    readonly state: PeerState;
    readonly targets: readonly string[];
    readonly asOf?: string;
    readonly unreachableSince?: string;
    readonly verdict: string;
  }[];
}
