import { typeA, typeAaaa, typeAny, typeCname, typeDs, typeNsec, typeRrsig } from "../message/type-numbers.ts";
import { LookupName } from "../name/lookup-name.ts";
import { isAtOrBelow, nameOctetsMax, type Name } from "../name/name.ts";
import { questionNameAt, type CompiledSet } from "../zone/compiled-set.ts";
import type { ZoneNode } from "../zone/zone-node.ts";
import type { AnswerOutcome } from "../zone/zone-signer.ts";
import type { ZoneTree } from "../zone/zone-tree.ts";
import type { Query } from "./query.ts";
import type { Response, Section } from "./response.ts";
import type { ZoneIndex } from "./zone-index.ts";

const rcodeNxdomain = 3;
const rcodeYxdomain = 6;
const chainStepsMax = 16;
/** `localtargets-`, which no wildcard stands in for: these names are what a cluster says of itself. */
const localTargets = Uint8Array.from("localtargets-", (character) => character.charCodeAt(0));

/** Names of a chain, each kept once to see that it does not come back. */
const visitedNames = chainStepsMax + 1;

/**
 * Answers a question from zones: RFC 1034 §4.3.2 with RFC 4592 (wildcards), RFC 6672 (DNAME) and RFC 6604 (the rcode is
 * that of the last step). A loop, never recursion; allocates nothing.
 */
export class Lookup {
  /** The zone of the last step. */
  last: ZoneTree | undefined;
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
  #dnames: ZoneNode[] = [];
  readonly #response: Response;
  #type = 0;
  #overTcp = false;

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

  /** Writes the answer from one zone, and from those that a chain leads to. */
  run(tree: ZoneTree, query: Query, overTcp: boolean): void {
    const response = this.#response;
    this.#name = query.name;
    this.#nameAt = questionNameAt;
    this.#type = query.type;
    this.#overTcp = overTcp;
    this.#visitedCount = 0;
    if (this.#dnames.length > 0) this.#dnames = [];
    response.authoritative = true;
    let current: ZoneTree | undefined = tree;
    while (current?.ready === true) {
      this.last = current;
      if (!this.#step(current)) break;
      current = this.#zones.deepest(this.#name, this.#type);
      if (current?.ready !== true) response.outcome = "elsewhere";
    }
    response.nameAt = this.#nameAt;
    response.written = undefined;
  }

  /** Looks up one name. True when a CNAME has led to another name, which is then to be looked up. */
  #step(tree: ZoneTree): boolean {
    const name = this.#name;
    const type = this.#type;
    const { table } = tree;
    const node = table.find(name, 0);
    let encloser = node;
    // The apex is always found: the zone was chosen because the name is in it.
    for (let label = 1; encloser === undefined; label++) encloser = table.find(name, label);
    if (tree.breaks > 0) {
      const top = topmostBreak(encloser, node);
      if (top !== undefined && top.cut === undefined) return this.#followDname(tree, top);
      // The parent side owns the DS set at a cut (RFC 4035 §3.1.4.1); all else there is the child's.
      if (top !== undefined && !(top === node && type === typeDs)) return this.#refer(tree, top);
    }
    let source = node;
    if (source === undefined) {
      source = encloser.wildcard;
      if (source === undefined || isLocalTargets(name)) {
        this.#response.rcode = rcodeNxdomain;
        return this.#writeSoa(tree, "nxdomain");
      }
    }
    const { cname } = source;
    if (cname !== undefined && isRedirected(type)) return this.#followCname(tree, cname);
    if (type === typeAny) return this.#answerAny(tree, source);
    const { sets } = source;
    for (let index = 0; index < sets.length; index++) {
      const set = sets[index]!;
      if (set.type === type) return this.#answer(tree, set);
    }
    return this.#writeSoa(tree);
  }

  #answer(tree: ZoneTree, set: CompiledSet): false {
    const base = this.#write(tree, set, "answer");
    if (base < 0) {
      if (this.#isPartOfUse(set)) this.#response.writePart(set);
      return false;
    }
    const written = this.#response.written!;
    if (written.targets.length > 0 && set.type !== typeCname) this.#addAddresses(tree, written, base);
    return false;
  }

  /**
   * Whether what fits of a set is better than nothing: k8gb asks `localtargets-` names without EDNS, never comes back over
   * TCP, and takes a truncated answer for all there is.
   */
  #isPartOfUse(set: CompiledSet): boolean {
    const isAddress = set.type === typeA || set.type === typeAaaa;
    return isAddress && !this.#overTcp && this.#nameAt === questionNameAt && isLocalTargets(this.#name);
  }

