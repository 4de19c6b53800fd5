import { rcode } from "../message/header.ts";
import { typeAny, typeCname, typeDname } from "../message/type-numbers.ts";
import { nameOctetsMax } from "../name/name.ts";
import { targetsAt } from "../zone/content-reader.ts";
import { node as nodeWord, set as setWord } from "../zone/zone-layout.ts";
import type { ZoneView } from "../zone/zone-view.ts";
import { chainNamesMax, type AliasChain } from "./alias-chain.ts";
import type { Response } from "./response.ts";

/** Redirects a name below a DNAME (RFC 6672 §3): writes the DNAME and a CNAME made from it, and follows that. */
export class DnameStep {
  readonly #response: Response;
  readonly #chain: AliasChain;
  /** The target of the CNAME. */
  readonly #synthesised: Uint8Array = new Uint8Array(2 * nameOctetsMax);
  /** DNAMEs in the answer, and their zones. */
  readonly #written: Int32Array = new Int32Array(chainNamesMax);
  readonly #writtenViews: ZoneView[] = [];
  #writtenCount = 0;

  constructor(response: Response, chain: AliasChain) {
    this.#response = response;
    this.#chain = chain;
  }

  /** Starts an answer: it has no DNAME yet. */
  begin(): void {
    this.#writtenCount = 0;
  }

  /** True when it has led to another name, which is then to be looked up for a question of type `type`. */
  follow(view: ZoneView, owner: number, type: number): boolean {
    const response = this.#response;
    const chain = this.#chain;
    const { words, octets } = view;
    const dname = view.findSet(words[owner + nodeWord.content]!, typeDname);
    if (dname === 0) return false;
    const labels = chain.labelsAbove(view, owner);
    if (!this.#isRepeated(view, owner)) {
      response.ownerAt = response.locate(chain.nameAt, labels);
      response.originAt = chain.originAt(view);
      if (response.write(view, dname, "answer") < 0) return response.overflow();
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
    if (rdataAt < 0) return response.overflow();
    if (type === typeCname || type === typeAny) return false;
    return chain.follow(synthesised, { start: 0, length: total, at: rdataAt });
  }

  /** Whether the answer has this DNAME already; else it will. */
  #isRepeated(view: ZoneView, owner: number): boolean {
    for (let index = 0; index < this.#writtenCount; index++)
      if (this.#written[index] === owner && this.#writtenViews[index] === view) return true;
    this.#written[this.#writtenCount] = owner;
    this.#writtenViews[this.#writtenCount++] = view;
    return false;
  }

  /** Copies the first labels of the name looked up, in the case that it has in the answer. */
  #copyLabels(labels: number): number {
    const { output } = this.#response;
    let length = 0;
    for (let label = 0; label < labels; label++) {
      const at = this.#response.locate(this.#chain.nameAt, label);
      for (let index = 0; index <= output[at]!; index++) this.#synthesised[length++] = output[at + index]!;
    }
    return length;
  }

  /** Writes a CNAME from the name looked up to `#synthesised`; where its rdata starts, or -1. */
  #writeCname(ttl: number, length: number): number {
    const response = this.#response;
    const { output } = response;
    const { at } = response;
    if (at + 12 + length > response.limit) return -1;
    const owner = 0xc000 | response.locate(this.#chain.nameAt, 0);
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
}
