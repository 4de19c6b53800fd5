import type { DatagramClient } from "@meridian/runtime";
import { PresignedSigner } from "../dnssec/presigned-signer.ts";
import { StoredSigner } from "../dnssec/stored-signer.ts";
import { LookupName } from "../name/lookup-name.ts";
import { foldNameText, type Name } from "../name/name.ts";
import type { SigningContext, ZoneSigner } from "../zone/zone-signer.ts";
import type { ZoneView } from "../zone/zone-view.ts";
import type { AnswerAllowance } from "./answer-allowance.ts";
import type { Lookup } from "./lookup.ts";
import type { Query } from "./query.ts";
import { rateVerdict } from "./rate-limit.ts";
import type { Response } from "./response.ts";
import type { ZoneIndex } from "./zone-index.ts";

/** What an answer is signed by. */
export interface AnswerSigningParts {
  readonly query: Query;
  readonly response: Response;
  readonly lookup: Lookup;
  readonly zones: ZoneIndex;
  readonly allowance: AnswerAllowance;
}

/** Who signs which zone in this thread, and the step of an answer in which that is done. */
export class AnswerSigning {
  readonly #parts: AnswerSigningParts;
  /** By origin, whether or not the zone is here. */
  readonly #signers = new Map<string, ZoneSigner>();
  readonly #stored = new StoredSigner();
  readonly #ownerName: LookupName;
  readonly #context: { -readonly [Field in keyof SigningContext]: SigningContext[Field] };

  constructor(parts: AnswerSigningParts, seed: number) {
    this.#parts = parts;
    this.#ownerName = new LookupName(seed);
    this.#context = {
      type: 0,
      compactOk: false,
      overTcp: false,
      signerOf: (owner, type) => this.#signerOf(owner, type),
    };
  }

  /** Gives a zone that signatures came with what adds them. */
  adopt(view: ZoneView): void {
    view.presigned = new PresignedSigner(view, this.#stored);
  }

  /** The signer that was set for a zone. */
  signerFor(origin: string): ZoneSigner | undefined {
    return this.#signers.get(origin);
  }

  /** Signs answers of a zone from now on, whether or not it is here yet; `undefined` ends it. */
  setSigner(origin: string, signer: ZoneSigner | undefined): void {
    const key = foldNameText(origin);
    if (signer === undefined) this.#signers.delete(key);
    else this.#signers.set(key, signer);
    const view = this.#parts.zones.get(key);
    if (view !== undefined) view.signer = signer;
  }

  /**
   * Signs the answer if its zone is signed. What is not going to be sent must not use up what signing may cost: others wait
   * for their signatures.
   */
  sign(client: DatagramClient): void {
    const { query, response, lookup, allowance } = this.#parts;
    const { read } = lookup;
    const { signer } = read;
    if (signer === undefined || allowance.limit(client, response.rcode, lookup) !== rateVerdict.pass) return;
    response.signed = true;
    // Part of a set cannot be signed.
    response.partial = false;
    if (response.truncated) return;
    const context = this.#context;
    context.type = query.type;
    context.compactOk = query.compactOk;
    context.overTcp = allowance.overTcp;
    signer.sign(response, context);
    read.signerBeside(signer)?.sign(response, context);
  }

  #signerOf(owner: Name, type: number): ZoneSigner | undefined {
    this.#ownerName.set(owner);
    return this.#parts.zones.deepest(this.#ownerName, type)?.signer;
  }
}
