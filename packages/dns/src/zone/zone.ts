import { DnsError } from "../dns-error.ts";
import { foldName, nameFromText, nameToAbsoluteText, nameToText, type Name } from "../name/name.ts";
import { compileSet, equalRecordSets } from "./compiled-set.ts";
import { compileChanges, type RecordProblem } from "./record-check.ts";
import type { RecordSet } from "./record-set.ts";
import { isNewerSerial, nextSerial } from "./serial.ts";
import { rdataFromText } from "../message/rdata.ts";
import { typeFromText } from "../message/codes.ts";
import type { WireRecord, ZoneDelta, ZoneSnapshot } from "./wire-record.ts";
import type { ZoneSigner } from "./zone-signer.ts";
import { ZoneTree } from "./zone-tree.ts";

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

/** What a zone is before it has any records. */
export interface ZoneOptions {
  readonly origin: string;
  readonly soa: ZoneSoa;
  /** The apex NS set: exactly these names, at least one. They need not be in the zone. */
  readonly nameServers: readonly string[];
  readonly nameServerTtl: number;
  /** Whether the zone can be answered from yet; until then every answer is SERVFAIL. Default true. */
  readonly ready?: boolean;
}

/** What one step of a zone changes beside its owners. */
export interface ZoneStep {
  /** Where the serial goes if that is newer; else to the next. */
  readonly serial?: number;
  readonly soa?: Partial<Omit<ZoneSoa, "serial">>;
  /** The whole apex NS set. */
  readonly nameServers?: readonly string[];
  readonly nameServerTtl?: number;
}

/**
 * One zone's data, compiled to bytes as it changes. The content of an answer is always that of one moment: a change
 * is synchronous and so is an answer.
 */
export class Zone {
  /** Folded to lower case, without the trailing dot; `.` for the root. */
  readonly origin: string;
  /** For the authority, which answers from it. */
  readonly tree: ZoneTree;
  #soa: ZoneSoa;
  #nameServers: readonly string[];
  #nameServerTtl: number;
  readonly #listeners = new Set<(delta: ZoneDelta) => void>();
  #extra: readonly RecordSet[] = [];

  /** @throws DnsError `BadZone`, `BadName` or `BadRecord` */
  constructor(options: ZoneOptions) {
    const origin = foldName(nameFromText(options.origin));
    this.origin = nameToText(origin);
    this.#soa = options.soa;
    this.#nameServers = options.nameServers;
    this.#nameServerTtl = options.nameServerTtl;
    const soa = this.#compileSoa(origin, options.soa.ttl);
    this.tree = new ZoneTree(origin, { soa, negativeSoa: soa, ready: options.ready ?? true });
    this.#compileApex();
  }

  get serial(): number {
    return this.#soa.serial;
  }

  get soa(): ZoneSoa {
    return this.#soa;
  }

  get nameServers(): readonly string[] {
    return this.#nameServers;
  }

  get ready(): boolean {
    return this.tree.ready;
  }

  /** How many names there are, empty non-terminals included. */
  get nameCount(): number {
    return this.tree.table.size;
  }

