import { rcode } from "../message/header.ts";
import {
  typeA,
  typeAaaa,
  typeAny,
  typeCname,
  typeDs,
  typeNs,
  typeNsec,
  typeRrsig,
} from "../message/type-numbers.ts";
import type { LookupName } from "../name/lookup-name.ts";
import { targetsAt } from "../zone/content-reader.ts";
import { questionNameAt } from "../zone/owner-pointer.ts";
import { isHidden, topmostBreak } from "../zone/zone-break.ts";
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
import type { ZoneView } from "../zone/zone-view.ts";
import { AdditionalAddresses } from "./additional-addresses.ts";
import { AliasChain } from "./alias-chain.ts";
import { DnameStep } from "./dname-step.ts";
import type { PublicationLease } from "./publication-lease.ts";
import type { Query } from "./query.ts";
import { responseClass } from "./rate-limit.ts";
import type { Response, Section } from "./response.ts";
import type { ZoneIndex } from "./zone-index.ts";
import { ZonesRead } from "./zones-read.ts";

/** `localtargets-`, which no wildcard stands in for: these names are what a cluster says of itself. */
const localTargets = Uint8Array.from("localtargets-", (character) => character.charCodeAt(0));
/** The first label of the zone in which a cluster says the same for its peers to transfer. */
const viewLabel = Uint8Array.from("_localtargets", (character) => character.charCodeAt(0));

/**
 * Answers a question from zones: RFC 1034 §4.3.2 with RFC 4592 (wildcards), RFC 6672 (DNAME) and RFC 6604 (the rcode is
 * that of the last step). A loop, never recursion; allocates nothing.
 *
 * What it reads may be overwritten meanwhile by the thread that changes zones; whoever runs it asks `read.isCurrent`
 * afterwards, and runs it again if not.
 */
