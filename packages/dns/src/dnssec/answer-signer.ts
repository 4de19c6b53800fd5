import type { Clock } from "@meridian/runtime";
import { headerOctets, rcode } from "../message/header.ts";
import {
  typeCname,
  typeDname,
  typeDs,
  typeNs,
  typeNsec,
  typeNxname,
  typeOpt,
  typeRrsig,
  typeSoa,
} from "../message/type-numbers.ts";
import { skipName } from "../message/wire-name.ts";
import { equalNames, isAtOrBelow, parentName, type Name } from "../name/name.ts";
import { wallSeconds } from "../wall-seconds.ts";
import type { SigningContext, UnsignedAnswer } from "../zone/zone-signer.ts";
import { readFoldedName, readSection, type SectionInMessage, type SetInMessage } from "./answer-records.ts";
import { CanonicalSet } from "./canonical-set.ts";
import { composeNsec } from "./denial.ts";
import { SignBudget } from "./sign-budget.ts";
import { SignatureCache } from "./signature-cache.ts";
import { SignedMessage } from "./signed-message.ts";
import { OnlineSigner } from "./online-signer.ts";
import { isKeySet, type RecordSigner } from "./record-signer.ts";

/** Bounds of what signing costs, for each thread. */
export interface AnswerSignerOptions {
  readonly clock: Clock;
  /** Most octets of signatures kept. Default 16 MiB, a quarter of it for denials. */
  readonly cacheOctetsMax?: number;
  /** Most signatures made in each second for answers over UDP, and as many again over TCP. Default 4,000; denials half. */
  readonly signaturesPerSecond?: number;
}

/** Numbers since the start; they only rise. */
export interface SigningCounters {
  /** Signatures made. */
  made: number;
  /** Signatures taken from the cache. */
  reused: number;
  /** Answers that were not given since making their signatures would have cost too much. */
  refused: number;
}

interface Budgets {
  readonly sets: SignBudget;
  readonly denials: SignBudget;
}

/**
 * Signs answers that were composed without DNSSEC: adds RRSIG to what is authoritative, DS or its absence to referrals,
 * and turns negative answers into compact denial (RFC 9824). Synchronous; one for each thread.
 */
export class AnswerSigner {
  readonly counters: SigningCounters = { made: 0, reused: 0, refused: 0 };
  readonly #clock: Clock;
  readonly #sets: SignatureCache;
  readonly #denials: SignatureCache;
  readonly #udp: Budgets;
  readonly #tcp: Budgets;
  readonly #canonical = new CanonicalSet();
  readonly #message = new SignedMessage();
  #budgets: Budgets;
  #now = 0;
  #refused = false;

  constructor({
    clock,
    cacheOctetsMax = 16 * 1024 * 1024,
    signaturesPerSecond = 4_000,
  }: AnswerSignerOptions) {
    this.#clock = clock;
    this.#sets = new SignatureCache((cacheOctetsMax * 3) / 4);
    this.#denials = new SignatureCache(cacheOctetsMax / 4);
    const budgets = (): Budgets => ({
      sets: new SignBudget(signaturesPerSecond),
      denials: new SignBudget(signaturesPerSecond / 2),
    });
    this.#udp = budgets();
    this.#tcp = budgets();
    this.#budgets = this.#udp;
  }

  /** Octets that the caches hold. */
  get cacheOctets(): number {
    return this.#sets.octets + this.#denials.octets;
  }