  /** RFC 8482: over UDP the smallest set, so that ANY is no amplifier; over TCP all. */
  #answerAny(tree: ZoneTree, source: ZoneNode): false {
    const { sets } = source;
    if (sets.length === 0) return this.#writeSoa(tree);
    if (this.#overTcp) {
      for (const set of sets) this.#write(tree, set, "answer");
      return false;
    }
    let smallest = sets[0]!;
    for (const set of sets) if (set.body.length < smallest.body.length) smallest = set;
    this.#write(tree, smallest, "answer");
    return false;
  }

  #followCname(tree: ZoneTree, cname: CompiledSet): boolean {
    const base = this.#write(tree, cname, "answer");
    if (base < 0) return false;
    const target = this.#response.written!.targets[0]!;
    return this.#goOn(target.name, target.name.length, base + target.at);
  }

  /** RFC 6672 §3: the DNAME, a CNAME made from it, and on to that one's target. */
  #followDname(tree: ZoneTree, owner: ZoneNode): boolean {
    const response = this.#response;
    const dname = owner.dname!;
    const labels = this.#labelsAbove(owner.name);
    if (!this.#dnames.includes(owner)) {
      this.#dnames.push(owner);
      response.ownerAt = response.locate(this.#nameAt, labels);
      response.originAt = this.#originAt(tree);
      if (response.write(dname, "answer") < 0) return this.#overflow();
    }
    const target = dname.targets[0]!.name;
    const synthesised = this.#synthesised;
    const length = this.#copyLabels(labels);
    synthesised.set(target, length);
    const total = length + target.length;
    if (total > nameOctetsMax) {
      response.rcode = rcodeYxdomain;
      return false;
    }
    const rdataAt = this.#writeCname(dname.ttl, total);
    if (rdataAt < 0) return this.#overflow();
    if (this.#type === typeCname || this.#type === typeAny) return false;
    return this.#goOn(synthesised, total, rdataAt);
  }

  /** Writes a CNAME from the name looked up to `#synthesised`; where its rdata starts, or -1. */
  #writeCname(ttl: number, length: number): number {
    const response = this.#response;
    const { output } = response;
    let { at } = response;
    if (at + 12 + length > response.limit) return -1;
    const owner = 0xc000 | response.locate(this.#nameAt, 0);
    for (const half of [owner, typeCname, 1, ttl >>> 16, ttl & 0xffff, length]) {
      output[at++] = half >>> 8;
      output[at++] = half;
    }
    for (let index = 0; index < length; index++) output[at + index] = this.#synthesised[index]!;
    response.at = at + length;
    response.answers++;
    return at;
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
  #refer(tree: ZoneTree, owner: ZoneNode): false {
    const response = this.#response;
    if (response.answers === 0) response.authoritative = false;
    response.outcome = "referral";
    response.ownerAt = response.locate(this.#nameAt, this.#labelsAbove(owner.name));
    response.originAt = this.#originAt(tree);
    const base = response.write(owner.cut!, "authority");
    if (base < 0) return this.#overflow();
    const { targets } = response.written!;
    // RFC 9471 §2: glue of names below the cut is required, so all of it fits or the answer is truncated.
    for (const target of targets) {
      if (
        isAtOrBelow(target.name, owner.name) &&
        !this.#writeAddresses(tree, target.name, base + target.at)
      ) {
        return this.#overflow();
      }
    }
    for (const target of targets) {
      if (isAtOrBelow(target.name, owner.name)) continue;
      if (isAtOrBelow(target.name, tree.origin)) this.#writeAddresses(tree, target.name, base + target.at);
    }
    return false;
  }

  /** Addresses of the names in the answer's rdata, where they are in the zone and fit. */
  #addAddresses(tree: ZoneTree, set: CompiledSet, base: number): void {
    for (const target of set.targets) {
      if (!isAtOrBelow(target.name, tree.origin)) continue;
      this.#target.set(target.name);
      const node = tree.table.find(this.#target, 0);
      if (node === undefined || topmostBreak(node, undefined) !== undefined) continue;
      if (!this.#writeAddresses(tree, target.name, base + target.at)) return;
    }
  }

  /** Writes the A and AAAA sets of a name that stands at `nameAt`; false, and nothing written, when they do not fit. */
  #writeAddresses(tree: ZoneTree, name: Name, nameAt: number): boolean {
    const response = this.#response;
    this.#target.set(name);
    const node = tree.table.find(this.#target, 0);
    const owner = response.locate(nameAt, 0);
    if (node === undefined) return true;
    if (owner >= 0x4000) return false;
    response.ownerAt = owner;
    const { at, additional } = response;
    for (const set of node.sets) {
      if (set.type !== typeA && set.type !== typeAaaa) continue;
      if (response.write(set, "additional") >= 0) continue;
      response.at = at;
      response.additional = additional;
      return false;
    }
    return true;
  }

  #writeSoa(tree: ZoneTree, outcome: AnswerOutcome = "nodata"): false {
    const response = this.#response;
    response.outcome = outcome;
    response.originAt = this.#originAt(tree);
    response.ownerAt = response.originAt;
    if (response.write(tree.negativeSoa, "authority") < 0) return this.#overflow();
    return false;
  }

  #write(tree: ZoneTree, set: CompiledSet, section: Section): number {
    const response = this.#response;
    const nameAt = this.#nameAt;
    response.ownerAt = nameAt === questionNameAt ? nameAt : response.locate(nameAt, 0);
    if (set.patched || set.choice !== undefined) response.originAt = this.#originAt(tree);
    const base = response.write(set, section);
    if (base < 0) this.#overflow();
    return base;
  }

  #originAt(tree: ZoneTree): number {
    const labels = this.#name.labels - tree.originLabels;
    if (this.#nameAt === questionNameAt) return questionNameAt + this.#name.starts[labels]!;
    return this.#response.locate(this.#nameAt, labels);
  }

  /** How many labels the name looked up has above one of its ancestors. */
  #labelsAbove(ancestor: Name): number {
    const start = this.#name.length - ancestor.length;
    let label = 0;
    while (this.#name.starts[label]! < start) label++;
    return label;
  }

  #overflow(): false {
    this.#response.truncated = true;
    return false;
  }

  /** Moves on to the target of a CNAME; false at the end of a chain that is too long or comes back to itself. */
  #goOn(target: Uint8Array, length: number, at: number): boolean {
    const index = this.#visitedCount++;
    this.#visited[index]!.set(this.#name.octets.subarray(0, this.#name.length));
    this.#visitedLengths[index] = this.#name.length;
    if (this.#visitedCount > chainStepsMax) return false;
    this.#chained.read(target, 0, length);
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

/** The zone cut or DNAME nearest to the apex, at or above a node; a DNAME does not apply to its own owner. */
function topmostBreak(from: ZoneNode, exact: ZoneNode | undefined): ZoneNode | undefined {
  let top: ZoneNode | undefined;
  for (let node: ZoneNode | undefined = from; node !== undefined; node = node.parent) {
    if (node.cut !== undefined || (node.dname !== undefined && node !== exact)) top = node;
  }
  return top;
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
