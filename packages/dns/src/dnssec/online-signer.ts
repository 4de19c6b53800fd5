import type { Name } from "../name/name.ts";
import type { SigningContext, UnsignedAnswer, ZoneSigner } from "../zone/zone-signer.ts";
import type { AnswerSigner } from "./answer-signer.ts";
import { RecordSigner, type SignatureLifetime } from "./record-signer.ts";
import type { SigningKeys } from "./signing-key.ts";

/** What a zone is signed with. Structured-cloneable, so that threads build their own signers. */
export interface ZoneSigning extends SignatureLifetime {
  /** The zone's origin, in lower case. */
  readonly origin: Name;
  readonly keys: SigningKeys;
}

/**
 * Signs the answers of one zone in one thread. Which keys sign follows from their times and the clock; new keys need a
 * new signer.
 */
export class OnlineSigner implements ZoneSigner {
  readonly kind = "online";
  readonly origin: Name;
  readonly records: RecordSigner;
  typesAt: ZoneSigner["typesAt"];
  recordsAt: ZoneSigner["recordsAt"];
  readonly #answers: AnswerSigner;

  /** `answers` is the one of this thread: its caches and budgets are for all zones. */
  constructor({ origin, keys, ...lifetime }: ZoneSigning, answers: AnswerSigner) {
    this.records = new RecordSigner(origin, keys, lifetime);
    this.origin = this.records.origin;
    this.#answers = answers;
  }

  sign(answer: UnsignedAnswer, context: SigningContext): void {
    this.#answers.sign(answer, context);
  }
}
