import { rcode } from "../message/header.ts";
import {
  typeA,
  typeAaaa,
  typeAny,
  typeCname,
  typeDname,
  typeDs,
  typeNs,
  typeNsec,
  typeRrsig,
} from "../message/type-numbers.ts";
import { LookupName } from "../name/lookup-name.ts";
import { nameOctetsMax } from "../name/name.ts";
import { targetsAt } from "../zone/content-reader.ts";
import { questionNameAt } from "../zone/owner-pointer.ts";
import {
  content as contentWord,
  contentFlag,
  header,
  node as nodeWord,
  nodeFlag,
  set as setWord,
  setFlag,
  tailored,
} from "../zone/zone-layout.ts";
import type { ZoneSigner } from "../zone/zone-signer.ts";
import type { ZoneView } from "../zone/zone-view.ts";
import type { Query } from "./query.ts";
import { responseClass } from "./rate-limit.ts";
import type { Response, Section } from "./response.ts";
import type { ZoneIndex } from "./zone-index.ts";

const chainStepsMax = 16;
/** `localtargets-`, which no wildcard stands in for: these names are what a cluster says of itself. */
const localTargets = Uint8Array.from("localtargets-", (character) => character.charCodeAt(0));

/** Names of a chain, each kept once to see that it does not come back. */
const visitedNames = chainStepsMax + 1;
/** More names than that are above no name. */
const ancestorsMax = 128;
/** An answer has room for no more. */
const targetsMax = 8_192;

/**
 * Answers a question from zones: RFC 1034 §4.3.2 with RFC 4592 (wildcards), RFC 6672 (DNAME) and RFC 6604 (the rcode is
 * that of the last step). A loop, never recursion; allocates nothing.
 *
 * What it reads may be overwritten meanwhile by the thread that changes zones; whoever runs it asks `isCurrent` afterwards
 * and runs it again if not.
 */
export class Lookup {
  readonly #zones: ZoneIndex;
  readonly #chained: LookupName;
  readonly #target: LookupName;
  readonly #visited: Uint8Array[] = Array.from({ length: visitedNames }, () => new Uint8Array(nameOctetsMax));
  readonly #visitedLengths: Uint8Array = new Uint8Array(visitedNames);
  readonly #synthesised: Uint8Array = new Uint8Array(2 * nameOctetsMax);
  #visitedCount = 0;
  /** The name looked up now, and where it stands in the answer. */
  #name: LookupName;
  #nameAt = questionNameAt;
  /** DNAMEs in the answer, and their zones. */
  readonly #dnames: Int32Array = new Int32Array(visitedNames);
  readonly #dnameViews: ZoneView[] = [];
  #dnameCount = 0;
  /** The zones that were read; the first `#viewCount` count. */
  readonly #views: ZoneView[] = [];
  #viewCount = 0;
  #last: ZoneView | undefined;
  readonly #response: Response;
  #type = 0;
  #overTcp = false;
  #bySubnet = false;
  /** What the answer is to a rate limit, and the hash of the name that its account is for (`RateLimit`). */
  limitClass: number = responseClass.positive;
  limitHash = 0;

  constructor({
    zones,
    response,
    seed,
  }: {
    readonly zones: ZoneIndex;
    readonly response: Response;
    readonly seed: number;
  }) {
    this.#zones = zones;
    this.#response = response;
    this.#chained = new LookupName(seed);
    this.#target = new LookupName(seed);
    this.#name = this.#chained;
  }

  /** Starts an answer: nothing was read for it yet. */
  begin(): void {
    this.#viewCount = 0;
    this.limitClass = responseClass.positive;
    this.limitHash = 0;
  }

