import { DnsError } from "../dns-error.ts";
import { equalNames, foldName, nameFromText, nameToText, type Name } from "../name/name.ts";
import { ContentBuilder } from "./content-builder.ts";
import { buildChanges, type OwnerContent, type RecordProblem } from "./record-check.ts";
import type { RecordSet } from "./record-set.ts";
import { isNewerSerial, nextSerial } from "./serial.ts";
import { treeDifference } from "./tree-difference.ts";
import { allRecordSets, recordSetsOf, wireSetsOf } from "./tree-sets.ts";
import type { ZoneDelta, ZoneSnapshot } from "./wire-record.ts";
import { wireRecordsOf, wireSetFromText } from "./wire-set.ts";
import type { WorkSlices } from "./work-slices.ts";
import {
  apexAfter,
  buildApex,
  buildNegativeSoa,
  soaSet,
  type ApexChange,
  type ZoneApex,
  type ZoneSoa,
} from "./zone-apex.ts";
import { ZoneDeltas } from "./zone-deltas.ts";
import type { ZoneSigner } from "./zone-signer.ts";
import { snapshotOf } from "./zone-snapshot.ts";
import { ZoneTree, type OwnerChange } from "./zone-tree.ts";

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
export interface ZoneStep extends ApexChange {
  /** Where the serial goes if that is newer; else to the next. */
  readonly serial?: number;
  /** Takes signatures and denials also where the apex has none: who signs may have begun elsewhere in the zone. */
  readonly signedElsewhere?: boolean;
}

/** Changes that a zone has built from record sets, and what it would refuse of them, at most one per record set. */
export interface PreparedChanges {
  readonly contents: readonly OwnerContent[];
  readonly problems: readonly RecordProblem[];
}

/** Readers wait while a difference is made, a microsecond for each owner; a larger one is no difference but another zone. */
const madeOwnersMax = 4_000;

/** One step, ready to be made. */
interface Step {
  readonly contents: readonly OwnerChange[];
  readonly apex: ZoneApex;
  /** Where the serial goes if that is newer. */
  readonly wanted?: number | undefined;
  /** Where the serial goes whatever it is now. */
  readonly exact?: number;
}

/**
 * One zone's data, as bytes in shared memory that answers are copied from. The content of an answer is always that of one
 * moment, in this thread and in others. One thread changes it.
 */
export class Zone {
  /** Folded to lower case, without the trailing dot; `.` for the root. */
  readonly origin: string;
  #tree: ZoneTree;
  readonly #builder: ContentBuilder;
  readonly #deltas = new ZoneDeltas();
  #apex: ZoneApex;
  #signing: ZoneSigner | undefined;

  /**
   * @param tree filled already, for what loads zones; of the same origin
   * @throws DnsError `BadZone`, `BadName` or `BadRecord`
   */
  constructor(options: ZoneOptions, tree?: ZoneTree) {
    const origin = foldName(nameFromText(options.origin));
    this.origin = nameToText(origin);
    this.#tree = tree ?? new ZoneTree(origin);
    this.#builder = new ContentBuilder(origin);
    const { soa, nameServers, nameServerTtl } = options;
    this.#apex = { soa, nameServers, nameServerTtl, extra: [], given: [] };
    this.#commit({ contents: [], apex: this.#apex, exact: soa.serial });
    this.tree.ready = options.ready ?? true;
  }

  /** For the authority, which answers from it. */
  get tree(): ZoneTree {
    return this.#tree;
  }

  get serial(): number {
    return this.#apex.soa.serial;
  }

  get soa(): ZoneSoa {
    return this.#apex.soa;
  }

  get nameServers(): readonly string[] {
    return this.#apex.nameServers;
  }

  get ready(): boolean {
    return this.tree.ready;
  }

  /** Whether the apex has signatures: somebody else signed the zone, and it is served with what it has. */
  get presigned(): boolean {
    return this.tree.presigned;
  }

  /** How many names there are, empty non-terminals included. */
  get nameCount(): number {
    return this.tree.names;
  }

  /** Signs this zone's answers in this thread where the question has DO. */
  get signing(): ZoneSigner | undefined {
    return this.#signing;
  }

  set signing(signer: ZoneSigner | undefined) {
    this.#signing = signer;
    this.tree.view.signer = signer;
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
    return this.#make(this.#build(changes, options.signedElsewhere ?? this.presigned), options);
  }