  /**
   * Signs an answer to a question with DO. What is of unsigned zones stays as it is. Where the signatures do not fit or may
   * not be made, the answer becomes truncated: never is it sent without them.
   */
  sign(answer: UnsignedAnswer, context: SigningContext): void {
    if (answer.truncated || answer.answers + answer.authority === 0) return;
    this.#budgets = context.overTcp ? this.#tcp : this.#udp;
    this.#now = wallSeconds(this.#clock);
    this.#refused = false;
    const { output } = answer;
    const parts = readParts(answer, skipName(output, headerOctets) + 4);
    const counts = this.#write(answer, parts, context);
    if (this.#refused) this.counters.refused++;
    if (this.#refused || this.#message.at > answer.limit) {
      answer.truncated = true;
      return;
    }
    if (counts === undefined) return;
    this.#message.finish();
    answer.at = this.#message.at;
    answer.answers = counts.answers;
    answer.authority = counts.authority;
    answer.additional = counts.additional;
    const isCompact = counts.denied && answer.rcode === rcode.nxDomain && !context.compactOk;
    if (isCompact) answer.rcode = rcode.noError;
  }

  /** Writes the signed message; `undefined` where nothing was to be signed. */
  #write(answer: UnsignedAnswer, parts: Parts, context: SigningContext): Counts | undefined {
    const message = this.#message;
    const { output, limit } = answer;
    message.begin(output, parts.answer.end);
    const { sets } = parts.answer;
    let answers = 0;
    for (const set of sets) {
      // RFC 6672 §5.3.1: the CNAME made from a DNAME is not signed; the DNAME is.
      if (set.type === typeCname && isSynthesised(set, sets)) continue;
      answers += this.#signSet(output, set, context);
    }
    const denier = denierOf(answer, parts, context);
    if (denier !== undefined && answer.outcome === "nodata" && isAboutSignatures(context.type)) {
      answers += this.#writeDenial(answer, { denier, ttl: negativeTtl(denier) }, context.type);
      return { answers: answer.answers + answers, authority: 0, additional: 0, denied: true };
    }

    message.moveOn(parts.answer.end);
    message.copySets(parts.authority.sets);
    let authority = 0;
    for (const set of parts.authority.sets) {
      const isCut = answer.outcome === "referral" && set.type === typeNs;
      authority += isCut ? this.#signCut(set, context) : this.#signSet(output, set, context);
      if (set.type === typeSoa && denier !== undefined)
        authority += this.#writeDenial(answer, { denier, ttl: set.ttl }, context.type);
    }

    message.moveOn(parts.authority.end);
    const without = message.at;
    message.copySets(parts.additional.sets);
    let additional = 0;
    // Glue is not the zone's own, and stays unsigned.
    if (answer.outcome !== "referral")
      for (const set of parts.additional.sets) additional += this.#signSet(output, set, context);
    if (answers + authority + additional === 0) return undefined;
    const counts = {
      answers: answer.answers + answers,
      authority: answer.authority + authority,
      denied: denier !== undefined,
    };
    if (message.at <= limit || answer.outcome === "referral")
      return { ...counts, additional: answer.additional + additional };
    // What is only a help is left out where it does not fit; required glue is not (RFC 4035 §3.1.1, RFC 9471).
    message.at = without;
    return { ...counts, additional: 0 };
  }

  /** Adds the DS set of a zone cut, or the proof that there is none (RFC 4035 §3.1.4). */
  #signCut(cut: SetInMessage, context: SigningContext): number {
    const zone = signerOf(cut.owner, typeNs, context);
    if (zone === undefined) return 0;
    const found = zone.recordsAt?.(cut.owner, typeDs);
    if (found === undefined || found.rdatas.length === 0)
      return this.#writeNsec(cut, { zone, types: [typeNs], ttl: negativeTtl(zone), signatureOnly: false });
    const { ttl, rdatas } = found;
    const set = this.#canonical;
    set.begin(cut.owner, { type: typeDs, ttl });
    for (const rdata of rdatas) set.add(rdata, 0, rdata.length);
    for (const rdata of rdatas) this.#message.writeRecord(cut.ownerAt, { type: typeDs, ttl, rdata });
    return rdatas.length + this.#writeSignatures(cut.ownerAt, zone);
  }

  /** Adds the NSEC record that denies the type or the name asked for, or only its signatures where those were asked for. */
  #writeDenial(
    { output, nameAt, outcome }: UnsignedAnswer,
    { denier, ttl }: { readonly denier: OnlineSigner; readonly ttl: number },
    asked: number,
  ): number {
    const owner = readFoldedName(output, nameAt);
    const types =
      outcome === "nxdomain" ? [typeNxname] : typesOf(denier, owner).filter((type) => type !== asked);
    const signatureOnly = outcome === "nodata" && asked === typeRrsig;
    return this.#writeNsec({ owner, ownerAt: nameAt }, { zone: denier, types, ttl, signatureOnly });
  }

  #writeNsec(
    { owner, ownerAt }: Pick<SetInMessage, "owner" | "ownerAt">,
    { zone, types, ttl, signatureOnly }: NsecFields,
  ): number {
    const rdata = composeNsec(owner, [...types, typeRrsig, typeNsec]);
    const set = this.#canonical;
    set.begin(owner, { type: typeNsec, ttl });
    set.add(rdata, 0, rdata.length);
    if (!signatureOnly) this.#message.writeRecord(ownerAt, { type: typeNsec, ttl, rdata });
    return (signatureOnly ? 0 : 1) + this.#writeSignatures(ownerAt, zone);
  }

  /** Signs a set of the answer, if its zone is signed; how many records that added. */
  #signSet(
    output: Uint8Array,
    { ownerAt, owner, type, ttl, records }: SetInMessage,
    context: SigningContext,
  ): number {
    const zone = signerOf(owner, type, context);
    if (zone === undefined || type === typeOpt) return 0;
    const set = this.#canonical;
    set.begin(owner, { type, ttl });
    for (const { rdataAt, end } of records) set.add(output, rdataAt, end);
    return this.#writeSignatures(ownerAt, zone);
  }

  /** Adds the signatures of the set in `#canonical`; how many. */
  #writeSignatures(ownerAt: number, { records }: OnlineSigner): number {
    const { ttl } = this.#canonical;
    const signatures = this.#signatures(records);
    for (const rdata of signatures) this.#message.writeRecord(ownerAt, { type: typeRrsig, ttl, rdata });
    return signatures.length;
  }

  /** Signatures kept or made; none, and `#refused` set, where they may not be made. */
  #signatures(signer: RecordSigner): readonly Uint8Array[] {
    const set = this.#canonical;
    set.finish();
    const isDenial = set.type === typeNsec;
    const cache = isDenial ? this.#denials : this.#sets;
    const budget = isDenial ? this.#budgets.denials : this.#budgets.sets;
    const now = this.#now;
    const kept = cache.find(set, signer);
    if (kept !== undefined && signer.isFresh(kept, now)) {
      this.counters.reused += kept.signatures.length;
      return kept.signatures;
    }
    // Key sets are few, and without them nothing can be validated.
    if (!isKeySet(set.type) && !budget.take(this.#clock.monotonicMs())) {
      if (kept !== undefined && signer.isUsable(kept, now)) return kept.signatures;
      this.#refused = true;
      return [];
    }
    const signed = signer.sign(set, now);
    this.counters.made += signed.signatures.length;
    cache.keep(set, signed);
    return signed.signatures;
  }
}