  /**
   * Replaces everything that the given owners have; `[]` removes an owner. All or nothing, and one serial step for
   * the whole batch: to `serial` where that is newer (RFC 1982), else to the next. A batch that changes nothing makes
   * no step unless a newer serial comes with it.
   *
   * @returns whether the serial moved
   * @throws DnsError `BadZone` with the first of `check`'s problems
   */
  replace(changes: ReadonlyMap<string, readonly RecordSet[]>, options: ZoneStep = {}): boolean {
    const { contents, problems } = compileChanges(changes, this.tree.origin);
    const problem = problems[0];
    if (problem !== undefined) {
      throw new DnsError(
        "BadZone",
        `cannot put ${problem.owner} ${problem.type} into ${this.origin}: ${problem.message}`,
      );
    }
    let changed = options.serial !== undefined && isNewerSerial(options.serial, this.serial);
    if (this.#replaceApex(options)) changed = true;
    for (const content of contents) {
      if (equalSets(this.tree.find(content.name)?.given ?? [], content.given)) continue;
      changed = true;
      this.tree.put(content);
    }
    if (changed) this.#step(options.serial);
    return changed;
  }

  /** The problems that `replace` would refuse the changes for, at most one per record set; empty when it would not. */
  check(changes: ReadonlyMap<string, readonly RecordSet[]>): readonly RecordProblem[] {
    return compileChanges(changes, this.tree.origin).problems;
  }

  /**
   * Replaces owners and sets the serial as it is, for content that was stored with its serial: a file, a transfer.
   * Not for changes, since the serial may go back.
   *
   * @throws DnsError `BadZone`
   */
  load(changes: ReadonlyMap<string, readonly RecordSet[]>, serial: number): void {
    this.replace(changes);
    this.#soa = { ...this.#soa, serial: serial >>> 0 };
    this.#compileApex();
  }

  /** Starts (or, with `false`, stops) answering from the zone. */
  setReady(ready = true): void {
    this.tree.ready = ready;
  }

  /** Changes SOA fields; one serial step when any differs. The serial moves only forward, an older one is ignored. */
  setSoa(soa: Partial<ZoneSoa>): void {
    const { serial, ...rest } = soa;
    const merged = { ...this.#soa, ...rest };
    const differs = (Object.keys(rest) as (keyof ZoneSoa)[]).some(
      (field) => merged[field] !== this.#soa[field],
    );
    if (!differs && (serial === undefined || !isNewerSerial(serial, this.serial))) return;
    const before = this.#soa;
    try {
      this.#soa = merged;
      this.#step(serial);
    } catch (error) {
      this.#soa = before;
      throw error;
    }
  }

  /** Replaces the apex NS set; one serial step if it differs. */
  setNameServers(names: readonly string[], ttl: number = this.#nameServerTtl): void {
    const before = { names: this.#nameServers, ttl: this.#nameServerTtl };
    if (
      ttl === before.ttl &&
      names.length === before.names.length &&
      names.every((name, i) => name === before.names[i])
    )
      return;
    try {
      this.#nameServers = names;
      this.#nameServerTtl = ttl;
      this.#compileApex();
    } catch (error) {
      this.#nameServers = before.names;
      this.#nameServerTtl = before.ttl;
      throw error;
    }
    this.#step(undefined);
  }

  /** Every record set: the apex with SOA and NS first, then the owners in canonical order (RFC 4034 §6.1). */
  *recordSets(): IterableIterator<RecordSet> {
    const nodes = [...this.tree.table.values()].filter(
      (node) => node.given.length > 0 && node !== this.tree.apex,
    );
    const keyed = nodes.map((node) => ({ node, key: canonicalKey(node.name) }));
    keyed.sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
    yield* this.recordSetsOf(this.origin);
    for (const { node } of keyed) yield* node.given;
  }

  /** The record sets of one owner as given to `replace`; for the apex, SOA and NS before them. */
  recordSetsOf(owner: string): readonly RecordSet[] {
    const node = this.tree.find(nameFromText(owner));
    if (node === undefined) return [];
    if (node !== this.tree.apex) return node.given;
    return [this.#soaSet(this.#soa.ttl), this.#nameServerSet(), ...node.given];
  }

  /** Signs this zone's answers where the question has DO; set by the DNSSEC part. */
  get signing(): ZoneSigner | undefined {
    return this.tree.signing;
  }

  set signing(signer: ZoneSigner | undefined) {
    this.tree.signing = signer;
    if (signer === undefined) return;
    signer.typesAt = (name) => this.typesAt(name);
    signer.recordsAt = (name, type) => {
      const set = this.recordSetsOf(nameToText(name)).find((one) => typeFromText(one.type) === type);
      return set && { ttl: set.ttl, rdatas: set.data.map((text) => rdataFromText(type, text)) };
    };
  }

  /**
   * Calls a listener with the records of each serial step, within the change that made it. Costs nothing without
   * listeners. What a listener throws is dropped.
   */
  observe(listener: (delta: ZoneDelta) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** The records as they are now, to be read while the zone changes on. Dispose of it soon: it holds memory. */
  snapshot(): ZoneSnapshot {
    const records = [...this.recordSets()].flatMap(toWire);
    return {
      serial: this.serial,
      records: () => records.values(),
      [Symbol.dispose]: () => {},
    };
  }

  /** The types at a name: `undefined` where there is no such name, `[]` at an empty non-terminal. */
  typesAt(name: Name): number[] | undefined {
    return this.tree.find(foldName(name))?.sets.map((set) => set.type);
  }

  /** Replaces what the apex has beside SOA, NS and what `replace` gives it: DNSKEY, CDS, CDNSKEY. One serial step if it differs. */
  setApexExtra(sets: readonly RecordSet[]): void {
    if (equalSets(this.#extra, sets)) return;
    this.#extra = sets;
    this.#step(undefined);
  }

  /**
   * Replaces the whole content, SOA and apex NS included, with the serial as given: for transferred zones. Owners that stay
   * the same are not touched, and listeners hear of the difference only.
   *
   * @throws DnsError `BadZone` with the first record set that a zone cannot hold; then nothing is changed
   */
  replaceAll(soa: ZoneSoa, sets: Iterable<RecordSet>): void {
    const changes = new Map<string, RecordSet[]>();
    for (const set of this.recordSets()) if (set.name !== this.origin) changes.set(set.name, []);
    const apexNs: RecordSet[] = [];
    for (const set of sets) {
      const owner = nameToText(foldName(nameFromText(set.name)));
      if (owner === this.origin && set.type.toUpperCase() === "NS") apexNs.push(set);
      else changes.set(owner, [...(changes.get(owner) ?? []), set]);
    }
    const { serial, ...rest } = soa;
    const nameServers = apexNs.flatMap((set) => set.data);
    if (nameServers.length === 0)
      throw new DnsError("BadZone", `the content for ${this.origin} has no name server; name at least one`);
    this.replace(changes, { soa: rest, nameServers, nameServerTtl: apexNs[0]?.ttl ?? soa.ttl });
    this.#soa = { ...this.#soa, serial: serial >>> 0 };
    this.#compileApex();
  }

  /** Whether the SOA's fields or the NS set differ now; as before when they cannot be compiled. */
  #replaceApex({
    soa = {},
    nameServers = this.#nameServers,
    nameServerTtl = this.#nameServerTtl,
  }: ZoneStep): boolean {
    const before = { soa: this.#soa, names: this.#nameServers, ttl: this.#nameServerTtl };
    const merged = { ...before.soa, ...soa };
    const same =
      (Object.keys(merged) as (keyof ZoneSoa)[]).every((field) => merged[field] === before.soa[field]) &&
      nameServerTtl === before.ttl &&
      nameServers.length === before.names.length &&
      nameServers.every((name, index) => name === before.names[index]);
    if (same) return false;
    try {
      this.#soa = merged;
      this.#nameServers = nameServers;
      this.#nameServerTtl = nameServerTtl;
      this.#compileApex();
    } catch (error) {
      this.#soa = before.soa;
      this.#nameServers = before.names;
      this.#nameServerTtl = before.ttl;
      throw error;
    }
    return true;
  }

  #step(wanted: number | undefined): void {
    this.#soa = { ...this.#soa, serial: nextSerial(this.#soa.serial, wanted) };
    this.#compileApex();
  }

  #compileApex(): void {
    const { tree } = this;
    if (this.#nameServers.length === 0) {
      throw new DnsError("BadZone", `zone ${this.origin} has no name server; name at least one`);
    }
    const soa = this.#compileSoa(tree.origin, this.#soa.ttl);
    const negativeSoa = this.#compileSoa(tree.origin, Math.min(this.#soa.ttl, this.#soa.minimum));
    const nameServers = compileSet(this.#nameServerSet(), tree.origin);
    tree.soa = soa;
    tree.negativeSoa = negativeSoa;
    const extra = this.#extra.map((set) => compileSet(set, tree.origin));
    tree.setApexSets([soa, nameServers, ...extra]);
  }

  #compileSoa(origin: Name, ttl: number): ReturnType<typeof compileSet> {
    return compileSet(this.#soaSet(ttl), origin);
  }

  #soaSet(ttl: number): RecordSet {
    const { mname, rname, serial, refresh, retry, expire, minimum } = this.#soa;
    const data = `${absolute(mname)} ${absolute(rname)} ${serial} ${refresh} ${retry} ${expire} ${minimum}`;
    return { name: this.origin, type: "SOA", ttl, data: [data] };
  }

  #nameServerSet(): RecordSet {
    return { name: this.origin, type: "NS", ttl: this.#nameServerTtl, data: this.#nameServers.map(absolute) };
  }
}

function toWire(set: RecordSet): WireRecord[] {
  const type = typeFromText(set.type);
  const owner = nameFromText(set.name);
  return set.data.map((text) => ({ owner, type, ttl: set.ttl, rdata: rdataFromText(type, text) }));
}

function absolute(name: string): string {
  return nameToAbsoluteText(nameFromText(name));
}

function equalSets(left: readonly RecordSet[], right: readonly RecordSet[]): boolean {
  return left.length === right.length && left.every((set, index) => equalRecordSets(set, right[index]!));
}

/** Labels from the right, each followed by a separator below every octet, so that text order is canonical order. */
function canonicalKey(name: Name): string {
  const labels: string[] = [];
  for (let at = 0; name[at] !== 0; at += name[at]! + 1) {
    labels.unshift(
      [...name.subarray(at + 1, at + 1 + name[at]!)].map((octet) => String.fromCharCode(octet + 1)).join(""),
    );
  }
  return labels.join("\0");
}
