import type { Name } from "../name/name.ts";
import type { CompiledSet } from "./compiled-set.ts";
import type { Named } from "./name-table.ts";
import type { RecordSet } from "./record-set.ts";

const none: readonly never[] = [];

/** One name of a zone: an owner of records, or an empty non-terminal above one. */
export class ZoneNode implements Named {
  readonly name: Name;
  hash = 0;
  readonly parent: ZoneNode | undefined;
  /** How many nodes are directly below. */
  children = 0;
  /** The child `*`. */
  wildcard: ZoneNode | undefined;
  /** Everything that can be answered here. */
  sets: readonly CompiledSet[] = none;
  cname: CompiledSet | undefined;
  dname: CompiledSet | undefined;
  /** The NS set of a zone cut; not set at the apex. */
  cut: CompiledSet | undefined;
  /** What `replace` was given; empty for a node that only stands above others. */
  given: readonly RecordSet[] = none;

  constructor(name: Name, parent: ZoneNode | undefined) {
    this.name = name;
    this.parent = parent;
  }
}