  /** Whether what was read since `begin` is of one generation of each zone. */
  get isCurrent(): boolean {
    for (let index = 0; index < this.#viewCount; index++) if (!this.#views[index]!.isCurrent) return false;
    return true;
  }

  /** The zone that the question is of, if any was read. */
  get firstView(): ZoneView | undefined {
    return this.#viewCount === 0 ? undefined : this.#views[0];
  }

  /** The signer of the zone that the last step was in, else of the first zone that has one. */
  get signer(): ZoneSigner | undefined {
    if (this.#last?.signer !== undefined) return this.#last.signer;
    for (let index = 0; index < this.#viewCount; index++) {
      const { signer } = this.#views[index]!;
      if (signer !== undefined) return signer;
    }
    return undefined;
  }

  /** A signer of the other kind, where the answer is from zones of both. */
  signerBeside({ kind }: ZoneSigner): ZoneSigner | undefined {
    for (let index = 0; index < this.#viewCount; index++) {
      const { signer } = this.#views[index]!;
      if (signer !== undefined && signer.kind !== kind) return signer;
    }
    return undefined;
  }

  /** Writes the answer from one zone, and from those that a chain leads to; false where the zone is not ready. */
  run(view: ZoneView, query: Query, overTcp: boolean): boolean {
    const response = this.#response;
    this.#name = query.name;
    this.#nameAt = questionNameAt;
    this.#type = query.type;
    this.#overTcp = overTcp;
    this.#bySubnet = query.subnetAt >= 0 && query.input[query.subnetAt + 2] !== 0;
    this.#visitedCount = 0;
    this.#dnameCount = 0;
    this.limitHash = query.name.hashes[0]!;
    this.#enter(view);
    this.#last = view;
    if (!view.ready) return false;
    response.authoritative = true;
    let current: ZoneView | undefined = view;
    while (this.#step(current)) {
      response.outcome = "elsewhere";
      response.nameAt = this.#nameAt;
      current = this.#zones.deepest(this.#name, this.#type);
      if (current === undefined) break;
      this.#enter(current);
      this.#last = current;
      if (!current.ready) break;
    }
    return true;
  }

  /** Starts reading a zone, unless this answer did already. */
  #enter(view: ZoneView): void {
    for (let index = 0; index < this.#viewCount; index++) if (this.#views[index] === view) return;
    view.begin();
    this.#views[this.#viewCount++] = view;
  }

  /** Looks up one name. True when a CNAME has led to another name, which is then to be looked up. */
  #step(view: ZoneView): boolean {
    const name = this.#name;
    const type = this.#type;
    const response = this.#response;
    response.outcome = "data";
    response.nameAt = this.#nameAt;
    const { words } = view;
    let node = view.find(name, 0);
    let encloser = node;
    // The apex is always found: the zone was chosen because the name is in it.
    for (let label = 1; encloser === 0 && label <= name.labels; label++) encloser = view.find(name, label);
    if (words[header.breaks]! > 0) {
      if (isHidden(words, encloser)) {
        node = 0;
        encloser = words[encloser + nodeWord.parent]!;
      }
      const top = topmostBreak(words, encloser, node);
      if (top !== 0) {
        if ((words[top + nodeWord.info]! & nodeFlag.cut) === 0) return this.#followDname(view, top);
        // The parent side owns the DS set at a cut (RFC 4035 §3.1.4.1); all else there is the child's.
        if (top !== node || type !== typeDs) return this.#refer(view, top);
      }
    }
    let source = node;
    if (source === 0) {
      source = words[encloser + nodeWord.wildcard]!;
      if (source === 0 || (isLocalTargets(name) && words[header.presigned] === 0)) {
        response.rcode = rcode.nxDomain;
        response.outcome = "nxdomain";
        return this.#writeSoa(view, responseClass.nxdomain);
      }
      this.limitClass = responseClass.wildcard;
      this.limitHash = words[source + nodeWord.hash]!;
    }
    const content = words[source + nodeWord.content]!;
    if (content === 0) return this.#answerNoData(view);
    const info = words[content + contentWord.info]!;
    if ((info & contentFlag.cname) !== 0 && isRedirected(type))
      return this.#followCname(view, view.findSet(content, typeCname));
    if (type === typeAny) return this.#answerAny(view, content);
    const set = view.findSet(content, type);
    return set === 0 ? this.#answerNoData(view) : this.#answer(view, set);
  }

  /**
   * Whether a set behind an alias is to be asked for on its own: it is chosen by the client's subnet, and the scope of such
   * an answer would be taken for the alias's, too (RFC 7871 §7.2.1 advises to leave such chains to the resolver).
   */
  #isForOthers(words: Int32Array, set: number): boolean {
    return this.#bySubnet && this.#nameAt !== questionNameAt && (words[set]! & setFlag.geo) !== 0;
  }

