import type { RecordSet } from "./record-set.ts";

/** The fields of a zone's SOA record. Names are absolute; all times in seconds. */
export interface ZoneSoa {
  readonly mname: string;
  readonly rname: string;
  readonly serial: number;
  readonly refresh: number;
  readonly retry: number;
  readonly expire: number;
  /** How long a negative answer may be kept (RFC 2308 §4); the SOA of one carries min(ttl, minimum). */
  readonly minimum: number;
  readonly ttl: number;
}

export interface ZoneOptions {
  readonly origin: string;
  readonly soa: ZoneSoa;
  /** The apex NS set: exactly these names, at least one. */
  readonly nameServers: readonly string[];
  readonly nameServerTtl: number;
  /** Whether the zone can be answered from yet; until then every answer is SERVFAIL. Default true. */
  readonly ready?: boolean;
}

/** A record set that a zone cannot hold, and why. */
export interface RecordProblem {
  readonly owner: string;
  readonly type: string;
  readonly message: string;
}

export class Zone {
  /** Folded to lower case, without the trailing dot. */
  readonly origin: string;
  #soa: ZoneSoa;
  #ready: boolean;
  constructor(options: ZoneOptions) {
    this.origin = options.origin.toLowerCase();
    this.#soa = options.soa;
    this.#ready = options.ready ?? true;
  }
  get serial(): number {
    return this.#soa.serial;
  }
  get soa(): ZoneSoa {
    return this.#soa;
  }
  get ready(): boolean {
    return this.#ready;
  }
  /**
   * Replaces everything that the given owners have; `[]` removes an owner. All or nothing, and one serial step for
   * the whole batch: to `serial` where that is newer (RFC 1982), else to the next. A batch that changes nothing makes no step.
   *
   * @returns whether anything changed
   * @throws DnsError `BadZone` with the first of `check`'s problems
   */
  replace(
    _changes: ReadonlyMap<string, readonly RecordSet[]>,
    _options?: { readonly serial?: number },
  ): boolean {
    return false;
  }
  /** The problems that `replace` would refuse the changes for, at most one per record set; empty when it would not. */
  check(_changes: ReadonlyMap<string, readonly RecordSet[]>): readonly RecordProblem[] {
    return [];
  }
  setReady(ready?: boolean): void {
    this.#ready = ready ?? true;
  }
  /** Changes SOA fields: one serial step. The serial moves only forward; an older one is ignored. */
  setSoa(_soa: Partial<ZoneSoa>): void {}
  /** Replaces the apex NS set: one serial step if it differs. */
  setNameServers(_names: readonly string[], _ttl?: number): void {}
  /** Every record set, the SOA first, the apex NS second, then the rest in order of arrival. */
  *recordSets(): IterableIterator<RecordSet> {}
  /** The record sets of one owner as given to `replace` (or made from the options, for the apex). */
  recordSetsOf(_owner: string): readonly RecordSet[] {
    return [];
  }
}
