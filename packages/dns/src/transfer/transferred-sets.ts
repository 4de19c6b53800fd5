import { DnsError } from "../dns-error.ts";
import { typeToText } from "../message/codes.ts";
import { rdataToText } from "../message/rdata.ts";
import { typeA, typeAaaa, typeSoa } from "../message/type-numbers.ts";
import { foldName, nameToText } from "../name/name.ts";
import type { RecordSet } from "../zone/record-set.ts";
import type { WireRecord, ZoneDelta } from "../zone/wire-record.ts";

/** The sets of one owner by type. */
type OwnerSets = Map<string, OpenSet>;

interface OpenSet {
  readonly name: string;
  ttl: number;
  /** Data by what it is compared by. */
  readonly data: Map<string, string>;
}

/** What an owner has now, and what it is called with: the parts of a zone that deltas are applied to. */
export interface SetsByOwner {
  /** Owners folded, without the trailing dot. Of the apex the SOA may be among them. */
  recordSetsOf(owner: string): readonly RecordSet[];
}

/**
 * Records as record sets, in the order in which their owners came; the SOA is left out. Several TTLs in one set become
 * the least (RFC 2181 §5.2). Pure.
 *
 * @throws DnsError `BadMessage` for rdata that is not of its type
 */
export function toRecordSets(records: Iterable<WireRecord>): RecordSet[] {
  const owners = new Map<string, OwnerSets>();
  for (const record of records) {
    if (record.type !== typeSoa) add(owners, record);
  }
  return [...owners.values()].flatMap(closeSets);
}

/**
 * What the owners that differ have after all the steps, for `Zone.replace`; an owner that has nothing left is there with
 * no sets. The apex's is without its SOA. Pure.
 *
 * @throws DnsError `BadTransfer` when a step removes a record that is not there, or adds one that is: then these are not
 * the differences from what we have
 */
export function applyDeltas(
  zone: SetsByOwner,
  deltas: readonly ZoneDelta[],
): ReadonlyMap<string, readonly RecordSet[]> {
  const owners = new Map<string, OwnerSets>();
  const open = ({ owner, type }: WireRecord): string => {
    const key = ownerKey(owner);
    if (!owners.has(key)) owners.set(key, openSets(zone.recordSetsOf(key)));
    return `${key} ${typeToText(type)}`;
  };
  for (const { removed, added, fromSerial, toSerial } of deltas) {
    const differs = (record: string, what: string): DnsError =>
      new DnsError("BadTransfer", `the step from serial ${fromSerial} to ${toSerial} ${what}: ${record}`);
    for (const record of removed) {
      if (record.type === typeSoa) continue;
      const text = open(record);
      const sets = owners.get(ownerKey(record.owner))!;
      const type = typeToText(record.type);
      const set = sets.get(type);
      if (set?.data.delete(dataKey(type, rdataToText(record.type, record.rdata))) !== true)
        throw differs(text, "removes a record that is not there");
      if (set.data.size === 0) sets.delete(type);
    }
    for (const record of added) {
      if (record.type === typeSoa) continue;
      const text = open(record);
      if (!add(owners, record)) throw differs(text, "adds a record that is there already");
    }
  }
  return new Map([...owners].map(([owner, sets]) => [owner, closeSets(sets)]));
}

/** Adds a record to the sets of its owner; false when it was there. */
function add(owners: Map<string, OwnerSets>, { owner, type, ttl, rdata }: WireRecord): boolean {
  const key = ownerKey(owner);
  let sets = owners.get(key);
  if (sets === undefined) owners.set(key, (sets = new Map()));
  const mnemonic = typeToText(type);
  let set = sets.get(mnemonic);
  if (set === undefined) sets.set(mnemonic, (set = { name: nameToText(owner), ttl, data: new Map() }));
  else set.ttl = Math.min(set.ttl, ttl);
  const text = rdataToText(type, rdata);
  const known = dataKey(mnemonic, text);
  if (set.data.has(known)) return false;
  set.data.set(known, text);
  return true;
}

function openSets(sets: readonly RecordSet[]): OwnerSets {
  const open: OwnerSets = new Map();
  for (const { name, type, ttl, data } of sets) {
    if (type === "SOA") continue;
    open.set(type, { name, ttl, data: new Map(data.map((text) => [dataKey(type, text), text])) });
  }
  return open;
}

function closeSets(sets: OwnerSets): RecordSet[] {
  return [...sets].map(([type, { name, ttl, data }]) => ({
    name,
    type,
    ttl,
    data: [...data.values()],
    ...(rotates(type) ? { policy: { kind: "rotate" as const } } : {}),
  }));
}

const rotating: ReadonlySet<string> = new Set([typeToText(typeA), typeToText(typeAaaa)]);

/** Addresses rotate, as those of a zone file do. */
function rotates(type: string): boolean {
  return rotating.has(type);
}

/** Types whose data is names: a primary that compresses without regard to case may send them in another case each time. */
const namedTypes: ReadonlySet<string> = new Set(["NS", "CNAME", "DNAME", "PTR", "MX", "SRV"]);

function dataKey(type: string, text: string): string {
  return namedTypes.has(type) ? text.toLowerCase() : text;
}

function ownerKey(owner: Uint8Array): string {
  return nameToText(foldName(owner));
}
