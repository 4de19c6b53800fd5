import { headerOctets } from "../message/header.ts";
import {
  typeCname,
  typeDname,
  typeDs,
  typeNs,
  typeOpt,
  typeRrsig,
  typeSoa,
} from "../message/type-numbers.ts";
import { skipName } from "../message/wire-name.ts";
import { equalNames, isAtOrBelow, type Name } from "../name/name.ts";
import { node as nodeWord } from "../zone/zone-layout.ts";
import type { SigningContext, UnsignedAnswer } from "../zone/zone-signer.ts";
import { readFoldedName, readSection, type SectionInMessage, type SetInMessage } from "./answer-records.ts";
import { PresignedSigner } from "./presigned-signer.ts";
import { SignedMessage } from "./signed-message.ts";

/**
 * Completes answers from zones that were signed elsewhere (RFC 4035 §3.1, RFC 5155 §7.2): with the stored signatures of each
 * set, DS or the proof that there is none, and the proofs of what is not there. Synchronous; one for each thread.
 */
export class StoredSigner {
  readonly #message = new SignedMessage();
  /** What proves something about the present answer, each once. */
  #proofs: Proof[] = [];

  /**
   * Signs an answer to a question with DO. What is of other zones stays as it is. Where the signatures do not fit, the
   * answer becomes truncated.
   */
  sign(answer: UnsignedAnswer, context: SigningContext): void {
    if (answer.truncated || answer.answers + answer.authority === 0) return;
    const { output, limit } = answer;
    const message = this.#message;
    const answers = readSection(output, skipName(output, headerOctets) + 4, answer.answers);
    const authority = readSection(output, answers.end, answer.authority);
    const additional = readSection(output, authority.end, answer.additional);
    this.#proofs = [];

    message.begin(output, answers.end);
    const addedAnswers = this.#signAnswers(answers, context);
    message.moveOn(answers.end);
    message.copySets(authority.sets);
    let addedAuthority = 0;
    for (const set of authority.sets) {
      const isCut = answer.outcome === "referral" && set.type === typeNs;
      addedAuthority += isCut ? this.#signCut(set, context) : this.#signSet(set, context);
    }
    this.#deny(answer, { authority, context });
    for (const proof of this.#proofs) addedAuthority += this.#writeProof(proof);

    message.moveOn(authority.end);
    const without = message.at;
    message.copySets(additional.sets);
    let addedAdditional = 0;
    // Glue is not the zone's own, and has no signatures.
    if (answer.outcome !== "referral")
      for (const set of additional.sets) addedAdditional += this.#signSet(set, context);
    if (addedAnswers + addedAuthority + addedAdditional === 0) return;

    let additionalCount = answer.additional + addedAdditional;
    if (message.at > limit) {
      // What is only a help is left out where it does not fit; required glue is not (RFC 4035 §3.1.1, RFC 9471).
      message.at = without;
      const required = requiredGlue(answer, { authority, additional });
      message.copySets(required);
      additionalCount = required.reduce((sum, { records }) => sum + records.length, 0);
    }
    if (message.at > limit) {
      answer.truncated = true;
      return;
    }
    message.finish();
    answer.at = message.at;
    answer.answers += addedAnswers;
    answer.authority += addedAuthority;
    answer.additional = additionalCount;
  }

  #signAnswers({ sets }: SectionInMessage, context: SigningContext): number {
    let added = 0;
    for (const set of sets) {
      // RFC 6672 §5.3.1: the CNAME made from a DNAME is not signed; the DNAME is.
      if (set.type === typeCname && isSynthesised(set, sets)) continue;
      // Signatures that were asked for are there already.
      const hasOwn = sets.some(({ type, owner }) => type === typeRrsig && equalNames(owner, set.owner));
      if (hasOwn) this.#proveWildcard(set, context);
      else added += this.#signSet(set, context);
    }
    return added;
  }

