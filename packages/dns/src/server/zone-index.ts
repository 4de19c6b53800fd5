import { typeDs } from "../message/type-numbers.ts";
import { LookupName } from "../name/lookup-name.ts";
import { foldName, nameFromText } from "../name/name.ts";
import { header } from "../zone/zone-layout.ts";
import type { ZoneView } from "../zone/zone-view.ts";

const slotsMin = 8;

/** The zones of an authority by origin, found from any suffix of a name. */
export class ZoneIndex {
  readonly #name: LookupName;
  #views: (ZoneView | undefined)[] = Array<ZoneView | undefined>(slotsMin).fill(undefined);
  #hashes: Int32Array = new Int32Array(slotsMin);
  #mask = slotsMin - 1;
  #size = 0;
  /** No origin has more labels, so longer suffixes need not be looked for. */
  #labelsMax = 0;

  constructor(seed: number) {
    this.#name = new LookupName(seed);
  }

  set(view: ZoneView): void {
    this.#name.set(view.origin);
    this.#labelsMax = Math.max(this.#labelsMax, view.originLabels);
    const slot = this.#slotOf(this.#name, 0);
    if (this.#views[slot] === undefined && ++this.#size * 2 > this.#mask) {
      this.#resize(2 * (this.#mask + 1), [...this.views(), view]);
      return;
    }
    this.#views[slot] = view;
    this.#hashes[slot] = this.#name.hashes[0]!;
  }

  remove(origin: string): ZoneView | undefined {
    const found = this.get(origin);
    if (found === undefined) return undefined;
    this.#size--;
    this.#resize(
      this.#mask + 1,
      this.views().filter((view) => view !== found),
    );
    return found;
  }

  get(origin: string): ZoneView | undefined {
    this.#name.set(foldName(nameFromText(origin)));
    return this.#views[this.#slotOf(this.#name, 0)];
  }

  views(): ZoneView[] {
    return this.#views.filter((view) => view !== undefined);
  }

  /**
   * The zone to answer from: the deepest that the name is in. Only a DS question at the apex of a zone goes to its
   * parent zone, if that is here, too (RFC 4035 §3.1.4.1).
   */
  deepest(name: LookupName, type: number): ZoneView | undefined {
    const { labels } = name;
    let child: ZoneView | undefined;
    for (let label = Math.max(0, labels - this.#labelsMax); label <= labels; label++) {
      const view = this.#views[this.#slotOf(name, label)];
      if (view === undefined) continue;
      if (type !== typeDs || label > 0) return view;
      child = view;
    }
    return child;
  }

  /** The slot of the zone named by the suffix that starts at `label`, or the free one where it would be. */
  #slotOf(name: LookupName, label: number): number {
    const hash = name.hashes[label]!;
    const mask = this.#mask;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const view = this.#views[slot];
      if (view === undefined) return slot;
      if (this.#hashes[slot] === hash && isSuffix(view, name, name.starts[label]!)) return slot;
    }
  }

  #resize(slots: number, views: readonly ZoneView[]): void {
    this.#views = Array<ZoneView | undefined>(slots).fill(undefined);
    this.#hashes = new Int32Array(slots);
    this.#mask = slots - 1;
    for (const view of views) {
      this.#name.set(view.origin);
      const slot = this.#slotOf(this.#name, 0);
      this.#views[slot] = view;
      this.#hashes[slot] = this.#name.hashes[0]!;
    }
  }
}

function isSuffix({ words, originLength }: ZoneView, name: LookupName, start: number): boolean {
  return name.length - start === originLength && name.isSuffixAt(start, words, header.origin);
}
