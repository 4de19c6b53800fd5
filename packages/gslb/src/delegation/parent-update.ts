import type { UpdateChange, UpdatePrerequisite } from "@meridian/dns";
import { addressFamilies, splitFamilies, type AddressFamily } from "../decide/address-family.ts";
import type { DelegatedZone } from "./delegation-provider.ts";

/** Records of one name and type: their data, names canonical, and their TTL in seconds. */
export interface ParentSet {
  readonly data: readonly string[];
  /** 0 where there are none. */
  readonly ttl: number;
}

/** What a parent zone has of a delegation. A set that its server does not tell is absent. */
export interface ParentRecords {
  /** The names of the servers that the zone is delegated to. */
  readonly NS?: ParentSet;
  /** The addresses of the own server's name. */
  readonly A?: ParentSet;
  readonly AAAA?: ParentSet;
}

/** One message, made whole or not at all. */
export interface ParentUpdate {
  readonly prerequisites: readonly UpdatePrerequisite[];
  readonly changes: readonly UpdateChange[];
}

/**
 * What makes a parent zone delegate to the own server; `undefined` where it does. What others wrote is never removed, and only
 * the first of all servers, in the order of their names, keeps the TTL of the set that they share: two that want different
 * ones would change it for ever.
 */
export function ensureUpdate(zone: DelegatedZone, present: ParentRecords): ParentUpdate | undefined {
  const { zone: child, own } = namesOf(zone);
  const glue = addressFamilies.flatMap((family) => glueChanges(zone, family, present[family]));
  const servers = serverChanges(zone, present.NS);
  const changes = [...glue, ...servers.changes];
  if (changes.length === 0) return undefined;
  return {
    // Records beside a CNAME are passed over in silence (RFC 2136 §3.4.2.2).
    prerequisites: [
      { kind: "setAbsent", name: own, type: "CNAME" },
      { kind: "setAbsent", name: child, type: "CNAME" },
      ...servers.prerequisites,
    ],
    changes,
  };
}

/**
 * What takes the own server out of a parent zone; `undefined` where nothing of it is there. Addresses that another zone needs
 * stay.
 */
export function withdrawUpdate(zone: DelegatedZone, present: ParentRecords): ParentUpdate | undefined {
  const { zone: child, own } = namesOf(zone);
  const changes: UpdateChange[] = [];
  if (present.NS === undefined || present.NS.data.includes(own))
    changes.push({ kind: "deleteRecord", name: child, type: "NS", data: `${own}.` });
  for (const family of zone.isNameServerShared === true ? [] : addressFamilies)
    if (present[family] === undefined || present[family].data.length > 0)
      changes.push({ kind: "deleteSet", name: own, type: family });
  return changes.length === 0 ? undefined : { prerequisites: [], changes };
}

/** The set as a whole is the own one: replaced in one message, there is no moment without it. */
function glueChanges(
  { ownNameServer, ownAddresses, unknownFamily, ttlSeconds }: DelegatedZone,
  family: AddressFamily,
  present: ParentSet | undefined,
): readonly UpdateChange[] {
  const kept = family === unknownFamily ? (present?.data ?? []) : [];
  const wanted = splitFamilies([...ownAddresses[family], ...kept]).targets[family];
  const isRight =
    present !== undefined &&
    present.data.toSorted().join() === wanted.toSorted().join() &&
    (wanted.length === 0 || present.ttl === ttlSeconds);
  if (isRight) return [];
  const added = wanted.map(
    (data) => ({ kind: "add", name: ownNameServer, type: family, ttl: ttlSeconds, data }) as const,
  );
  // Of a family that nobody tells of, nor the parent what it has, nothing may go.
  if (family === unknownFamily && present === undefined) return added;
  return [{ kind: "deleteSet", name: ownNameServer, type: family }, ...added];
}

function serverChanges(zone: DelegatedZone, present: ParentSet | undefined): ParentUpdate {
  const { zone: child, own } = namesOf(zone);
  const add = (name: string, ttl: number): UpdateChange => ({
    ...{ kind: "add", name: child, type: "NS" },
    ...{ ttl, data: `${name}.` },
  });
  if (present === undefined || present.data.length === 0)
    return { prerequisites: [], changes: [add(own, zone.ttlSeconds)] };
  if (!present.data.includes(own)) return { prerequisites: [], changes: [add(own, present.ttl)] };
  const isKeeper = present.data.toSorted()[0] === own;
  if (!isKeeper || present.ttl === zone.ttlSeconds) return { prerequisites: [], changes: [] };
  return {
    // Adding all of them must not bring one back that left meanwhile.
    prerequisites: [
      { kind: "setEquals", name: child, type: "NS", data: present.data.map((name) => `${name}.`) },
    ],
    changes: present.data.map((name) => add(name, zone.ttlSeconds)),
  };
}

function namesOf(zone: DelegatedZone): { readonly zone: string; readonly own: string } {
  return { zone: zone.loadBalancedZone, own: zone.ownNameServer };
}
