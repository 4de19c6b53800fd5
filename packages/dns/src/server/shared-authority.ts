import type { GeoState } from "../geo/geo-state.ts";
import type { SharedRateLimit } from "./rate-limit.ts";

/** What an authority answers from, in shared memory. Can be sent to a worker thread. */
export interface SharedAuthority {
  /** Hashes names; the same in all threads. */
  readonly seed: number;
  readonly zones: readonly SharedZone[];
  /** Counters of all threads, `counterSlots` of them. */
  readonly counters: SharedArrayBuffer;
  /** Secrets of server cookies; absent: no cookies. */
  readonly cookies?: SharedArrayBuffer;
  /** Until when `localtargets-` names are answered (`PublicationLease`); absent: without end. */
  readonly lease?: SharedArrayBuffer;
  readonly settings: AnswerSettings;
  readonly rateLimit?: SharedRateLimit;
  readonly geo?: GeoState;
}

/** One zone as workers see it. */
export interface SharedZone {
  readonly origin: string;
  readonly memory: SharedArrayBuffer;
  /** Another number for another memory: buffers that were sent cannot be compared. */
  readonly generation: number;
}

/** How answers are made, whatever the zone. */
export interface AnswerSettings {
  readonly udpPayloadBytesMax: number;
  readonly version?: string;
  readonly serverId?: string;
  readonly tcpIdleMs: number;
  /** What a question with a wrong server cookie gets: its answer with a fresh cookie, or BADCOOKIE (RFC 7873 §5.2.3). */
  readonly badCookie: "answer" | "refuse";
  /** Longer UDP answers need a question with a valid cookie; others get TC. */
  readonly noCookieOctetsMax: number;
  /** Whether client subnets (RFC 7871) are used and answered. */
  readonly ednsSubnet: boolean;
}

/** How many threads can count at once: the main thread in slot 0, and for each of 64 sockets two, as one replaces another. */
export const counterSlots = 129;
/** Numbers of each slot, 8 octets each. */
export const counterNumbers = 128;
