import { dnsErrorText } from "../dns-error.ts";
import { typeFromText, typeToText } from "../message/codes.ts";
import {
  equalNames,
  foldName,
  isAtOrBelow,
  isWildcardName,
  nameFromText,
  nameToText,
  type Name,
} from "../name/name.ts";
import { typeAny, typeMetaMin, typeOpt } from "../message/type-numbers.ts";
import { compileSet, type CompiledSet } from "./compiled-set.ts";
import type { RecordSet } from "./record-set.ts";
import type { OwnerContent } from "./zone-tree.ts";

/** A record set that a zone cannot hold, and why. */
export interface RecordProblem {
  /** As it was given. */
  readonly owner: string;
  readonly type: string;
  /** One line: what is wrong and what to do. */
  readonly message: string;
}

/**
 * Compiles a batch of changes for a zone, owner by owner. Owners and sets that differ only in case are one (RFC 4343);
 * sets of one type at one owner become one, with the least TTL. Pure.
 */
export function compileChanges(
  changes: ReadonlyMap<string, readonly RecordSet[]>,
  origin: Name,
): { readonly contents: readonly OwnerContent[]; readonly problems: readonly RecordProblem[] } {
  const problems: RecordProblem[] = [];
  const byOwner = new Map<string, { name: Name; owner: string; given: RecordSet[] }>();
  for (const [owner, sets] of changes) {
    const report = (message: string, type = sets[0]?.type ?? ""): void =>
      void problems.push({ owner, type, message });
    const name = readOwner(owner, { origin, report });
    if (name === undefined) continue;
    const key = nameToText(name);
    const entry = byOwner.get(key) ?? { name, owner, given: [] };
    byOwner.set(key, entry);
    for (const set of sets) {
      if (isNamed(set, name)) addSet(entry.given, { set, report });
      else report(`the record set is named ${set.name} but stands under ${owner}; use one name`, set.type);
    }
  }
  const contents = [...byOwner.values()].map(({ name, owner, given }) => {
    const sets: CompiledSet[] = [];
    for (const set of given) {
      const message = conflictOf(set, { given, name, origin });
      if (message === undefined) {
        const compiled = tryCompile(set, origin);
        if (typeof compiled === "string") problems.push({ owner, type: set.type, message: compiled });
        else if (compiled !== undefined) sets.push(compiled);
      } else {
        problems.push({ owner, type: set.type, message });
      }
    }
    return { name, given, sets };
  });
  return { contents, problems };
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

function isNamed(set: RecordSet, name: Name): boolean {
  try {
    return equalNames(nameFromText(set.name), name);
  } catch {
    return false;
  }
}

function addSet(
  given: RecordSet[],
  { set, report }: { readonly set: RecordSet; readonly report: (message: string, type: string) => void },
): void {
  const index = given.findIndex((other) => other.type.toUpperCase() === set.type.toUpperCase());
  const other = given[index];
  if (other === undefined) {
    given.push(set);
  } else if (other.policy?.kind === "weighted" || set.policy?.kind === "weighted") {
    report(
      "there is another set of this type, and weighted sets cannot be joined; keep one of them",
      set.type,
    );
  } else {
    given[index] = { ...other, ttl: Math.min(other.ttl, set.ttl), data: [...other.data, ...set.data] };
  }
}

/** What the DNS forbids about a set at its place, beyond its own content. */
function conflictOf(
  set: RecordSet,
  {
    given,
    name,
    origin,
  }: { readonly given: readonly RecordSet[]; readonly name: Name; readonly origin: Name },
): string | undefined {
  let type: number;
  try {
    type = typeFromText(set.type);
  } catch (error) {
    return dnsErrorText(error);
  }
  const mnemonic = typeToText(type);
  const atApex = equalNames(name, origin);
  if (type === 0 || type === typeOpt || (type >= typeMetaMin && type <= typeAny)) {
    return `${mnemonic} is a type of questions or messages, not of zone data; remove it`;
  }
  if (set.data.length === 0) return undefined;
  if (atApex && (mnemonic === "SOA" || mnemonic === "NS")) {
    return `the SOA and NS of the apex are the zone's own; set them with setSoa and setNameServers`;
  }
  if (mnemonic === "SOA") return "an SOA stands only at the apex of a zone; remove it";
  if (mnemonic === "NS" && isWildcardName(name))
    return "a wildcard cannot be delegated (RFC 4592 §4.2); name the delegated zone";
  if (mnemonic === "DNAME" && isWildcardName(name))
    return "a wildcard cannot own a DNAME (RFC 4592 §4.4); remove one of them";
  if (mnemonic === "CNAME" && atApex)
    return "the apex cannot be a CNAME (RFC 1034 §3.6.2); use A and AAAA, or HTTPS";
  if ((mnemonic === "CNAME" || mnemonic === "DNAME") && new Set(set.data).size > 1)
    return `a name owns one ${mnemonic} only; keep one`;
  if (mnemonic === "CNAME" && given.some((other) => other !== set && other.data.length > 0)) {
    return "a CNAME cannot stand beside other data (RFC 1034 §3.6.2); remove the CNAME or the rest";
  }
  if (
    mnemonic === "DNAME" &&
    !atApex &&
    given.some((other) => other.type.toUpperCase() === "NS" && other.data.length > 0)
  ) {
    return "a DNAME cannot stand at a zone cut (RFC 6672 §2.3); remove the DNAME or the NS set";
  }
  return undefined;
}

function tryCompile(set: RecordSet, origin: Name): CompiledSet | string | undefined {
  try {
    if (set.data.length === 0) return undefined;
    return compileSet(set, origin);
  } catch (error) {
    return dnsErrorText(error);
  }
}
