import { typeA, typeAaaa } from "../message/type-numbers.ts";
import { LookupName } from "../name/lookup-name.ts";
import { targetsAt } from "../zone/content-reader.ts";
import { questionNameAt } from "../zone/owner-pointer.ts";
import { topmostBreak } from "../zone/zone-break.ts";
import { header, node as nodeWord } from "../zone/zone-layout.ts";
import type { ZoneView } from "../zone/zone-view.ts";
import type { Response } from "./response.ts";

/** An answer has room for no more. */
const targetsMax = 8_192;

/** Adds the addresses of the names in an answer's rdata, as far as its zone has them. Allocates nothing. */
export class AdditionalAddresses {
  readonly #response: Response;
  /** The name whose addresses are added now. */
  readonly #target: LookupName;

  constructor(response: Response, seed: number) {
    this.#response = response;
    this.#target = new LookupName(seed);
  }

  /** Adds the addresses of the targets of a set that stands at `base`, as many as fit. */
  add(view: ZoneView, set: number, base: number): void {
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
      if (!this.#write(view, nameAt)) return;
    }
  }

  /**
   * Adds the addresses of the name servers of a cut, whose set was written last: of all below it, then of those elsewhere in
   * the zone that fit. False where one below it does not: nobody else could tell them (RFC 9471 §2).
   */
  addGlue(view: ZoneView, owner: number, base: number): boolean {
    if (!this.#writeGlue(view, { owner, base, isRequired: true })) return false;
    this.#writeGlue(view, { owner, base, isRequired: false });
    return true;
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
      if (!this.#write(view, nameAt)) isWhole = false;
      if (!isWhole && isRequired) return false;
    }
    this.#response.written = written;
    return isWhole;
  }

  /** Reads one target of a set into `#target`, and returns the place of the next. */
  #readTarget(view: ZoneView, at: number): number {
    const length = view.words[at]! >>> 16;
    const start = (at + 1) * 4;
    this.#target.read(view.octets, start, start + length);
    return at + 1 + ((length + 3) >>> 2);
  }

  /** Writes the A and AAAA sets of `#target`, which stands at `nameAt`; false, and nothing written, when they do not fit. */
  #write(view: ZoneView, nameAt: number): boolean {
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
}

function isInZone(view: ZoneView, name: LookupName): boolean {
  return view.isAbove(view.words[header.apex]!, name);
}