  /** Adds the signatures of a set, if its zone is a presigned one; how many. */
  #signSet(set: SetInMessage, context: SigningContext): number {
    const zone = zoneOf(set.owner, set.type, context);
    if (zone === undefined || set.type === typeOpt || set.type === typeRrsig) return 0;
    const node = this.#proveWildcard(set, context);
    const { type, ttl, ownerAt } = set;
    const signatures = signaturesOf(zone, node, type);
    for (const rdata of signatures) this.#message.writeRecord(ownerAt, { type: typeRrsig, ttl, rdata });
    return signatures.length;
  }

  /** The node that a set of an answer is from. Where that is a wildcard, no closer match may be there, which is to be proved. */
  #proveWildcard({ owner, type }: SetInMessage, context: SigningContext): number {
    const zone = zoneOf(owner, type, context);
    if (zone === undefined) return 0;
    const { denial, view } = zone;
    const node = denial.nodeOf(owner);
    if (node !== 0) return node;
    const enclosure = denial.enclosureOf(owner);
    if (enclosure === undefined) return 0;
    this.#prove(zone, denial.noCloser(owner));
    return view.words[view.findName(enclosure.encloser) + nodeWord.wildcard]!;
  }

  /** Adds the DS set of a zone cut, or the proof that there is none (RFC 4035 §3.1.4, RFC 5155 §7.2.7). */
  #signCut({ owner, ownerAt }: SetInMessage, context: SigningContext): number {
    const zone = zoneOf(owner, typeDs, context);
    if (zone === undefined) return 0;
    const node = zone.denial.nodeOf(owner);
    const found = zone.view.recordsOf(node, typeDs);
    if (found === undefined) {
      this.#prove(zone, zone.denial.noData(owner));
      return 0;
    }
    const { ttl, rdatas } = found;
    const signatures = signaturesOf(zone, node, typeDs);
    for (const rdata of rdatas) this.#message.writeRecord(ownerAt, { type: typeDs, ttl, rdata });
    for (const rdata of signatures) this.#message.writeRecord(ownerAt, { type: typeRrsig, ttl, rdata });
    return rdatas.length + signatures.length;
  }

  #deny(
    { output, nameAt, outcome }: UnsignedAnswer,
    { authority, context }: { readonly authority: SectionInMessage; readonly context: SigningContext },
  ): void {
    if (outcome !== "nodata" && outcome !== "nxdomain") return;
    const soa = authority.sets.find((set) => set.type === typeSoa);
    const zone = soa === undefined ? undefined : zoneOf(soa.owner, typeSoa, context);
    if (zone === undefined) return;
    const name = readFoldedName(output, nameAt);
    this.#prove(zone, outcome === "nodata" ? zone.denial.noData(name) : zone.denial.noName(name));
  }

  #prove(zone: PresignedSigner, nodes: readonly number[]): void {
    for (const node of nodes) {
      const isKnown = this.#proofs.some((proof) => proof.zone === zone && proof.node === node);
      if (!isKnown) this.#proofs.push({ zone, node });
    }
  }

  /** Adds a denial with its signatures; how many records. */
  #writeProof({ zone, node }: Proof): number {
    const { denial, view } = zone;
    const { type } = denial;
    const found = view.recordsOf(node, type);
    if (found === undefined) return 0;
    const { ttl, rdatas } = found;
    const owner = view.nameOf(node);
    const signatures = signaturesOf(zone, node, type);
    for (const rdata of rdatas) this.#message.writeOwned(owner, { type, ttl, rdata });
    for (const rdata of signatures) this.#message.writeOwned(owner, { type: typeRrsig, ttl, rdata });
    return rdatas.length + signatures.length;
  }
}

/** The NSEC or NSEC3 of one node. */
interface Proof {
  readonly zone: PresignedSigner;
  readonly node: number;
}

/** The addresses of a referral that nobody else could tell: those of servers at or below the cut. */
function requiredGlue(
  { outcome }: UnsignedAnswer,
  sections: { readonly authority: SectionInMessage; readonly additional: SectionInMessage },
): readonly SetInMessage[] {
  const cut = sections.authority.sets.find(({ type }) => type === typeNs);
  if (outcome !== "referral" || cut === undefined) return [];
  return sections.additional.sets.filter(({ owner }) => isAtOrBelow(owner, cut.owner));
}

function zoneOf(owner: Name, type: number, context: SigningContext): PresignedSigner | undefined {
  const signer = context.signerOf(owner, type);
  return signer instanceof PresignedSigner ? signer : undefined;
}

/** The stored signatures over a set of a node; several while keys roll over. */
function signaturesOf({ view }: PresignedSigner, node: number, type: number): readonly Uint8Array[] {
  const found = node === 0 ? undefined : view.recordsOf(node, typeRrsig);
  return found?.rdatas.filter((rdata) => ((rdata[0]! << 8) | rdata[1]!) === type) ?? [];
}

/** Whether a CNAME was made from a DNAME: nothing else is below one. */
function isSynthesised({ owner: name }: SetInMessage, sets: readonly SetInMessage[]): boolean {
  return sets.some(
    ({ type, owner }) => type === typeDname && name.length > owner.length && isAtOrBelow(name, owner),
  );
}
