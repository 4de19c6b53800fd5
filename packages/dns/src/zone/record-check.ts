import { dnsErrorText } from "../dns-error.ts";
import { typeFromText, typeToText } from "../message/codes.ts";
import {
  typeAny,
  typeCname,
  typeDname,
  typeMetaMin,
  typeNs,
  typeNsec,
  typeNsec3,
  typeNsec3Param,
  typeOpt,
  typeRrsig,
  typeSoa,
} from "../message/type-numbers.ts";
import {
  equalNames,
  foldName,
  isAtOrBelow,
  isWildcardName,
  nameFromText,
  nameToText,
  type Name,
} from "../name/name.ts";
import type { ContentBuilder } from "./content-builder.ts";
import type { RecordSet } from "./record-set.ts";
import { joinSets, wireSetFromText, type WireSet } from "./wire-set.ts";

/** A record set that a zone cannot hold, and why. */
export interface RecordProblem {
  /** As it was given. */
  readonly owner: string;
  readonly type: string;
  /** One line: what is wrong and what to do. */
  readonly message: string;
}

/** What an owner is to have, built. */
export interface OwnerContent {
  readonly name: Name;
  readonly sets: readonly WireSet[];
  /** Absent: nothing at all. */
  readonly words: Int32Array | undefined;
}

/** Sets at one name: each is looked at for each other, so thousands would keep a server from its answers (CVE-2024-1737). */
export const typesPerNameMax = 256;
export const tooManyTypes: string = `a name has at most ${typesPerNameMax} types of records; use several names`;

/** Where record sets are to go. */
export interface Destination {
  readonly origin: Name;
  readonly builder: ContentBuilder;
  /** Whether signatures and denials may be among them: the zone has been signed elsewhere. */
  readonly signedElsewhere: boolean;
}

/**
 * Builds a batch of changes for a zone, owner by owner. Owners and sets that differ only in case are one (RFC 4343); sets
 * of one type at one owner become one, with the least TTL.
 */
export function buildChanges(
  changes: ReadonlyMap<string, readonly RecordSet[]>,
  destination: Destination,
): { readonly contents: readonly OwnerContent[]; readonly problems: readonly RecordProblem[] } {
  const problems: RecordProblem[] = [];
  const byOwner = new Map<string, { name: Name; owner: string; sets: WireSet[] }>();
  for (const [owner, sets] of changes) {
    const report = (message: string, type = sets[0]?.type ?? ""): void =>
      void problems.push({ owner, type, message });
    const name = readOwner(owner, { origin: destination.origin, report });
    if (name === undefined) continue;
    const key = nameToText(name);
    const entry = byOwner.get(key) ?? { name, owner, sets: [] };
    byOwner.set(key, entry);
    for (const set of sets) {
      const message = isNamed(set, { name, owner })
        ? addText(entry.sets, set)
        : `the record set is named ${set.name} but stands under ${owner}; use one name`;
      if (message !== undefined) report(message, set.type);
    }
  }
  const contents = [...byOwner.values()].map(({ name, owner, sets }) =>
    buildOwner({ name, sets }, destination, ({ type, message }) =>
      problems.push({ owner, type: typeToText(type), message }),
    ),
  );
  return { contents, problems };
}

/** Builds what one owner is to have. A set that cannot be there is reported and left out. */
export function buildOwner(
  { name, sets }: { readonly name: Name; readonly sets: readonly WireSet[] },
  { origin, builder, signedElsewhere }: Destination,
  report: (problem: { readonly type: number; readonly message: string }) => void,
): OwnerContent {
  const kept = sets.filter((set) => {
    const message =
      (signedElsewhere ? undefined : signatureProblem(set)) ?? conflictOf(set, { sets, name, origin });
    if (message !== undefined) report({ type: set.type, message });
    return message === undefined;
  });
  if (kept.length === 0) return { name, sets: kept, words: undefined };
  builder.begin();
  for (const set of kept) {
    try {
      builder.add(set);
    } catch (error) {
      report({ type: set.type, message: dnsErrorText(error) });
      return { name, sets: [], words: undefined };
    }
  }
  builder.end();
  return { name, sets: kept, words: builder.take() };
}

/** Adds a set to those of its owner, joined with one of its type. @returns why that cannot be */
export function addSet(sets: WireSet[], set: WireSet): string | undefined {
  const index = sets.findIndex((other) => other.type === set.type);
  const other = sets[index];
  if (other === undefined) {
    if (sets.length >= typesPerNameMax) return tooManyTypes;
    sets.push(set);
  } else if (isPlain(other) && isPlain(set)) sets[index] = joinSets(other, set);
  else
    return "there is another set of this type, and sets with weights or places cannot be joined; keep one of them";
  return undefined;
}

