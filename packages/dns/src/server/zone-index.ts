import { typeDs } from "../message/type-numbers.ts";
import type { LookupName } from "../name/lookup-name.ts";
import { LookupName as NameReader } from "../name/lookup-name.ts";
import { foldName, nameFromText, type Name } from "../name/name.ts";
import { NameTable, type Named } from "../zone/name-table.ts";
import type { Zone } from "../zone/zone.ts";
import type { ZoneTree } from "../zone/zone-tree.ts";

class ServedZone implements Named {
  readonly name: Name;
  hash = 0;
  readonly zone: Zone;
  readonly tree: ZoneTree;

  constructor(zone: Zone) {
    this.name = zone.tree.origin;
    this.zone = zone;
    this.tree = zone.tree;
  }
}

/** The zones of an authority by origin. */
export class ZoneIndex {
  readonly #table: NameTable<ServedZone> = new NameTable();
  readonly #name: NameReader;

  constructor(seed: number) {
    this.#name = new NameReader(seed);
  }

  set(zone: Zone): void {
    this.remove(zone.origin);
    this.#name.set(zone.tree.origin);
    this.#table.add(new ServedZone(zone), this.#name.hashes[0]!);
  }

  remove(origin: string): Zone | undefined {
    const served = this.#find(origin);
    if (served !== undefined) this.#table.remove(served);
    return served?.zone;
  }

  get(origin: string): Zone | undefined {
    return this.#find(origin)?.zone;
  }

  zones(): Zone[] {
    return [...this.#table.values()].map((served) => served.zone);
  }

  /**
   * The zone to answer from: the deepest that the name is in. Only a DS question at the apex of a zone goes to its
   * parent zone, if that is here, too (RFC 4035 §3.1.4.1).
   */
  deepest(name: LookupName, type: number): ZoneTree | undefined {
    const { labels } = name;
    let child: ZoneTree | undefined;
    for (let label = 0; label <= labels; label++) {
      const served = this.#table.find(name, label);
      if (served === undefined) continue;
      if (type !== typeDs || label > 0) return served.tree;
      child = served.tree;
    }
    return child;
  }

  #find(origin: string): ServedZone | undefined {
    this.#name.set(foldName(nameFromText(origin)));
    return this.#table.find(this.#name, 0);
  }
}