export class Lookup {
  /** The zones that the answer is from. */
  readonly read: ZonesRead = new ZonesRead();
  readonly #zones: ZoneIndex;
  readonly #response: Response;
  readonly #chain: AliasChain;
  readonly #dnames: DnameStep;
  readonly #addresses: AdditionalAddresses;
  readonly #lease: PublicationLease | undefined;
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
    lease,
  }: {
    readonly zones: ZoneIndex;
    readonly response: Response;
    readonly seed: number;
    readonly lease?: PublicationLease | undefined;
  }) {
    this.#lease = lease;
    this.#zones = zones;
    this.#response = response;
    this.#chain = new AliasChain(response, seed);
    this.#dnames = new DnameStep(response, this.#chain);
    this.#addresses = new AdditionalAddresses(response, seed);
  }

  /** Starts an answer: nothing was read for it yet. */
  begin(): void {
    this.read.begin();
    this.limitClass = responseClass.positive;
    this.limitHash = 0;
  }

  /**
   * Writes the answer from one zone, and from those that a chain leads to; false where the zone is not ready, or nobody
   * vouches any more for what a cluster says of itself.
   */
  run(view: ZoneView, query: Query, overTcp: boolean): boolean {
    const response = this.#response;
    const chain = this.#chain;
    chain.begin(query.name);
    this.#dnames.begin();
    this.#type = query.type;
    this.#overTcp = overTcp;
    this.#bySubnet = query.subnetAt >= 0 && query.input[query.subnetAt + 2] !== 0;
    this.limitHash = query.name.hashes[0]!;
    this.read.enter(view);
    if (!view.ready) return false;
    if (isVouchedFor(query.name) && this.#lease?.isOver === true) return false;
    response.authoritative = true;
    let current: ZoneView | undefined = view;
    while (this.#step(current)) {
      response.outcome = "elsewhere";
      response.nameAt = chain.nameAt;
      current = this.#zones.deepest(chain.name, this.#type);
      if (current === undefined) break;
      this.read.enter(current);
      if (!current.ready) break;
    }
    return true;
  }

  /** Looks up one name. True when a CNAME has led to another name, which is then to be looked up. */
  #step(view: ZoneView): boolean {
    const { name, nameAt } = this.#chain;
    const type = this.#type;
    const response = this.#response;
    response.outcome = "data";
    response.nameAt = nameAt;
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
        if ((words[top + nodeWord.info]! & nodeFlag.cut) === 0) return this.#dnames.follow(view, top, type);
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
    return this.#bySubnet && !this.#chain.isAtQuestion && (words[set]! & setFlag.geo) !== 0;
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
      this.#addresses.add(view, written, base);
    return false;
  }

  /**
   * Whether what fits of a set is better than nothing: k8gb asks `localtargets-` names without EDNS, never comes back over
   * TCP, and takes a truncated answer for all there is.
   */
  #isPartOfUse(words: Int32Array, set: number): boolean {
    const type = words[set]! & 0xffff;
    const isAddress = (type === typeA || type === typeAaaa) && (words[set]! & tailored) === 0;
    return isAddress && !this.#overTcp && this.#chain.isAtQuestion && isLocalTargets(this.#chain.name);
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
    const start = (target + 1) * 4;
    return this.#chain.follow(octets, { start, length, at: base + (words[target]! & 0xffff) });
  }

  /** RFC 1034 §4.2.1: the NS set of the cut, without AA, and the addresses below it that nobody else could tell. */
  #refer(view: ZoneView, owner: number): false {
    const response = this.#response;
    const chain = this.#chain;
    const { words } = view;
    response.outcome = "referral";
    this.limitClass = responseClass.referral;
    this.limitHash = words[owner + nodeWord.hash]!;
    if (response.answers === 0) response.authoritative = false;
    response.ownerAt = response.locate(chain.nameAt, chain.labelsAbove(view, owner));
    response.originAt = chain.originAt(view);
    const cut = view.findSet(words[owner + nodeWord.content]!, typeNs);
    const base = cut === 0 ? -1 : response.write(view, cut, "authority");
    if (base < 0) return response.overflow();
    if ((words[response.written]! & setFlag.targets) === 0) return false;
    return this.#addresses.addGlue(view, owner, base) ? false : response.overflow();
  }

  #writeSoa(view: ZoneView, limitClass: number): false {
    const response = this.#response;
    const { words } = view;
    this.limitClass = limitClass;
    this.limitHash = words[words[header.apex]! + nodeWord.hash]!;
    response.originAt = this.#chain.originAt(view);
    response.ownerAt = response.originAt;
    if (response.write(view, words[header.negativeSoa]!, "authority") < 0) return response.overflow();
    return false;
  }

  #write(view: ZoneView, set: number, section: Section): number {
    const response = this.#response;
    const { nameAt } = this.#chain;
    response.ownerAt = nameAt === questionNameAt ? nameAt : response.locate(nameAt, 0);
    if ((view.words[set]! & (setFlag.patched | setFlag.choice)) !== 0)
      response.originAt = this.#chain.originAt(view);
    const base = response.write(view, set, section);
    if (base < 0) response.overflow();
    return base;
  }
}

function isRedirected(type: number): boolean {
  return type !== typeCname && type !== typeAny && type !== typeRrsig && type !== typeNsec;
}

/** Names that are answered only while somebody vouches for them: `localtargets-*`, and the apex of their view. */
function isVouchedFor(name: LookupName): boolean {
  return isLocalTargets(name) || isViewApex(name);
}

function isViewApex({ octets }: LookupName): boolean {
  if (octets[0] !== viewLabel.length) return false;
  for (let index = 0; index < viewLabel.length; index++) {
    if (octets[index + 1] !== viewLabel[index]) return false;
  }
  return true;
}

function isLocalTargets(name: LookupName): boolean {
  if (name.octets[0]! < localTargets.length) return false;
  for (let index = 0; index < localTargets.length; index++) {
    if (name.octets[index + 1] !== localTargets[index]) return false;
  }
  return true;
}
