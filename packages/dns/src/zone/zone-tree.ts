import { typeCname, typeDname, typeNs } from "../message/type-numbers.ts";
import { LookupName } from "../name/lookup-name.ts";
import { countLabels, isWildcardName, parentName, type Name } from "../name/name.ts";
import type { CompiledSet } from "./compiled-set.ts";
import { NameTable } from "./name-table.ts";
import type { RecordSet } from "./record-set.ts";
import { ZoneNode } from "./zone-node.ts";
import type { ZoneSigner } from "./zone-signer.ts";

/** What an owner is to have. */
export interface OwnerContent {
  readonly name: Name;
  readonly given: readonly RecordSet[];
  readonly sets: readonly CompiledSet[];
}

/**
 * The nodes of a zone by name. Every ancestor of an owner up to the apex is a node, so that empty non-terminals exist
 * (RFC 8020) and the closest encloser is the first suffix found.
 */
export class ZoneTree {
  readonly origin: Name;
  readonly originLabels: number;
  readonly apex: ZoneNode;
  soa: CompiledSet;
  /** The SOA as it is in negative answers: TTL min(own TTL, minimum), RFC 2308 §3. */
  negativeSoa: CompiledSet;
  ready: boolean;
  /** Signs the answers to questions with DO. */
  signing: ZoneSigner | undefined;
  /** The authority whose seed the names are hashed with. */
  servedBy: object | undefined;
  /** How many nodes are zone cuts or own a DNAME; where there is none, lookups need not walk up. */
  breaks = 0;
  table: NameTable<ZoneNode> = new NameTable();
  #apexSets: readonly CompiledSet[] = [];
  #lookup: LookupName = new LookupName(0);

  constructor(
    origin: Name,
    fixed: { readonly soa: CompiledSet; readonly negativeSoa: CompiledSet; readonly ready: boolean },
  ) {
    this.origin = origin;
    this.originLabels = countLabels(origin);
    this.soa = fixed.soa;
    this.negativeSoa = fixed.negativeSoa;
    this.ready = fixed.ready;
    this.apex = new ZoneNode(origin, undefined);
    this.#insert(this.apex);
  }

  /** Hashes all names anew under another seed, the one that questions are hashed with. */
  reseed(seed: number): void {
    const nodes = [...this.table.values()];
    this.#lookup = new LookupName(seed);
    this.table = new NameTable();
    for (const node of nodes) this.#insert(node);
  }

  /** The SOA and NS sets of the apex, which come before what is put there. */
  setApexSets(sets: readonly CompiledSet[]): void {
    const rest = this.apex.sets.slice(this.#apexSets.length);
    this.#apexSets = sets;
    this.apex.sets = [...sets, ...rest];
  }

  find(name: Name): ZoneNode | undefined {
    this.#lookup.set(name);
    return this.table.find(this.#lookup, 0);
  }

  /** Replaces everything at one owner. Costs the same in a zone of ten and of a million names. */
  put({ name, given, sets }: OwnerContent): void {
    const node = given.length > 0 ? this.#ensure(name) : this.find(name);
    if (node === undefined) return;
    const broke = isBreak(node);
    node.given = given;
    node.cname = sets.find((set) => set.type === typeCname);
    node.dname = sets.find((set) => set.type === typeDname);
    if (node === this.apex) {
      node.sets = [...this.#apexSets, ...sets];
    } else {
      node.sets = sets;
      node.cut = sets.find((set) => set.type === typeNs);
    }
    this.breaks += Number(isBreak(node)) - Number(broke);
    this.#prune(node);
  }

  #ensure(name: Name): ZoneNode {
    const missing: Name[] = [];
    let at: Name = name;
    let node = this.find(at);
    while (node === undefined) {
      missing.push(at);
      // The caller has checked that the name is in the zone, and the apex always exists.
      at = parentName(at)!;
      node = this.find(at);
    }
    for (const below of missing.reverse()) {
      const child: ZoneNode = new ZoneNode(below.slice(), node);
      node.children++;
      if (isWildcardName(below)) node.wildcard = child;
      this.#insert(child);
      node = child;
    }
    return node;
  }

  #prune(from: ZoneNode): void {
    let node = from;
    while (node.parent !== undefined && node.children === 0 && node.given.length === 0) {
      this.table.remove(node);
      node.parent.children--;
      if (node.parent.wildcard === node) node.parent.wildcard = undefined;
      node = node.parent;
    }
  }

  #insert(node: ZoneNode): void {
    this.#lookup.set(node.name);
    this.table.add(node, this.#lookup.hashes[0]!);
  }
}

function isBreak(node: ZoneNode): boolean {
  return node.cut !== undefined || node.dname !== undefined;
}