  #answerNoData(view: ZoneView): false {
    this.#response.outcome = "nodata";
    return this.#writeSoa(view, responseClass.nodata);
  }

  #answer(view: ZoneView, set: number): false {
    if (this.#isForOthers(view.words, set)) {
      this.#response.outcome = "elsewhere";
      return false;
    }
    const base = this.#write(view, set, "answer");
    if (base < 0) {
      if (this.#isPartOfUse(view.words, set)) this.#response.writePart(view, set);
      return false;
    }
    const { written } = this.#response;
    if ((view.words[written]! & setFlag.targets) !== 0 && this.#type !== typeCname)
      this.#addAddresses(view, written, base);
    return false;
  }

  /**
   * Whether what fits of a set is better than nothing: k8gb asks `localtargets-` names without EDNS, never comes back over
   * TCP, and takes a truncated answer for all there is.
   */
  #isPartOfUse(words: Int32Array, set: number): boolean {
    const type = words[set]! & 0xffff;
    const isAddress = (type === typeA || type === typeAaaa) && (words[set]! & tailored) === 0;
    return isAddress && !this.#overTcp && this.#nameAt === questionNameAt && isLocalTargets(this.#name);
  }

  /** RFC 8482: over UDP the smallest set, so that ANY is no amplifier; over TCP all. */
  #answerAny(view: ZoneView, content: number): false {
    const { words } = view;
    const count = words[content + contentWord.info]! & 0xffff;
    let smallest = 0;
    let at = content + contentWord.sets;
    for (let index = 0; index < count; index++) {
      const extent = words[at + setWord.extent]!;
      if (extent >>> 16 !== 0) {
        if (this.#overTcp) this.#write(view, at, "answer");
        if (smallest === 0 || (extent & 0xffff) < (words[smallest + setWord.extent]! & 0xffff)) smallest = at;
      }
      at += words[at + setWord.size]!;
    }
    if (smallest === 0) return this.#answerNoData(view);
    if (!this.#overTcp) this.#write(view, smallest, "answer");
    return false;
  }

  #followCname(view: ZoneView, cname: number): boolean {
    if (cname === 0) return false;
    const base = this.#write(view, cname, "answer");
    const { words, octets } = view;
    // A tailored CNAME has no known target: what follows would not hold for the same clients (RFC 7871 §7.2.1).
    if (base < 0 || (words[cname]! & setFlag.targets) === 0) return false;
    const target = targetsAt(words, cname) + 1;
    const length = words[target]! >>> 16;
    this.#remember();
    if (this.#visitedCount > chainStepsMax) return false;
    const start = (target + 1) * 4;
    return this.#goOn(octets, { start, length, at: base + (words[target]! & 0xffff) });
  }

  /** RFC 6672 §3: the DNAME, a CNAME made from it, and on to that one's target. */
  #followDname(view: ZoneView, owner: number): boolean {
    const response = this.#response;
    const { words, octets } = view;
    const dname = view.findSet(words[owner + nodeWord.content]!, typeDname);
    if (dname === 0) return false;
    const labels = this.#labelsAbove(view, owner);
    if (!this.#isRepeated(view, owner)) {
      response.ownerAt = response.locate(this.#nameAt, labels);
      response.originAt = this.#originAt(view);
      if (response.write(view, dname, "answer") < 0) return this.#overflow();
    }
    const target = targetsAt(words, dname) + 1;
    const targetLength = words[target]! >>> 16;
    const synthesised = this.#synthesised;
    const length = this.#copyLabels(labels);
    const total = length + targetLength;
    if (total > nameOctetsMax) {
      response.rcode = rcode.yxDomain;
      return false;
    }
    for (let index = 0; index < targetLength; index++)
      synthesised[length + index] = octets[(target + 1) * 4 + index]!;
    const rdataAt = this.#writeCname(words[dname + setWord.ttl]!, total);
    if (rdataAt < 0) return this.#overflow();
    if (this.#type === typeCname || this.#type === typeAny) return false;
    this.#remember();
    if (this.#visitedCount > chainStepsMax) return false;
    return this.#goOn(synthesised, { start: 0, length: total, at: rdataAt });
  }

  /** Whether the answer has this DNAME already; else it will. */
  #isRepeated(view: ZoneView, owner: number): boolean {
    for (let index = 0; index < this.#dnameCount; index++)
      if (this.#dnames[index] === owner && this.#dnameViews[index] === view) return true;
    this.#dnames[this.#dnameCount] = owner;
    this.#dnameViews[this.#dnameCount++] = view;
    return false;
  }

  /** Writes a CNAME from the name looked up to `#synthesised`; where its rdata starts, or -1. */
  #writeCname(ttl: number, length: number): number {
    const response = this.#response;
    const { output } = response;
    const { at } = response;
    if (at + 12 + length > response.limit) return -1;
    const owner = 0xc000 | response.locate(this.#nameAt, 0);
    output[at] = owner >>> 8;
    output[at + 1] = owner;
    output[at + 2] = 0;
    output[at + 3] = typeCname;
    output[at + 4] = 0;
    output[at + 5] = 1;
    output[at + 6] = ttl >>> 24;
    output[at + 7] = ttl >>> 16;
    output[at + 8] = ttl >>> 8;
    output[at + 9] = ttl;
    output[at + 10] = length >>> 8;
    output[at + 11] = length;
    for (let index = 0; index < length; index++) output[at + 12 + index] = this.#synthesised[index]!;
    response.at = at + 12 + length;
    response.answers++;
    return at + 12;
  }

  /** Copies the first labels of the name looked up, in the case that it has in the answer. */
  #copyLabels(labels: number): number {
    const { output } = this.#response;
    let length = 0;
    for (let label = 0; label < labels; label++) {
      const at = this.#response.locate(this.#nameAt, label);
      for (let index = 0; index <= output[at]!; index++) this.#synthesised[length++] = output[at + index]!;
    }
    return length;
  }

  /** RFC 1034 §4.2.1: the NS set of the cut, without AA, and the addresses below it that nobody else could tell. */
  #refer(view: ZoneView, owner: number): false {
    const response = this.#response;
    const { words } = view;
    response.outcome = "referral";
    this.limitClass = responseClass.referral;
    this.limitHash = words[owner + nodeWord.hash]!;
    if (response.answers === 0) response.authoritative = false;
    response.ownerAt = response.locate(this.#nameAt, this.#labelsAbove(view, owner));
    response.originAt = this.#originAt(view);
    const cut = view.findSet(words[owner + nodeWord.content]!, typeNs);
    const base = cut === 0 ? -1 : response.write(view, cut, "authority");
    if (base < 0) return this.#overflow();
    if ((words[response.written]! & setFlag.targets) === 0) return false;
    // RFC 9471 §2: glue of names below the cut is required, so all of it fits or the answer is truncated.
    if (!this.#writeGlue(view, { owner, base, isRequired: true })) return this.#overflow();
    this.#writeGlue(view, { owner, base, isRequired: false });
    return false;
  }

  /** Writes the addresses of name servers below the cut, or of those elsewhere in the zone; false where some do not fit. */
  #writeGlue(
    view: ZoneView,
    {
      owner,
      base,
      isRequired,
    }: { readonly owner: number; readonly base: number; readonly isRequired: boolean },
  ): boolean {
    const { words } = view;
    const target = this.#target;
    let at = targetsAt(words, this.#response.written);
    let isWhole = true;
    const count = Math.min(words[at++]!, targetsMax);
    const written = this.#response.written;
    for (let index = 0; index < count; index++) {
      const nameAt = base + (words[at]! & 0xffff);
      at = this.#readTarget(view, at);
      if (view.isAbove(owner, target) !== isRequired || !isInZone(view, target)) continue;
      if (!this.#writeAddresses(view, nameAt)) isWhole = false;
      if (!isWhole && isRequired) return false;
    }
    this.#response.written = written;
    return isWhole;
  }

  /** Addresses of the names in the answer's rdata, where they are in the zone and fit. */
  #addAddresses(view: ZoneView, set: number, base: number): void {
    const { words } = view;
    const target = this.#target;
    let at = targetsAt(words, set);
    const count = Math.min(words[at++]!, targetsMax);
    for (let index = 0; index < count; index++) {
      const nameAt = base + (words[at]! & 0xffff);
      at = this.#readTarget(view, at);
      if (!isInZone(view, target)) continue;
      const node = view.find(target, 0);
      if (node === 0 || (words[header.breaks]! > 0 && topmostBreak(words, node, 0) !== 0)) continue;
      if (!this.#writeAddresses(view, nameAt)) return;
    }
  }

  /** Reads one target of a set into `#target`, and returns the place of the next. */
  #readTarget(view: ZoneView, at: number): number {
    const length = view.words[at]! >>> 16;
    const start = (at + 1) * 4;
    this.#target.read(view.octets, start, start + length);
    return at + 1 + ((length + 3) >>> 2);
  }

  /** Writes the A and AAAA sets of `#target`, which stands at `nameAt`; false, and nothing written, when they do not fit. */
  #writeAddresses(view: ZoneView, nameAt: number): boolean {
    const response = this.#response;
    const { words } = view;
    const node = view.find(this.#target, 0);
    const owner = response.locate(nameAt, 0);
    if (node === 0) return true;
    const content = words[node + nodeWord.content]!;
    if (content === 0) return true;
    // What stands further back cannot be pointed at, and is written out below.
    const isPointable = owner < 0x4000;
    response.ownerAt = isPointable ? owner : questionNameAt;
    const { at, additional } = response;
    const first = view.findSet(content, typeA);
    const second = view.findSet(content, typeAaaa);
    const isWritten =
      (first === 0 || response.write(view, first, "additional") >= 0) &&
      (second === 0 || response.write(view, second, "additional") >= 0) &&
      (isPointable || response.spellOwners(at, owner));
    if (isWritten) return true;
    response.at = at;
    response.additional = additional;
    return false;
  }

  #writeSoa(view: ZoneView, limitClass: number): false {
    const response = this.#response;
    const { words } = view;
    this.limitClass = limitClass;
    this.limitHash = words[words[header.apex]! + nodeWord.hash]!;
    response.originAt = this.#originAt(view);
    response.ownerAt = response.originAt;
    if (response.write(view, words[header.negativeSoa]!, "authority") < 0) return this.#overflow();
    return false;
  }

  #write(view: ZoneView, set: number, section: Section): number {
    const response = this.#response;
    const nameAt = this.#nameAt;
    response.ownerAt = nameAt === questionNameAt ? nameAt : response.locate(nameAt, 0);
    if ((view.words[set]! & (setFlag.patched | setFlag.choice)) !== 0)
      response.originAt = this.#originAt(view);
    const base = response.write(view, set, section);
    if (base < 0) this.#overflow();
    return base;
  }

  #originAt(view: ZoneView): number {
    const labels = this.#name.labels - view.originLabels;
    if (this.#nameAt === questionNameAt) return questionNameAt + this.#name.starts[labels]!;
    return this.#response.locate(this.#nameAt, labels);
  }

  /** How many labels the name looked up has above a node that is one of its ancestors. */
  #labelsAbove(view: ZoneView, ancestor: number): number {
    const start = this.#name.length - (view.words[ancestor + nodeWord.info]! & 0xff);
    let label = 0;
    while (label < this.#name.labels && this.#name.starts[label]! < start) label++;
    return label;
  }

  #overflow(): false {
    this.#response.truncated = true;
    return false;
  }

  #remember(): void {
    const index = this.#visitedCount++;
    this.#visited[index]!.set(this.#name.octets.subarray(0, this.#name.length));
    this.#visitedLengths[index] = this.#name.length;
  }

  /** Moves on to the target of a CNAME, which stands at `at` in the answer; false where the chain comes back to itself. */
  #goOn(
    octets: Uint8Array,
    { start, length, at }: { readonly start: number; readonly length: number; readonly at: number },
  ): boolean {
    this.#chained.read(octets, start, start + length);
    this.#name = this.#chained;
    this.#nameAt = at;
    for (let earlier = 0; earlier < this.#visitedCount; earlier++) if (this.#isVisited(earlier)) return false;
    return true;
  }

  #isVisited(index: number): boolean {
    const { octets, length } = this.#name;
    if (this.#visitedLengths[index] !== length) return false;
    const visited = this.#visited[index]!;
    for (let at = 0; at < length; at++) if (visited[at] !== octets[at]) return false;
    return true;
  }
}