  /**
   * Builds what `replace` would make of changes and changes nothing, so that `replacePrepared` is short when the moment
   * comes.
   */
  prepare(changes: ReadonlyMap<string, readonly RecordSet[]>): PreparedChanges {
    const { origin } = this.tree;
    return buildChanges(changes, { origin, builder: this.#builder, signedElsewhere: this.presigned });
  }

  /** As `replace`, with changes that this zone has prepared and found no problems in. */
  replacePrepared({ contents }: PreparedChanges, options: ZoneStep = {}): boolean {
    return this.#make(contents, options);
  }

  /** The problems that `replace` would refuse the changes for, at most one per record set; empty when it would not. */
  check(changes: ReadonlyMap<string, readonly RecordSet[]>): readonly RecordProblem[] {
    return this.prepare(changes).problems;
  }

  /**
   * Replaces owners and sets the serial as it is, for content that was stored with its serial: a file, a transfer.
   * Not for changes, since the serial may go back.
   *
   * @throws DnsError `BadZone`
   */
  load(changes: ReadonlyMap<string, readonly RecordSet[]>, serial: number): void {
    const contents = this.#build(changes, true);
    this.#commit({ contents, apex: this.#apexAfter({}, contents), exact: serial >>> 0 });
  }

  /**
   * Replaces the whole content, SOA and apex NS included, with the serial as given: for fetched record sets. Owners that stay
   * the same are not touched, and listeners hear of the difference only.
   *
   * @throws DnsError `BadZone` with the first record set that a zone cannot hold; then nothing is changed
   */
  replaceAll(soa: ZoneSoa, sets: Iterable<RecordSet>): void {
    const changes = new Map<string, RecordSet[]>([[this.origin, []]]);
    const apexNs: RecordSet[] = [];
    for (const set of sets) {
      const owner = nameToText(foldName(nameFromText(set.name)));
      const type = set.type.toUpperCase();
      if (owner === this.origin && type === "SOA") continue;
      if (owner === this.origin && type === "NS") apexNs.push(set);
      else if (changes.get(owner)?.push(set) === undefined) changes.set(owner, [set]);
    }
    for (const node of this.tree.nodes()) {
      if (node === this.tree.apex || this.tree.contentOf(node) === 0) continue;
      const owner = nameToText(this.tree.view.nameOf(node));
      if (!changes.has(owner)) changes.set(owner, []);
    }
    const contents = this.#build(changes, true);
    const nameServers = apexNs.flatMap((set) => set.data);
    const nameServerTtl = Math.min(...apexNs.map((set) => set.ttl));
    this.#commit({
      contents,
      apex: { ...this.#apexAfter({}, contents), soa, nameServers, nameServerTtl },
      exact: soa.serial >>> 0,
    });
  }

  /**
   * Takes over the content of another zone of the same origin, serial included, in one step that is short whatever the
   * size: for content that was read aside. What `setApexExtra` gave stays. The other must be served nowhere, and is of no
   * more use. The difference is found before, in slices; it is made where it is small, else the memory is exchanged.
   *
   * @throws DnsError `BadZone` for a zone of another origin, or one that is served
   */
  async adopt(other: Zone, slices: WorkSlices): Promise<void> {
    if (other.origin !== this.origin || other.tree.servedBy !== undefined)
      throw new DnsError("BadZone", `zone ${this.origin} cannot take over what zone ${other.origin} has`);
    let contents: readonly OwnerChange[] | undefined;
    for (let isOld = true; isOld;) {
      const { generation } = this.#tree;
      const trees = { from: this.#tree, to: other.#tree };
      contents = await treeDifference(trees, { slices, ownersMax: madeOwnersMax });
      isOld = this.#tree.generation !== generation;
    }
    // Keys of ours have no place beside the signatures of others.
    const extra = other.presigned ? [] : this.#apex.extra;
    const apex = { ...other.#apex, extra };
    if (contents !== undefined) this.#commit({ contents, apex, exact: other.serial });
    else this.#exchangeTree(other, apex);
  }

  #exchangeTree(other: Zone, apex: ZoneApex): void {
    const { signing, ready, soa } = this;
    const server = this.#tree.servedBy;
    // Nobody reads the other yet.
    other.#commit({ contents: [], apex, exact: other.serial });
    this.#tree.servedBy = undefined;
    this.#tree = other.#tree;
    this.#tree.servedBy = server;
    this.#tree.ready = ready;
    this.#apex = other.#apex;
    this.signing = signing;
    server?.treeReplaced();
    if (!this.#deltas.isObserved) return;
    this.#deltas.tell({
      origin: this.#tree.origin,
      serials: [soa.serial, this.serial],
      soas: [soaSet(soa), soaSet(this.soa)],
      owners: undefined,
    });
  }

  /** Starts (or, with `false`, stops) answering from the zone. */
  setReady(ready = true): void {
    this.tree.ready = ready;
  }

  /** Changes SOA fields; one serial step when any differs. The serial moves only forward, an older one is ignored. */
  setSoa(soa: Partial<ZoneSoa>): void {
    const { serial, ...rest } = soa;
    this.#commit({ contents: [], apex: this.#apexAfter({ soa: rest }, []), wanted: serial });
  }

  /** Replaces the apex NS set; one serial step if it differs. */
  setNameServers(names: readonly string[], ttl: number = this.#apex.nameServerTtl): void {
    this.#commit({ contents: [], apex: this.#apexAfter({ nameServers: names, nameServerTtl: ttl }, []) });
  }

  /**
   * Replaces what the apex has beside SOA, NS and what `replace` gives it: DNSKEY, CDS, CDNSKEY. One serial step if it
   * differs.
   */
  setApexExtra(sets: readonly RecordSet[]): void {
    this.#commit({ contents: [], apex: { ...this.#apex, extra: sets.map(wireSetFromText) } });
  }

  /** The types of what `setApexExtra` gave: not part of what a zone is given, and not to be stored with it. */
  get apexExtraTypes(): ReadonlySet<number> {
    return new Set(this.#apex.extra.map(({ type }) => type));
  }

  /** Every record set: the apex with SOA and NS first, then the owners in canonical order (RFC 4034 §6.1). */
  *recordSets(): IterableIterator<RecordSet> {
    yield* allRecordSets(this.tree);
  }

  /** The record sets of one owner, in canonical form; the apex's begin with SOA and NS. */
  recordSetsOf(owner: string): readonly RecordSet[] {
    return recordSetsOf(this.tree, foldName(nameFromText(owner)));
  }

  /** The types at a name: `undefined` where there is no such name, `[]` at an empty non-terminal. */
  typesAt(name: Name): number[] | undefined {
    return this.tree.view.typesAt(name);
  }

  /**
   * Calls a listener with the records of each serial step, when the change is made. Costs nothing without listeners. What
   * a listener throws is dropped.
   */
  observe(listener: (delta: ZoneDelta) => void): Disposable {
    return this.#deltas.observe(listener);
  }

  /** The records as they are now, to be read while the zone changes on. Dispose of it soon: it holds memory. */
  snapshot(): ZoneSnapshot {
    return snapshotOf(this.tree, {
      serial: this.serial,
      soa: wireRecordsOf(this.tree.origin, soaSet(this.#apex.soa))[0]!,
    });
  }

  #make(contents: readonly OwnerContent[], options: ZoneStep): boolean {
    return this.#commit({ contents, apex: this.#apexAfter(options, contents), wanted: options.serial });
  }

  #build(
    changes: ReadonlyMap<string, readonly RecordSet[]>,
    signedElsewhere: boolean,
  ): readonly OwnerContent[] {
    const { contents, problems } = buildChanges(changes, {
      origin: this.tree.origin,
      builder: this.#builder,
      signedElsewhere,
    });
    const problem = problems[0];
    if (problem === undefined) return contents;
    throw new DnsError(
      "BadZone",
      `cannot put ${problem.owner} ${problem.type} into ${this.origin}: ${problem.message}`,
    );
  }

  #apexAfter(change: ApexChange, contents: readonly OwnerContent[]): ZoneApex {
    const whole = contents.find(({ name }) => equalNames(name, this.tree.origin))?.sets;
    return apexAfter(this.#apex, change, whole);
  }

  /** Makes a step if it makes any difference; false where it does not. */
  #commit({ contents, apex, wanted, exact }: Step): boolean {
    const { tree } = this;
    const { origin } = tree;
    const present = this.serial;
    const owners = contents.filter((change) => !equalNames(change.name, origin) && !tree.has(change));
    const apexWords =
      apex === this.#apex && tree.contentOf(tree.apex) !== 0 ? undefined : this.#buildApex(apex);
    const apexChange = { name: origin, words: apexWords };
    const isApexChanged = apexWords !== undefined && !tree.has(apexChange);
    const isNewer = wanted !== undefined && isNewerSerial(wanted, present);
    if (owners.length === 0 && !isApexChanged && !isNewer && (exact ?? present) === present) return false;
    const serial = exact ?? nextSerial(present, wanted);
    const soa = { ...apex.soa, serial };
    const changes = isApexChanged ? [...owners, apexChange] : owners;
    const before = this.#deltas.isObserved ? changes.map(({ name }) => wireSetsOf(tree, name)) : undefined;
    const negative = isApexChanged ? buildNegativeSoa(this.#builder, soa) : undefined;
    const oldSoa = soaSet(this.#apex.soa);
    tree.publish({ owners: changes, serial, ...(negative === undefined ? {} : { negativeSoa: negative }) });
    this.#apex = { ...apex, soa };
    if (before === undefined) return true;
    this.#deltas.tell({
      origin,
      serials: [present, serial],
      soas: [oldSoa, soaSet(soa)],
      owners: changes.map(({ name }, index) => ({
        name,
        before: before[index]!,
        after: wireSetsOf(tree, name),
      })),
    });
    return true;
  }

  /** The apex as it would be with the present serial, so that it can be compared. */
  #buildApex(apex: ZoneApex): Int32Array {
    if (apex.nameServers.length === 0)
      throw new DnsError("BadZone", `zone ${this.origin} has no name server; name at least one`);
    return buildApex(this.#builder, { ...apex, soa: { ...apex.soa, serial: this.serial } });
  }
}
