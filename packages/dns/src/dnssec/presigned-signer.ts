import type { Name } from "../name/name.ts";
import type { SigningContext, UnsignedAnswer, ZoneSigner } from "../zone/zone-signer.ts";
import type { ZoneView } from "../zone/zone-view.ts";
import { StoredDenial } from "./stored-denial.ts";
import type { StoredSigner } from "./stored-signer.ts";

/** Gives answers the signatures and denials that a zone came with, since somebody else has signed it. */
export class PresignedSigner implements ZoneSigner {
  readonly kind = "stored";
  readonly origin: Name;
  readonly view: ZoneView;
  readonly denial: StoredDenial;
  typesAt: ZoneSigner["typesAt"];
  recordsAt: ZoneSigner["recordsAt"];
  readonly #answers: StoredSigner;

  /** `answers` is the one of this thread. */
  constructor(view: ZoneView, answers: StoredSigner) {
    this.origin = view.origin;
    this.view = view;
    this.denial = new StoredDenial(view);
    this.#answers = answers;
  }

  sign(answer: UnsignedAnswer, context: SigningContext): void {
    this.#answers.sign(answer, context);
  }
}