/** The zone cut or DNAME nearest to the apex, at or above a node, or 0; a DNAME does not apply to its own owner. */
function topmostBreak(words: Int32Array, from: number, exact: number): number {
  let top = 0;
  let node = from;
  for (let steps = 0; node !== 0 && steps < ancestorsMax; steps++) {
    const info = words[node + nodeWord.info]!;
    if ((info & nodeFlag.cut) !== 0 || ((info & nodeFlag.dname) !== 0 && node !== exact)) top = node;
    node = words[node + nodeWord.parent]!;
  }
  return top;
}

/** Whether a node owns nothing but NSEC3 and its signatures, and nothing is below it (RFC 5155 §7.2.8). */
function isHidden(words: Int32Array, node: number): boolean {
  return (words[node + nodeWord.info]! & nodeFlag.hidden) !== 0 && words[node + nodeWord.children] === 0;
}

function isInZone(view: ZoneView, name: LookupName): boolean {
  return view.isAbove(view.words[header.apex]!, name);
}

function isRedirected(type: number): boolean {
  return type !== typeCname && type !== typeAny && type !== typeRrsig && type !== typeNsec;
}

function isLocalTargets(name: LookupName): boolean {
  if (name.octets[0]! < localTargets.length) return false;
  for (let index = 0; index < localTargets.length; index++) {
    if (name.octets[index + 1] !== localTargets[index]) return false;
  }
  return true;
}
