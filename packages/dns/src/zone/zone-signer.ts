import type { Name } from "../name/name.ts";

/** An answer as it stands before its OPT record, for a signer to complete. Positions are offsets in `output`. */
export interface UnsignedAnswer {
  /** Question and records are written, the header is not: its counts are the fields below. */
  readonly output: Uint8Array;
  /** Where the message ends; the signer moves it. */
  at: number;
  /** What the message may fill; OPT has been set aside. */
  readonly limit: number;
  answers: number;
  authority: number;
  additional: number;
  /** NXDOMAIN becomes NOERROR with compact denial (RFC 9824). */
  rcode: number;
  /** Set where signatures do not fit: the answer then leaves with the question only. */
  truncated: boolean;
  /** What the last step came to. */
  readonly outcome: AnswerOutcome;
  /** Where the name stands that the last step was about: the one that does not exist or has no such data. */
  readonly nameAt: number;
}

/** What an answer tells of the last name of its chain. */
export type AnswerOutcome = "data" | "nodata" | "nxdomain" | "referral" | "elsewhere";

/** What a signer may ask about the question and the zones. */
export interface SigningContext {
  /** Asked for. */
  readonly type: number;
  /** The CO flag: NXDOMAIN may stay (RFC 9824 §5.1). */
  readonly compactOk: boolean;
  readonly overTcp: boolean;
  /** The signer of the zone that owns a record of this answer; `undefined` where that zone is not signed. */
  signerOf(owner: Name, type: number): ZoneSigner | undefined;
}

/**
 * Signs answers of one zone. The same in every thread: made from keys there, and asked for each answer to a question
 * with DO. Synchronous; never throws.
 */
export interface ZoneSigner {
  /** Signs from keys, or has what the zone came with. An answer from zones of both kinds is signed by one of each. */
  readonly kind: "online" | "stored";
  /** The zone's origin, folded. */
  readonly origin: Name;
  /** Types at a name of the zone: `undefined` where there is no such name, `[]` at an empty non-terminal. Set by the zone. */
  typesAt: ((name: Name) => readonly number[] | undefined) | undefined;
  /** The rdata of a record set of the zone: DS sets for referrals, the SOA. Set by the zone. */
  recordsAt:
    | ((
        name: Name,
        type: number,
      ) => { readonly ttl: number; readonly rdatas: readonly Uint8Array[] } | undefined)
    | undefined;
  /** Adds signatures and denials. Called on the signer of the zone that the last step was in, else of the first one signed. */
  sign(answer: UnsignedAnswer, context: SigningContext): void;
}