function addText(sets: WireSet[], set: RecordSet): string | undefined {
  try {
    return addSet(sets, wireSetFromText(set));
  } catch (error) {
    // A type of questions is told as such, not by data that it has no form for.
    return metaTypeProblem(set.type) ?? dnsErrorText(error);
  }
}

function metaTypeProblem(text: string): string | undefined {
  try {
    const type = typeFromText(text);
    return isMetaType(type) ? metaTypeText(type) : undefined;
  } catch {
    return undefined;
  }
}

function isPlain({ policy }: WireSet): boolean {
  return policy.kind === "fixed" || policy.kind === "rotate";
}

function readOwner(
  owner: string,
  { origin, report }: { readonly origin: Name; readonly report: (message: string) => void },
): Name | undefined {
  try {
    const name = foldName(nameFromText(owner));
    if (isAtOrBelow(name, origin)) return name;
    report(`${owner} is not in the zone ${nameToText(origin)}; give it to the zone that it belongs to`);
  } catch (error) {
    report(dnsErrorText(error));
  }
  return undefined;
}

function isNamed(set: RecordSet, { name, owner }: { readonly name: Name; readonly owner: string }): boolean {
  if (set.name === owner) return true;
  try {
    return equalNames(nameFromText(set.name), name);
  } catch {
    return false;
  }
}

/** What the DNS forbids about a set at its place, beyond its own content. */
function conflictOf(
  set: WireSet,
  { sets, name, origin }: { readonly sets: readonly WireSet[]; readonly name: Name; readonly origin: Name },
): string | undefined {
  const { type } = set;
  if (isMetaType(type)) return metaTypeText(type);
  if (type === typeNsec3Param) return iterationsProblem(set);
  if (set.rdatas.length === 0) return undefined;
  const isSole = type === typeCname || type === typeDname;
  if (!isSole && type !== typeNs && type !== typeSoa) return undefined;
  const atApex = equalNames(name, origin);
  if (atApex && (type === typeSoa || type === typeNs))
    return "the SOA and NS of the apex are the zone's own; set them with setSoa and setNameServers";
  if (type === typeSoa) return "an SOA stands only at the apex of a zone; remove it";
  if (type === typeNs && isWildcardName(name))
    return "a wildcard cannot be delegated (RFC 4592 §4.2); name the delegated zone";
  if (type === typeDname && isWildcardName(name))
    return "a wildcard cannot own a DNAME (RFC 4592 §4.4); remove one of them";
  if (type === typeCname && atApex)
    return "the apex cannot be a CNAME (RFC 1034 §3.6.2); use A and AAAA, or HTTPS";
  if (isSole && set.rdatas.length > 1) return `a name owns one ${typeToText(type)} only; keep one`;
  const isBeside = (other: WireSet): boolean => other !== set && other.rdatas.length > 0;
  // What signing makes may stand beside an alias (RFC 4035 §2.5), and is told of as such.
  if (type === typeCname && sets.some((other) => isBeside(other) && !signatureTypes.has(other.type)))
    return "a CNAME cannot stand beside other data (RFC 1034 §3.6.2); remove the CNAME or the rest";
  if (type === typeDname && !atApex && sets.some((other) => other.type === typeNs && other.rdatas.length > 0))
    return "a DNAME cannot stand at a zone cut (RFC 6672 §2.3); remove the DNAME or the NS set";
  return undefined;
}

/** What signing makes of a zone (RFC 4034, RFC 5155). */
export const signatureTypes: ReadonlySet<number> = new Set([typeRrsig, typeNsec, typeNsec3, typeNsec3Param]);

/** Signatures beside data that is not signed would be bogus to everybody who validates. */
function signatureProblem({ type }: WireSet): string | undefined {
  if (!signatureTypes.has(type)) return undefined;
  return `${typeToText(type)} is of a zone that was signed elsewhere, and this one is not: its SOA has no signature; take the whole signed zone, or the zone unsigned`;
}

/** Each denial hashes three names so often. Over it validators take the zone for unsigned anyway (RFC 9276 §3.2). */
const iterationsMax = 150;

function iterationsProblem({ rdatas }: WireSet): string | undefined {
  for (const rdata of rdatas) {
    const iterations = (rdata[2]! << 8) | rdata[3]!;
    if (iterations > iterationsMax)
      return `NSEC3 with ${iterations} more iterations costs more than it hides, and over ${iterationsMax} is not served; sign the zone with 0 (RFC 9276)`;
  }
  return undefined;
}

function isMetaType(type: number): boolean {
  return type === 0 || type === typeOpt || (type >= typeMetaMin && type <= typeAny);
}

function metaTypeText(type: number): string {
  return `${typeToText(type)} is a type of questions or messages, not of zone data; remove it`;
}