/** How many records the sections of the signed answer have. */
interface Counts {
  readonly answers: number;
  readonly authority: number;
  readonly additional: number;
  /** Whether it says by NSEC what the rcode says. */
  readonly denied: boolean;
}

interface NsecFields {
  readonly zone: OnlineSigner;
  readonly types: readonly number[];
  readonly ttl: number;
  readonly signatureOnly: boolean;
}

interface Parts {
  readonly answer: SectionInMessage;
  readonly authority: SectionInMessage;
  readonly additional: SectionInMessage;
}

function readParts({ output, answers, authority, additional }: UnsignedAnswer, from: number): Parts {
  const answer = readSection(output, from, answers);
  const authorities = readSection(output, answer.end, authority);
  return { answer, authority: authorities, additional: readSection(output, authorities.end, additional) };
}

function signerOf(owner: Name, type: number, context: SigningContext): OnlineSigner | undefined {
  const signer = context.signerOf(owner, type);
  return signer instanceof OnlineSigner ? signer : undefined;
}

/** The signed zone that a negative answer is from. */
function denierOf(
  { outcome }: UnsignedAnswer,
  parts: Parts,
  context: SigningContext,
): OnlineSigner | undefined {
  if (outcome !== "nodata" && outcome !== "nxdomain") return undefined;
  const soa = parts.authority.sets.find((set) => set.type === typeSoa);
  return soa === undefined ? undefined : signerOf(soa.owner, typeSoa, context);
}

/** RFC 9077: the lesser of the SOA's TTL and its minimum, the last field of its rdata. */
function negativeTtl({ origin, recordsAt }: OnlineSigner): number {
  const soa = recordsAt?.(origin, typeSoa);
  const rdata = soa?.rdatas[0];
  if (soa === undefined || rdata === undefined) return 0;
  const minimum = new DataView(rdata.buffer, rdata.byteOffset, rdata.length).getUint32(rdata.length - 4);
  return Math.min(soa.ttl, minimum);
}

/** NSEC and RRSIG are no data of the zone, but every name has them: questions for them have an answer. */
function isAboutSignatures(type: number): boolean {
  return type === typeNsec || type === typeRrsig;
}

/** The types that a name has, or that a wildcard gives it (RFC 9824 §3.3); at a zone cut only what is the parent's. */
function typesOf(zone: OnlineSigner, name: Name): readonly number[] {
  const types = zone.typesAt?.(name);
  if (types === undefined) return wildcardTypes(zone, name);
  const isCut = types.includes(typeNs) && !equalNames(name, zone.origin);
  return isCut ? types.filter((type) => type === typeNs || type === typeDs) : types;
}

function wildcardTypes({ typesAt }: OnlineSigner, name: Name): readonly number[] {
  let encloser = parentName(name);
  while (encloser !== undefined && typesAt?.(encloser) === undefined) encloser = parentName(encloser);
  return (encloser === undefined ? undefined : typesAt?.(Uint8Array.of(1, 0x2a, ...encloser))) ?? [];
}

/** Whether a CNAME was made from a DNAME: nothing else is below one. */
function isSynthesised({ owner: name }: SetInMessage, sets: readonly SetInMessage[]): boolean {
  return sets.some(
    ({ type, owner }) => type === typeDname && name.length > owner.length && isAtOrBelow(name, owner),
  );
}
