import { dnsErrorText } from "../dns-error.ts";
import { rdataToText } from "../message/rdata.ts";
import {
  typeA,
  typeAaaa,
  typeCname,
  typeDname,
  typeNs,
  typeRrsig,
  typeSoa,
} from "../message/type-numbers.ts";
import { equalNames, isAtOrBelow, nameToText, type Name } from "../name/name.ts";
import { ContentBuilder } from "./content-builder.ts";
import { readContent } from "./content-reader.ts";
import type { FileRecord, FileRecordTaker } from "./file-record.ts";
import { addSet, buildOwner, signatureTypes, tooManyTypes, typesPerNameMax } from "./record-check.ts";
import { fixedPolicy, rotatePolicy, uniqueRdatas, wireSetToText, type WireSet } from "./wire-set.ts";
import type { ZoneFileProblem } from "./zone-text.ts";
import { Zone } from "./zone.ts";
import type { ZoneSoa } from "./zone-apex.ts";
import { ZoneTree } from "./zone-tree.ts";

/** What is wrong, and with whose records where that is known. */
export interface LoadProblem extends ZoneFileProblem {
  readonly owner?: Name;
}

/** Records of one owner and type that follow each other. */
interface FileSet {
  readonly type: number;
  readonly line: number;
  ttl: number;
  readonly rdatas: Uint8Array[];
}

/**
 * Fills a zone with the records of a file as they come. Records of one owner usually stand together and go into the zone
 * at once; where the same owner comes again, what it has is read back and joined.
 */
export class ZoneLoader implements FileRecordTaker {
  readonly #report: (problem: LoadProblem) => void;
  readonly #seed: number;
  readonly #expected: Name | undefined;
  /** What comes before the SOA, from which the zone's name and the missing TTLs are known. */
  #early: FileRecord[] = [];
  #soa: { readonly line: number; readonly owner: Name; readonly values: ZoneSoa } | undefined;
  #isElsewhere = false;
  #tree: ZoneTree | undefined;
  #builder: ContentBuilder | undefined;
  #owner: Name | undefined;
  #sets: FileSet[] = [];
  readonly #apexSets: FileSet[] = [];
  /** Pairs of node and line, for the types that must be alone at their owner: what conflicts are told of. */
  readonly #soleLines: number[] = [];
  readonly #takesAnySignatures: boolean;
  /** Where the first signature or denial stands, where any does. */
  #signatureLine = -1;

  constructor(options: {
    readonly origin: Name | undefined;
    readonly report: (problem: LoadProblem) => void;
    /** Of whoever will serve the zone. */
    readonly hashSeed?: number | undefined;
    /** Takes signatures also where the apex has none, as while somebody signs a zone. Default false. */
    readonly takesAnySignatures?: boolean;
  }) {
    this.#takesAnySignatures = options.takesAnySignatures ?? false;
    this.#expected = options.origin;
    this.#seed = options.hashSeed ?? 0;
    this.#report = options.report;
  }

  record(record: FileRecord): void {
    if (record.type === typeSoa) this.#takeSoa(record);
    else if (this.#soa === undefined) this.#early.push({ ...record });
    else this.#add(record);
  }

  /** The zone, or `undefined` where something was reported. */
  end(): Zone | undefined {
    const soa = this.#soa;
    if (soa === undefined) {
      this.#report({ line: 0, message: "the zone has no SOA record; add one for its apex" });
      return undefined;
    }
    if (this.#isElsewhere) return undefined;
    this.#flush();
    return this.#buildZone(soa);
  }

  #takeSoa(record: FileRecord): void {
    const { line, owner } = record;
    if (this.#soa !== undefined) {
      this.#report({ line, message: `there is an SOA on line ${this.#soa.line} already; keep one` });
      return;
    }
    this.#soa = { line, owner, values: readSoa(record) };
    this.#isElsewhere = this.#expected !== undefined && !equalNames(this.#expected, owner);
    if (this.#isElsewhere) {
      const [found, wanted] = [nameToText(owner), nameToText(this.#expected!)];
      this.#report({
        line,
        message: `the SOA is of ${found}, not of the zone ${wanted}; correct one of them`,
      });
    }
    this.#tree = new ZoneTree(owner, this.#seed);
    this.#builder = new ContentBuilder(owner);
    const early = this.#early;
    this.#early = [];
    for (const each of early) this.#add(each);
  }

