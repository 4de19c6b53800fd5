import type { RecordSet } from "@meridian/dns";
import { defaultAnswerModes, type AnswerModes } from "../decide/answer-modes.ts";
import { isInZone } from "../decide/dns-name.ts";
import { isLocalTargetsName } from "../decide/local-targets-name.ts";
import type { DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import { canonicalOwner, canonicalType } from "./canonical-text.ts";
import { toRecordSet, type GivenRecords } from "./record-data.ts";

/** A DNSEndpoint as far as zones care. */
export interface BookedObject {
  /** `namespace/name` */
  readonly key: string;
  /** Since when its names are claimed: the age that decides between objects. RFC 3339 in UTC, so text order is time order. */
  readonly since: string;
  /** It is this operator's own, controlled by a living Gslb; only such may own `localtargets-` names. */
  readonly isOwn: boolean;
  readonly records: readonly DnsEndpointRecord[];
  /** Of one that is `isOwn`: how its hosts are balanced, as TXT data for peers. */
  readonly policyText?: string;
}

/** Why an object does not get a name, or not all of it. */
export interface EndpointProblem {
  readonly key: string;
  readonly message: string;
}

/** `name` and `type` are canonical. */
interface Claim extends GivenRecords {
  readonly key: string;
  readonly since: string;
  readonly isOwn: boolean;
  readonly policyText: string | undefined;
}

/** What hides the names below one. */
interface Cover {
  /** The oldest of that name: where it may not stand, no younger one may. */
  readonly claim: Claim;
  /** An older Gslb's object that gives a name at or below it, so that it may not stand. */
  readonly hiddenOwner: string | undefined;
}

/**
 * Who says what about which name, over all DNSEndpoints.
 *
 * Objects share a name where they give it different types. Where they give the same type, the older object has it, on
 * every server alike; a CNAME shares with nothing (RFC 1034 §3.6.2), and nobody adds addresses of one family to a balanced
 * host that has only the other. What hides all names below it (NS, DNAME) must be older than the balanced hosts there.
 */
export class EndpointBook {
  readonly #objects = new Map<string, readonly Claim[]>();
  readonly #names = new Map<string, Claim[]>();
  /** Names to which any object gives what hides the names below them. */
  readonly #covers = new Map<string, Cover>();
  /** The operator's own objects that give a name at or below this one, and how many such. */
  readonly #ownBelow = new Map<string, Map<string, number>>();
  readonly #modes: AnswerModes;

  constructor(modes: AnswerModes = defaultAnswerModes) {
    this.#modes = modes;
  }

  /** Takes an object in place of its former self. @returns the names that may now answer otherwise */
  set(object: BookedObject): ReadonlySet<string> {
    return this.#replace(object.key, claimsOf(object, this.#modes));
  }

  /** @returns the names that may now answer otherwise */
  remove(key: string): ReadonlySet<string> {
    return this.#replace(key, []);
  }

  /** Every name that any object gives, canonical. */
  names(): IterableIterator<string> {
    return this.#names.keys();
  }

  /** What a name answers in its zone, and which objects do not get their way with it. */
  resolve(
    name: string,
    origin: string,
  ): {
    readonly sets: readonly RecordSet[];
    readonly problems: readonly EndpointProblem[];
    /** Where a Gslb of this cluster has the name as its host: how it balances it, as TXT data, and the answers' TTL. */
    readonly carried: { readonly policyText: string; readonly ttl: number } | undefined;
  } {
    const claims = [...(this.#names.get(name) ?? [])].sort(byAge);
    const problems: EndpointProblem[] = [];
    const winners = new Map<string, Claim>();
    for (const claim of claims) {
      const problem = this.#coverProblem(claim, origin) ?? claimProblem(claim, winners);
      if (problem === undefined) winners.set(claim.type, claim);
      else problems.push({ key: claim.key, message: problem });
    }
    const sets: RecordSet[] = [];
    for (const claim of winners.values()) {
      const { set, refused } = toRecordSet(claim, this.#modes);
      if (refused.length > 0) problems.push({ key: claim.key, message: refusedTargets(claim, refused) });
      // A peer reads an empty answer and no such name alike; only the host itself must stay known.
      if (set.data.length > 0 || !isLocalTargetsName(name)) sets.push(set);
    }
    return { sets, problems, carried: carriedBy(winners.get("A") ?? winners.get("AAAA")) };
  }

  /** The objects that give a name records, of a type or of any, the oldest first. */
  givers(name: string, type?: string): readonly string[] {
    const claims = [...(this.#names.get(name) ?? [])].sort(byAge);
    return [
      ...new Set(claims.filter((claim) => type === undefined || claim.type === type).map(({ key }) => key)),
    ];
  }

  #replace(key: string, claims: readonly Claim[]): ReadonlySet<string> {
    const dirty = new Set<string>();
    for (const claim of this.#objects.get(key) ?? []) {
      const { name } = claim;
      dirty.add(name);
      if (claim.isOwn) this.#countOwn(claim, -1);
      const others = (this.#names.get(name) ?? []).filter((other) => other.key !== key);
      if (others.length === 0) this.#names.delete(name);
      else this.#names.set(name, others);
    }
    for (const claim of claims) {
      const { name } = claim;
      dirty.add(name);
      if (claim.isOwn) this.#countOwn(claim, 1);
      this.#names.set(name, [...(this.#names.get(name) ?? []), claim]);
    }
    if (claims.length === 0) this.#objects.delete(key);
    else this.#objects.set(key, claims);
    const covers = new Set<string>();
    for (const name of dirty) {
      if ((this.#names.get(name) ?? []).some(isCover)) covers.add(name);
      // Whether a cover may stand depends on what is below it.
      for (const above of atOrAbove(name)) if (this.#covers.has(above)) covers.add(above);
    }
    for (const name of covers) {
      dirty.add(name);
      if (this.#followCover(name, key)) for (const below of this.#ownNamesBelow(name)) dirty.add(below);
    }
    return dirty;
  }

  /** Follows a change of one object. @returns whether balanced hosts below may be hidden otherwise than before */
  #followCover(name: string, changedKey: string): boolean {
    const before = this.#covers.get(name);
    const [claim] = (this.#names.get(name) ?? []).filter(isCover).sort(byAge);
    if (claim === undefined) this.#covers.delete(name);
    else
      this.#covers.set(name, { claim, hiddenOwner: this.#hiddenOwnerAfter(changedKey, { claim, before }) });
    const [was, is] = [standing(before), standing(this.#covers.get(name))];
    return was?.key !== is?.key || was?.since !== is?.since || was?.type !== is?.type;
  }

  /** As `#hiddenOwner`, but a change of another object costs no search. */
  #hiddenOwnerAfter(
    changedKey: string,
    { claim, before }: { readonly claim: Claim; readonly before: Cover | undefined },
  ): string | undefined {
    if (before?.claim !== claim || before.hiddenOwner === changedKey) return this.#hiddenOwner(claim);
    return before.hiddenOwner ?? (this.#wouldHide(claim, changedKey) ? changedKey : undefined);
  }

  /** The names at or below one that the operator's own objects give. */
  *#ownNamesBelow(above: string): IterableIterator<string> {
    for (const key of this.#ownBelow.get(above)?.keys() ?? [])
      for (const { name } of this.#objects.get(key) ?? [])
        if (name === above || name.endsWith(`.${above}`)) yield name;
  }

  #countOwn(claim: Claim, step: 1 | -1): void {
    for (const above of atOrAbove(claim.name)) {
      const owners = this.#ownBelow.get(above) ?? new Map<string, number>();
      const count = (owners.get(claim.key) ?? 0) + step;
      if (count > 0) this.#ownBelow.set(above, owners.set(claim.key, count));
      else if (owners.delete(claim.key) && owners.size === 0) this.#ownBelow.delete(above);
    }
  }

  /** Of a cover and a balanced host that it would hide, the younger one has a problem. */
  #coverProblem(claim: Claim, origin: string): string | undefined {
    if (isCover(claim)) {
      const owner = this.#hiddenOwner(claim);
      return owner === undefined
        ? undefined
        : `${claim.name} ${claim.type} would hide hosts of the older Gslb ${owner}; use a name that none is below`;
    }
    if (!claim.isOwn) return undefined;
    for (const above of atOrAbove(claim.name)) {
      if (above === origin || !isInZone(above, origin)) return undefined;
      const cover = standing(this.#covers.get(above));
      if (cover !== undefined && byAge(cover, claim) < 0)
        return `${claim.name} ${claim.type} is hidden by the ${cover.type} of ${cover.name} of the older DNSEndpoint ${cover.key}; use another name`;
    }
    return undefined;
  }

  /** The object of an older Gslb that gives a name which a cover would hide. */
  #hiddenOwner(cover: Claim): string | undefined {
    for (const key of this.#ownBelow.get(cover.name)?.keys() ?? [])
      if (this.#wouldHide(cover, key)) return key;
    return undefined;
  }

  /** Whether a cover would hide a name that an object of an older Gslb gives. */
  #wouldHide(cover: Claim, key: string): boolean {
    const [any] = this.#objects.get(key) ?? [];
    return any !== undefined && byAge(any, cover) < 0 && this.#ownBelow.get(cover.name)?.has(key) === true;
  }
}

/** The claim that hides balanced hosts which are younger. */
function standing(cover: Cover | undefined): Claim | undefined {
  return cover?.hiddenOwner === undefined ? cover?.claim : undefined;
}

function carriedBy(
  claim: Claim | undefined,
): { readonly policyText: string; readonly ttl: number } | undefined {
  if (claim?.policyText === undefined || isLocalTargetsName(claim.name)) return undefined;
  return { policyText: claim.policyText, ttl: claim.ttl };
}

/** Whether records hide all names below theirs: a delegation, or a DNAME (RFC 6672). */
function isCover({ type }: Claim): boolean {
  return type === "NS" || type === "DNAME";
}

/**
 * What only the operator makes. Peers ask for the keys below the apex, where a wildcard would answer while the zone is not
 * signed, and parents act on CDS and CDNSKEY (RFC 8078).
 */
const madeTypes: ReadonlySet<string> = new Set(["SOA", "DNSKEY", "CDS", "CDNSKEY"]);

/** A name and those above it, the nearest first. */
function* atOrAbove(name: string): IterableIterator<string> {
  yield name;
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) yield name.slice(dot + 1);
}

function refusedTargets({ name, type }: Claim, refused: readonly string[]): string {
  const shown = refused.slice(0, 3).map((target) => JSON.stringify(target.slice(0, 60)));
  const more = refused.length > shown.length ? ` and ${refused.length - shown.length} more` : "";
  return `${name} ${type} has targets that are no ${type} data, and are left out: ${shown.join(", ")}${more}`;
}

function byAge(a: Claim, b: Claim): number {
  if (a.since !== b.since) return a.since < b.since ? -1 : 1;
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

function claimProblem(claim: Claim, winners: ReadonlyMap<string, Claim>): string | undefined {
  if (isLocalTargetsName(claim.name) && !claim.isOwn)
    return `${claim.name} may only be owned by the DNSEndpoint of a Gslb, since peers believe it; use another name`;
  if (madeTypes.has(claim.type)) return `${claim.name} ${claim.type} is made by the operator; remove it`;
  const holder = winners.get(claim.type);
  if (holder !== undefined)
    return `${claim.name} ${claim.type} is held by the older DNSEndpoint ${holder.key}; remove it from one of the two`;
  const address = otherAddresses(claim, winners);
  if (address !== undefined)
    return `${claim.name} ${claim.type} cannot stand beside the ${address.type} of the older DNSEndpoint ${address.key}, since the addresses of a balanced host come from one object; remove it`;
  const cname = claim.type === "CNAME" ? [...winners.values()][0] : winners.get("CNAME");
  return cname === undefined
    ? undefined
    : `${claim.name} ${claim.type} cannot stand beside the ${cname.type} of the older DNSEndpoint ${cname.key}, since a CNAME stands alone`;
}

/** Another object's addresses of the other family, where one of the two objects is a Gslb's: a host is balanced as a whole. */
function otherAddresses(claim: Claim, winners: ReadonlyMap<string, Claim>): Claim | undefined {
  if (claim.type !== "A" && claim.type !== "AAAA") return undefined;
  const other = winners.get(claim.type === "A" ? "AAAA" : "A");
  const isForeign = other !== undefined && other.key !== claim.key && (other.isOwn || claim.isOwn);
  return isForeign ? other : undefined;
}

/** An object's entries by name and type; entries of the same are merged, each target once. */
function claimsOf(object: BookedObject, { recordTtl }: AnswerModes): readonly Claim[] {
  const claims = new Map<
    string,
    Omit<GivenRecords, "targets" | "labels"> & { targets: Set<string>; labels: Record<string, string> }
  >();
  for (const record of object.records) {
    const { dnsName = "", recordType = "A", recordTTL = 0 } = record;
    if (dnsName === "") continue;
    const name = canonicalOwner(dnsName);
    const type = canonicalType(recordType);
    const id = `${name} ${type}`;
    const before = claims.get(id);
    if (before !== undefined) {
      for (const target of record.targets ?? []) before.targets.add(target);
      Object.assign(before.labels, record.labels);
      continue;
    }
    claims.set(id, {
      name,
      type,
      ttl: recordTTL > 0 ? recordTTL : recordTtl,
      targets: new Set(record.targets),
      labels: { ...record.labels },
    });
  }
  const { key, since, isOwn, policyText } = object;
  return [...claims.values()].map((claim) => ({
    ...claim,
    targets: [...claim.targets],
    key,
    since,
    isOwn,
    policyText,
  }));
}
