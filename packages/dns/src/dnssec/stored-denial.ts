import { typeNsec, typeNsec3, typeNsec3Param } from "../message/type-numbers.ts";
import { parentName, type Name } from "../name/name.ts";
import { precedingPlace } from "../zone/denial-index.ts";
import { header, node as nodeWord, nodeFlag } from "../zone/zone-layout.ts";
import type { ZoneView } from "../zone/zone-view.ts";
import { isOfChain, nsec3Owner, readNsec3Parameters, type Nsec3Parameters } from "./nsec3-hash.ts";

/** While a chain is replaced, the nodes of the former stand between those of the present one. */
const foreignNodesMax = 1_000;

/** Finds in a zone that was signed elsewhere which of its NSEC or NSEC3 prove what is not there. Names are in lower case. */
export class StoredDenial {
  readonly #view: ZoneView;

  constructor(view: ZoneView) {
    this.#view = view;
  }

  /** The node of a name as those see it who ask, or 0: what owns NSEC3 only is no name of the zone. */
  nodeOf(name: Name): number {
    const node = this.#view.findName(name);
    const { words } = this.#view;
    const isHidden =
      (words[node + nodeWord.info]! & nodeFlag.hidden) !== 0 && words[node + nodeWord.children] === 0;
    return isHidden ? 0 : node;
  }

  /** What stands above a name that is not there: the closest encloser, and the name below it that leads to ours. */
  enclosureOf(name: Name): Enclosure | undefined {
    let closer = name;
    for (let at = parentName(name); at !== undefined; at = parentName(at)) {
      if (this.nodeOf(at) !== 0) return { encloser: at, closer };
      closer = at;
    }
    return undefined;
  }

  /** The owners of what proves that a name has no such type (RFC 4035 §3.1.3.1 and 4, RFC 5155 §7.2.3 to 5, 7). */
  noData(name: Name): readonly number[] {
    const chain = this.#hashed();
    const exists = this.nodeOf(name) !== 0;
    const enclosure = this.enclosureOf(name);
    if (chain === undefined) {
      if (exists || enclosure === undefined) return this.#owners(this.#covering(name));
      return this.#owners(this.#covering(name), this.#covering(wildcardOf(enclosure)));
    }
    if (exists) {
      const own = this.#matching(name, chain);
      return own === 0 ? this.#optedOut(name, chain) : [own];
    }
    if (enclosure === undefined) return [];
    return this.#owners(
      this.#matching(enclosure.encloser, chain),
      this.#hashCovering(enclosure.closer, chain),
      this.#matching(wildcardOf(enclosure), chain),
    );
  }

  /** The owners of what proves that neither a name nor a wildcard for it is there (RFC 4035 §3.1.3.2, RFC 5155 §7.2.2). */
  noName(name: Name): readonly number[] {
    const chain = this.#hashed();
    if (chain === undefined) {
      const enclosure = this.enclosureOf(name);
      const wildcard = enclosure === undefined ? 0 : this.#covering(wildcardOf(enclosure));
      return this.#owners(this.#covering(name), wildcard);
    }
    const enclosure = this.#provable(name, chain);
    if (enclosure === undefined) return [];
    return this.#owners(
      this.#matching(enclosure.encloser, chain),
      this.#hashCovering(enclosure.closer, chain),
      this.#hashCovering(wildcardOf(enclosure), chain),
    );
  }

  /** The owners of what proves that a wildcard may stand in for a name (RFC 4035 §3.1.3.3, RFC 5155 §7.2.6). */
  noCloser(name: Name): readonly number[] {
    const chain = this.#hashed();
    if (chain === undefined) return this.#owners(this.#covering(name));
    const enclosure = this.enclosureOf(name);
    return enclosure === undefined ? [] : this.#owners(this.#hashCovering(enclosure.closer, chain));
  }

  /** The zone's chain of NSEC3, once it is complete: then the apex says so. Else the zone has NSEC. */
  #hashed(): Nsec3Parameters | undefined {
    const view = this.#view;
    const published = view.recordsOf(view.words[header.apex]!, typeNsec3Param);
    for (const rdata of published?.rdatas ?? []) {
      const parameters = rdata[1] === 0 ? readNsec3Parameters(rdata) : undefined;
      if (parameters !== undefined) return parameters;
    }
    return undefined;
  }

  /** A name without NSEC3 of its own lies in a span without: the proof is that of the nearest name above that has one. */
  #optedOut(name: Name, chain: Nsec3Parameters): readonly number[] {
    const enclosure = this.#provable(name, chain);
    if (enclosure === undefined) return [];
    return this.#owners(
      this.#matching(enclosure.encloser, chain),
      this.#hashCovering(enclosure.closer, chain),
    );
  }

  /** As `enclosureOf`, of the nearest name above that has an NSEC3 (RFC 5155 §1.3). */
  #provable(name: Name, chain: Nsec3Parameters): Enclosure | undefined {
    let closer = name;
    for (let at = parentName(name); at !== undefined; at = parentName(at)) {
      if (this.nodeOf(at) !== 0 && this.#matching(at, chain) !== 0) return { encloser: at, closer };
      closer = at;
    }
    return undefined;
  }

  /** The owner of the NSEC that names a name, or that it lies behind. */
  #covering(name: Name): number {
    return this.#nodeAt(header.nsec, precedingPlace(this.#view, header.nsec, name));
  }

  #matching(name: Name, chain: Nsec3Parameters): number {
    const node = this.#view.findName(nsec3Owner(name, this.#view.origin, chain));
    return node !== 0 && this.#isLink(node, chain) ? node : 0;
  }

  #hashCovering(name: Name, chain: Nsec3Parameters): number {
    const view = this.#view;
    const count = view.words[header.nsec3Count]!;
    let place = precedingPlace(view, header.nsec3, nsec3Owner(name, view.origin, chain));
    for (let steps = 0; steps < count && steps < foreignNodesMax; steps++) {
      const node = this.#nodeAt(header.nsec3, place);
      if (this.#isLink(node, chain)) return node;
      place = place === 0 ? count - 1 : place - 1;
    }
    return 0;
  }

  #isLink(node: number, chain: Nsec3Parameters): boolean {
    return this.#view.recordsOf(node, typeNsec3)?.rdatas.some((rdata) => isOfChain(rdata, chain)) ?? false;
  }

  #nodeAt(word: number, place: number): number {
    const { words } = this.#view;
    return place < 0 ? 0 : words[words[word]! + place]!;
  }

  #owners(...nodes: readonly number[]): readonly number[] {
    return nodes.filter((node, index) => node !== 0 && nodes.indexOf(node) === index);
  }

  /** The type of what proves. */
  get type(): number {
    return this.#hashed() === undefined ? typeNsec : typeNsec3;
  }
}

interface Enclosure {
  readonly encloser: Name;
  /** One label longer than the encloser, and at or above the name. */
  readonly closer: Name;
}

function wildcardOf({ encloser }: Enclosure): Name {
  return Uint8Array.of(1, 0x2a, ...encloser);
}
