import type { Endpoint } from "@meridian/runtime";
import type { ResourceRecord } from "../message/resource-record.ts";

/** A server answered the question. */
export interface Answered {
  readonly state: "answered";
  /**
   * `data`: records of the asked type, at the name or at the end of its CNAME chain. `nodata`: the name exists without
   * them. `nxdomain`: there is no such name. `referral`: the server named other servers (in `authority`) and said nothing
   * about the name: for a peer that should own it this is no answer, least of all an empty one.
   */
  readonly outcome: "data" | "nodata" | "nxdomain" | "referral";
  /** The AA flag. */
  readonly authoritative: boolean;
  /** The answer section, CNAMEs included, in the order sent. */
  readonly records: readonly ResourceRecord[];
  readonly authority: readonly ResourceRecord[];
  /** Without the OPT record. */
  readonly additional: readonly ResourceRecord[];
  readonly server: Endpoint;
}

/** Servers replied, but none would answer: SERVFAIL, REFUSED, NOTIMP, FORMERR, NOTAUTH ... Names the last of them. */
export interface Refused {
  readonly state: "refused";
  readonly rcode: string;
  readonly server: Endpoint;
}

/** No server replied in time. */
export interface Unreachable {
  readonly state: "unreachable";
  readonly reason: string;
  /** To a signed question there were replies, and none of them proved who sent it: somebody is there. */
  readonly unproved?: boolean;
}

/** What asking came to. That nobody could be asked is never taken for an empty answer. */
export type Verdict = Answered | Refused | Unreachable;
