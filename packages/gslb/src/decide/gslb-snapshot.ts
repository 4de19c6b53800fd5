import type { DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import type { Gslb } from "../resources/gslb.ts";
import type { AddressFamily, FamilyTargets } from "./address-family.ts";
import type { GeoKnowledge } from "./geo-knowledge.ts";
import type { BackendHealth } from "./health.ts";
import type { PeerView } from "./peer-view.ts";

/** A Service by its place. */
export interface ServiceRef {
  readonly namespace: string;
  readonly name: string;
  /** Nothing may be sent to it from where it is referred to, so it counts as missing. */
  readonly isRefused?: boolean;
}

/** A host and every Service behind it, over all rules that name the host. */
export interface Server {
  readonly host: string;
  readonly services: readonly ServiceRef[];
}

/** Why a Gslb's reference leads to nothing that can be used. */
export interface ReferenceFailure {
  readonly reason:
    | "NotFound"
    | "NotExactlyOne"
    | "UnsupportedKind"
    | "InvalidReference"
    | "NotOwned"
    /** The cluster has no such kind: its definition is not installed. */
    | "KindNotServed"
    /** Objects of the kind cannot be read. */
    | "KindUnreadable";
  readonly message: string;
  /** The object is known to be gone, so nothing can be served through it; otherwise the last known servers stand. */
  readonly gone: boolean;
}

/** Why a part of what was found serves nothing. */
export interface ReferenceProblem {
  readonly reason:
    /** No ReferenceGrant lets a route send requests to a backend in another namespace. */
    | "RefNotPermitted"
    /** Nothing that a route attaches to takes requests for a host. */
    | "NoMatchingListenerHostname"
    /** Who is asked to serve a route says that it does not. */
    | "RouteNotAccepted"
    | "KindUnreadable";
  readonly message: string;
}

/** What a Gslb's reference leads to. */
export type ReferenceOutcome =
  | {
      readonly kind: "resolved";
      readonly servers: readonly Server[];
      readonly problems?: readonly ReferenceProblem[];
    }
  | ({ readonly kind: "failed" } & ReferenceFailure);

/** The addresses at which this cluster serves a Gslb's hosts. */
export interface ExposedOutcome {
  /** Absent while they cannot be told; the last known ones stand in. */
  readonly targets?: FamilyTargets;
  /** A family of which nobody could tell all; its last known ones stand beside the targets. */
  readonly unknownFamily?: AddressFamily;
  /** Where they come from, for people. */
  readonly source: string;
  /** What is wrong with an annotation or a lookup. */
  readonly problem?: string;
  /** Why there is no address, where that may be for a moment only. */
  readonly lacking?: string;
  /** The object that gave them gives none any more, and the last ones stand in for a while. */
  readonly kept?: KeptAddresses;
}

/** How long addresses stand that are shown no more. */
export interface KeptAddresses {
  /** As it was first reckoned and told; wall-clock milliseconds. */
  readonly until: number;
  /** What counts, since the wall clock may jump: by the clock that only rises, milliseconds. */
  readonly untilMonotonicMs: number;
  /** From now on, milliseconds. */
  readonly forMs: number;
}

/** How well one Service can serve now. */
export interface BackendState {
  readonly state: BackendHealth;
  readonly readyEndpoints: number;
}

/** Why a Gslb's DNSEndpoint is not written. */
export interface EndpointProblem {
  readonly reason: "DNSEndpointNotOwned" | "WriteRefused";
  readonly message: string;
}

/** Everything that a plan for one Gslb depends on, read at one moment. */
export interface GslbSnapshot {
  readonly gslb: Gslb;
  /** The own geo tag. */
  readonly geoTag: string;
  /** Every cluster's, the own one included. */
  readonly geoTags: readonly string[];
  /** Whether clusters that are not among them may join. */
  readonly isFleetOpen?: boolean;
  readonly reference: ReferenceOutcome;
  readonly exposed: ExposedOutcome;
  /** The load-balanced zones. */
  readonly zones: readonly string[];
  /** Who holds a host, as `namespace/name`, where it is another Gslb. */
  readonly otherHolder: (host: string) => string | undefined;
  readonly backend: (service: ServiceRef) => BackendState;
  /** Every peer's view of a host, both families. */
  readonly views: (host: string) => readonly PeerView[];
  /** The records of the Gslb's DNSEndpoint, where there is one. */
  readonly stored: readonly DnsEndpointRecord[] | undefined;
  /** Why that DNSEndpoint cannot be written: another owner controls it, or the API server refuses. */
  readonly endpointProblem?: EndpointProblem;
  /** Absent where nobody can tell. */
  readonly geo?: GeoKnowledge;
  /** Wall-clock milliseconds. */
  readonly now: number;
}
