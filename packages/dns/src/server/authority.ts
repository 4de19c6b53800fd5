import type { AnswerDatagram, Clock, Endpoint, Random } from "@meridian/runtime";
import type { Zone } from "../zone/zone.ts";

/** That a peer says its zone has changed (RFC 1996). Unsigned: a reason to ask, never to believe. */
export interface NotifyHint {
  /** Folded to lower case, without the trailing dot. */
  readonly zone: string;
  /** Serial and MNAME of the SOA in the answer section, where there is one. */
  readonly serial?: number;
  readonly mname?: string;
  readonly from: Endpoint;
}

export interface AuthorityOptions {
  /** Seeds the generator behind weighted answers and the cookie secret. */
  readonly random: Random;
  /** Dates server cookies (RFC 9018); without it there are none. */
  readonly clock?: Clock;
  /** Called from within `answer`; must return soon. What it throws is dropped. */
  readonly onNotify?: (hint: NotifyHint) => void;
  /** Largest UDP answer and the size advertised. Default 1232. */
  readonly udpPayloadBytesMax?: number;
  /** Answer to `version.bind` and `version.server` in class CH. Default: REFUSED. */
  readonly version?: string;
  /** Answer to `id.server`, `hostname.bind` and the NSID option. Default: REFUSED, and no option. */
  readonly serverId?: string;
  /** Said to TCP clients that ask for keepalive (RFC 7828). Default 30,000. */
  readonly tcpIdleMs?: number;
}

/** Numbers since the start, rising only. */
export interface AuthorityCounters {
  queries: number;
  dropped: number;
  truncated: number;
  notifies: number;
  /** By rcode as sent, BADVERS at 16. */
  readonly rcodes: Float64Array;
}

/** Answers DNS messages from zones: synchronous, bytes to bytes. */
export class Authority {
  onNotify: ((hint: NotifyHint) => void) | undefined;
  readonly counters: AuthorityCounters;
  readonly answer: AnswerDatagram;
  constructor(options: AuthorityOptions) {
    this.onNotify = options.onNotify;
    this.counters = { queries: 0, dropped: 0, truncated: 0, notifies: 0, rcodes: new Float64Array(32) };
    this.answer = () => 0;
  }
  /** Serves the zone, in place of one with the same origin. */
  setZone(_zone: Zone): void {}
  /** Stops serving a zone; false when there was none. */
  removeZone(_origin: string): boolean {
    return false;
  }
  zone(_origin: string): Zone | undefined {
    return undefined;
  }
  get zones(): readonly Zone[] {
    return [];
  }
  /** Takes NOTIFY hints for a zone that is not served here, until `refuseNotify`. */
  acceptNotify(_zone: string): void {}
  refuseNotify(_zone: string): void {}
}