  #add({ owner, type, ttl, rdata, line }: FileRecord): void {
    if (owner !== this.#owner) {
      this.#flush();
      this.#owner = owner;
    }
    const known = ttl ?? this.#soa!.values.minimum;
    if (this.#signatureLine < 0 && signatureTypes.has(type)) this.#signatureLine = line;
    for (const set of this.#sets) {
      if (set.type !== type) continue;
      set.rdatas.push(rdata);
      if (known < set.ttl) set.ttl = known;
      return;
    }
    if (this.#sets.length >= typesPerNameMax) this.#report({ line, owner, message: tooManyTypes });
    else this.#sets.push({ type, line, ttl: known, rdatas: [rdata] });
  }

  /** Puts the sets of the owner that ends here into the zone. */
  #flush(): void {
    const [owner, sets, tree] = [this.#owner, this.#sets, this.#tree];
    if (owner === undefined || tree === undefined) return;
    this.#owner = undefined;
    if (sets.length === 0) return;
    this.#sets = [];
    if (!isAtOrBelow(owner, tree.origin)) {
      for (const { line } of sets) {
        const message = `${nameToText(owner)} is not in the zone ${nameToText(tree.origin)}; give it to the zone that it belongs to`;
        this.#report({ line, message });
      }
    } else if (equalNames(owner, tree.origin)) this.#apexSets.push(...sets);
    else this.#put(owner, sets);
  }

  #put(owner: Name, sets: readonly FileSet[]): void {
    const tree = this.#tree!;
    const builder = this.#builder!;
    const present = tree.find(owner);
    const presentContent = present === 0 ? 0 : tree.contentOf(present);
    const first = sets[0]!;
    // By far the most owners have one set of addresses, which nothing can be wrong with.
    if (sets.length === 1 && presentContent === 0 && isAddress(first.type)) {
      try {
        builder.begin();
        builder.add(toWireSet(first));
        builder.end();
        tree.insert({ name: owner, words: builder.words });
      } catch (error) {
        this.#report({ line: first.line, owner, message: dnsErrorText(error) });
      }
      return;
    }
    const joined = presentContent === 0 ? [] : readContent(tree.view, presentContent, tree.origin);
    for (const set of sets) {
      const message = addSet(joined, toWireSet(set));
      if (message !== undefined) this.#report({ line: set.line, owner, message });
    }
    try {
      const { words } = buildOwner(
        { name: owner, sets: joined },
        { origin: tree.origin, builder, signedElsewhere: true },
        ({ type, message }) => this.#report({ line: this.#lineOf(type, sets, present), owner, message }),
      );
      tree.insert({ name: owner, words });
    } catch (error) {
      this.#report({ line: first.line, owner, message: dnsErrorText(error) });
    }
    const sole = sets.find(({ type }) => type === typeCname || type === typeDname);
    if (sole !== undefined) this.#soleLines.push(tree.find(owner), sole.line);
  }

  /** Where a set began that is found wrong now. */
  #lineOf(type: number, sets: readonly FileSet[], node: number): number {
    const set = sets.find((other) => other.type === type);
    if (set !== undefined) return set.line;
    for (let index = 0; node !== 0 && index < this.#soleLines.length; index += 2)
      if (this.#soleLines[index] === node) return this.#soleLines[index + 1]!;
    return sets[0]!.line;
  }

  #buildZone(soa: {
    readonly line: number;
    readonly owner: Name;
    readonly values: ZoneSoa;
  }): Zone | undefined {
    const tree = this.#tree!;
    const origin = nameToText(tree.origin);
    const servers = this.#apexSets.filter((set) => set.type === typeNs);
    if (servers.length === 0) {
      this.#report({ line: 0, message: `the zone has no NS record at ${origin}; name at least one server` });
      return undefined;
    }
    const given: WireSet[] = [];
    for (const set of this.#apexSets) if (set.type !== typeNs) addSet(given, toWireSet(set));
    let isFaulty = false;
    buildOwner(
      { name: tree.origin, sets: given },
      { origin: tree.origin, builder: this.#builder!, signedElsewhere: true },
      ({ type, message }) => {
        isFaulty = true;
        this.#report({ line: this.#lineOf(type, this.#apexSets, 0), owner: tree.origin, message });
      },
    );
    const isSigned = given.some((set) => set.type === typeRrsig && set.rdatas.some(coversSoa));
    if (this.#signatureLine >= 0 && !isSigned && !this.#takesAnySignatures) {
      const line = this.#signatureLine;
      const message =
        "the zone has signatures or denials, but its SOA is not signed; take the whole signed zone, or the zone unsigned";
      this.#report({ line, message });
      return undefined;
    }
    if (isFaulty) return undefined;
    try {
      const zone = new Zone(
        {
          origin,
          soa: soa.values,
          nameServers: uniqueRdatas(servers.flatMap((set) => set.rdatas)).map((rdata) =>
            rdataToText(typeNs, rdata),
          ),
          nameServerTtl: Math.min(...servers.map((set) => set.ttl)),
        },
        tree,
      );
      if (given.length > 0)
        zone.load(
          new Map([[origin, given.map((set) => wireSetToText(tree.origin, set))]]),
          soa.values.serial,
        );
      return zone;
    } catch (error) {
      this.#report({ line: soa.line, message: dnsErrorText(error) });
      return undefined;
    }
  }
}

function toWireSet({ type, ttl, rdatas }: FileSet): WireSet {
  return { type, ttl, rdatas: uniqueRdatas(rdatas), policy: isAddress(type) ? rotatePolicy : fixedPolicy };
}

function coversSoa(signature: Uint8Array): boolean {
  return ((signature[0]! << 8) | signature[1]!) === typeSoa;
}

function isAddress(type: number): boolean {
  return type === typeA || type === typeAaaa;
}

function readSoa({ rdata, ttl }: FileRecord): ZoneSoa {
  const [mname, rname, ...numbers] = rdataToText(typeSoa, rdata).split(" ");
  const [serial, refresh, retry, expire, minimum] = numbers.map(Number);
  return {
    mname: mname!,
    rname: rname!,
    serial: serial!,
    refresh: refresh!,
    retry: retry!,
    expire: expire!,
    minimum: minimum!,
    ttl: ttl ?? minimum!,
  };
}
