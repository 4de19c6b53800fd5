import { rdataFromText } from "../message/rdata.ts";
import { typeNs, typeSoa } from "../message/type-numbers.ts";
import { nameFromText, nameToAbsoluteText } from "../name/name.ts";
import type { ContentBuilder } from "./content-builder.ts";
import { fixedPolicy, rdatasFromText, type WireSet } from "./wire-set.ts";

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

/** What the apex of a zone has. */
export interface ZoneApex {
  readonly soa: ZoneSoa;
  /** At least one. */
  readonly nameServers: readonly string[];
  readonly nameServerTtl: number;
  /** What signing put there; hides what was given of the same types. */
  readonly extra: readonly WireSet[];
  /** What changes of owners gave it. */
  readonly given: readonly WireSet[];
}

/** What a step changes of SOA and NS. */
export interface ApexChange {
  readonly soa?: Partial<Omit<ZoneSoa, "serial">>;
  /** The whole apex NS set. */
  readonly nameServers?: readonly string[];
  readonly nameServerTtl?: number;
}

/**
 * The apex after a change.
 *
 * @param whole all sets that the apex is to have beside SOA and NS; absent: those that it has
 */
export function apexAfter(
  present: ZoneApex,
  { soa, nameServers, nameServerTtl }: ApexChange,
  whole: readonly WireSet[] | undefined,
): ZoneApex {
  if (soa === undefined && nameServers === undefined && nameServerTtl === undefined && whole === undefined)
    return present;
  // A change may hand all sets of the apex back, those of signing among them; what those hide stays as it is.
  const isExtra = ({ type }: WireSet): boolean => present.extra.some((extra) => extra.type === type);
  const given = whole && [
    ...whole.filter((set) => !isExtra(set)),
    ...present.given.filter((set) => isExtra(set)),
  ];
  return {
    soa: { ...present.soa, ...soa },
    nameServers: nameServers ?? present.nameServers,
    nameServerTtl: nameServerTtl ?? present.nameServerTtl,
    extra: present.extra,
    given: given ?? present.given,
  };
}

/** The apex as a content. @throws DnsError `BadName` or `BadRecord` */
export function buildApex(builder: ContentBuilder, apex: ZoneApex): Int32Array {
  const given = apex.given.filter(({ type }) => apex.extra.every((extra) => extra.type !== type));
  return build(builder, [soaSet(apex.soa), nameServerSet(apex), ...apex.extra, ...given]);
}

/** The SOA as negative answers have it (RFC 2308 §3), as a content. */
export function buildNegativeSoa(builder: ContentBuilder, soa: ZoneSoa): Int32Array {
  return build(builder, [{ ...soaSet(soa), ttl: Math.min(soa.ttl, soa.minimum) }]);
}

/** A SOA record as a set. @throws DnsError `BadName` or `BadRecord` */
export function soaSet(soa: ZoneSoa): WireSet {
  const { mname, rname, serial, refresh, retry, expire, minimum, ttl } = soa;
  const data = `${absolute(mname)} ${absolute(rname)} ${serial} ${refresh} ${retry} ${expire} ${minimum}`;
  return { type: typeSoa, ttl, rdatas: [rdataFromText(typeSoa, data)], policy: fixedPolicy };
}

function nameServerSet({ nameServers, nameServerTtl }: ZoneApex): WireSet {
  const rdatas = rdatasFromText(typeNs, nameServers.map(absolute));
  return { type: typeNs, ttl: nameServerTtl, rdatas, policy: fixedPolicy };
}

function build(builder: ContentBuilder, sets: readonly WireSet[]): Int32Array {
  builder.begin();
  for (const set of sets) builder.add(set);
  builder.end();
  return builder.take();
}

function absolute(name: string): string {
  return nameToAbsoluteText(nameFromText(name));
}
