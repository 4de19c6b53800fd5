import { typeFromText, typeToText } from "../message/codes.ts";
import { rdataFromText, rdataNames, rdataToText } from "../message/rdata.ts";
import { typeA, typeAaaa, typeNs, typeSoa } from "../message/type-numbers.ts";
import { equalNames, foldName, nameFromText, nameToText, type Name } from "../name/name.ts";
import type { AnswerPolicy, RecordSet } from "../zone/record-set.ts";
import { isNewerSerial } from "../zone/serial.ts";
import type { Zone, ZoneStep } from "../zone/zone.ts";
import type { ZoneSoa } from "../zone/zone-apex.ts";

/** What a draft needs of a zone. */
export type DraftedZone = Pick<Zone, "origin" | "soa" | "recordSetsOf" | "apexExtraTypes">;

/** What a zone is to become. */
export interface ZoneChange {
  /** Everything that each touched owner is to have, SOA, NS and what signing made of the apex excepted. */
  readonly owners: ReadonlyMap<string, readonly RecordSet[]>;
  /** SOA fields and NS set of the apex, where they change, and the serial that a new SOA brought. */
  readonly step: ZoneStep;
}

/** One set as it is being changed: records by what they are compared with. */
interface DraftSet {
  readonly type: number;
  readonly before: RecordSet | undefined;
  ttl: number;
  readonly records: Map<string, string>;
  changed: boolean;
}

interface DraftOwner {
  readonly name: string;
  readonly sets: Map<number, DraftSet>;
}

/**
 * The names of a zone that an update touches, as they become step by step. Only those names are read, so a change costs
 * the same in a zone of ten and of a million names; nothing in the zone changes until `changes` is applied to it.
 */
export class ZoneDraft {
  readonly #zone: DraftedZone;
  readonly #origin: Name;
  readonly #owners = new Map<string, DraftOwner>();
  #soa: ZoneSoa | undefined;

  constructor(zone: DraftedZone) {
    this.#zone = zone;
    this.#origin = nameFromText(zone.origin);
  }

  isApex(owner: Name): boolean {
    return equalNames(owner, this.#origin);
  }

  /** The types that a name has data of. */
  types(owner: Name): number[] {
    const { sets } = this.#owner(owner);
    return [...sets.values()].filter((set) => set.records.size > 0).map((set) => set.type);
  }

  /** The records of a set, as keys that are equal where the records are; `undefined` where there are none. */
  keys(owner: Name, type: number): ReadonlySet<string> | undefined {
    const set = this.#owner(owner).sets.get(type);
    return set === undefined || set.records.size === 0 ? undefined : new Set(set.records.keys());
  }

  /** Adds a record, or gives it and its set another TTL (RFC 2181 §5.2). */
  add(
    owner: Name,
    record: { readonly type: number; readonly ttl: number; readonly rdata: Uint8Array },
  ): void {
    const { type, ttl, rdata } = record;
    const draft = this.#owner(owner);
    const set = draft.sets.get(type) ?? {
      type,
      before: undefined,
      ttl,
      records: new Map<string, string>(),
      changed: true,
    };
    draft.sets.set(type, set);
    const key = rdataKey(type, rdata);
    if (set.records.has(key) && set.ttl === ttl) return;
    if (!set.records.has(key)) set.records.set(key, rdataToText(type, rdata));
    set.ttl = ttl;
    set.changed = true;
  }

  /** Takes one record out, whatever its TTL; false where there is none. */
  remove(owner: Name, type: number, rdata: Uint8Array): boolean {
    const set = this.#owner(owner).sets.get(type);
    if (set?.records.delete(rdataKey(type, rdata)) !== true) return false;
    set.changed = true;
    return true;
  }

  /** Takes a whole set out. */
  removeSet(owner: Name, type: number): void {
    const set = this.#owner(owner).sets.get(type);
    if (set === undefined) return;
    set.records.clear();
    set.changed = true;
  }

  /** Replaces the SOA's fields, if the serial is newer than the zone's (RFC 2136 §3.4.2.2). */
  setSoa(soa: ZoneSoa): void {
    if (isNewerSerial(soa.serial, (this.#soa ?? this.#zone.soa).serial)) this.#soa = soa;
  }

  /** What differs from the zone, or `undefined`. */
  changes(): ZoneChange | undefined {
    const owners = new Map<string, readonly RecordSet[]>();
    const extra = this.#zone.apexExtraTypes;
    let step: ZoneStep = {};
    if (this.#soa !== undefined) {
      const { serial, ...soa } = this.#soa;
      step = { serial, soa };
    }
    for (const [key, { sets }] of this.#owners) {
      if (![...sets.values()].some(isDifferent)) continue;
      const isOrigin = key === this.#zone.origin;
      const apexNs = isOrigin ? sets.get(typeNs) : undefined;
      if (apexNs !== undefined && isDifferent(apexNs))
        step = { ...step, nameServers: [...apexNs.records.values()], nameServerTtl: apexNs.ttl };
      const rest = isOrigin
        ? [...sets.values()].filter(({ type }) => type !== typeSoa && type !== typeNs && !extra.has(type))
        : [...sets.values()];
      if (!rest.some(isDifferent)) continue;
      owners.set(
        key,
        rest.flatMap((set) => toRecordSet(key, set)),
      );
    }
    return owners.size === 0 && Object.keys(step).length === 0 ? undefined : { owners, step };
  }

  #owner(name: Name): DraftOwner {
    const key = nameToText(foldName(name));
    const known = this.#owners.get(key);
    if (known !== undefined) return known;
    const sets = new Map<number, DraftSet>();
    for (const before of this.#zone.recordSetsOf(key)) {
      const type = typeFromText(before.type);
      const records = new Map(
        before.data.map((text) => [rdataKey(type, rdataFromText(type, text)), text] as const),
      );
      sets.set(type, { type, before, ttl: before.ttl, records, changed: false });
    }
    const owner = { name: key, sets };
    this.#owners.set(key, owner);
    return owner;
  }
}

/** Equal for records that are the same: names in rdata are compared without case (RFC 2136 §1.1.1, RFC 4034 §6.2). */
export function rdataKey(type: number, rdata: Uint8Array): string {
  const folded = rdata.slice();
  for (const { at, name } of rdataNames(type, rdata)) folded.set(foldName(name), at);
  let key = "";
  for (const octet of folded) key += String.fromCharCode(octet);
  return key;
}

function isDifferent({ changed, before, ttl, records }: DraftSet): boolean {
  if (!changed) return false;
  if (before === undefined) return records.size > 0;
  return (
    ttl !== before.ttl ||
    records.size !== before.data.length ||
    [...records.values()].some((text, index) => text !== before.data[index])
  );
}

function toRecordSet(owner: string, set: DraftSet): RecordSet[] {
  const { before, type, ttl, records } = set;
  if (before !== undefined && !isDifferent(set)) return [before];
  if (records.size === 0) return [];
  const policy = policyOf(set);
  return [
    {
      name: before?.name ?? owner,
      type: typeToText(type),
      ttl,
      data: [...records.values()],
      ...(policy === undefined ? {} : { policy }),
    },
  ];
}

/** A policy that names records cannot stay when they change; then, as in a zone file, addresses rotate. */
function policyOf({ before, type }: DraftSet): AnswerPolicy | undefined {
  const policy = before?.policy;
  if (policy?.kind === "fixed" || policy?.kind === "rotate") return policy;
  return type === typeA || type === typeAaaa ? { kind: "rotate" } : undefined;
}
