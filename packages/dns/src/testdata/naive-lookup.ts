/** A record of a naive zone: names are lists of labels from the left, relative to the apex. */
export interface NaiveRecord {
  readonly owner: readonly string[];
  readonly type: "A" | "TXT" | "NS" | "CNAME";
  /** A target for NS and CNAME; anything for the others. */
  readonly data: readonly string[];
}

export interface NaiveAnswer {
  readonly rcode: "NOERROR" | "NXDOMAIN";
  readonly aa: boolean;
  /** `owner TYPE data`, in order, sorted within a set. */
  readonly answer: readonly string[];
  readonly authority: "soa" | "none" | readonly string[];
}

/**
 * RFC 1034 §4.3.2 and RFC 4592 word by word, over plain lists and with no regard to speed: what the server must agree
 * with. The apex has no records of its own besides SOA and NS, which are not asked for.
 */
export function naiveAnswer(records: readonly NaiveRecord[], asked: readonly string[], type: string): NaiveAnswer {
  const answer: string[] = [];
  const seen: string[] = [];
  let name = asked;
  for (;;) {
    seen.push(name.join("."));
    const cut = topmostCut(records, name);
    if (cut !== undefined) {
      const set = records.filter((record) => same(record.owner, cut) && record.type === "NS");
      return { rcode: "NOERROR", aa: answer.length > 0, answer, authority: lines(cut, set) };
    }
    const source = exists(records, name) ? name : wildcardFor(records, name);
    if (source === undefined) return { rcode: "NXDOMAIN", aa: true, answer, authority: "soa" };
    const owned = records.filter((record) => same(record.owner, source));
    const alias = owned.find((record) => record.type === "CNAME");
    if (alias !== undefined && type !== "CNAME") {
      answer.push(...lines(name, [alias]));
      name = alias.data;
      if (seen.includes(name.join("."))) return { rcode: "NOERROR", aa: true, answer, authority: "none" };
      continue;
    }
    const set = owned.filter((record) => record.type === type);
    if (set.length === 0) return { rcode: "NOERROR", aa: true, answer, authority: "soa" };
    answer.push(...lines(name, set));
    return { rcode: "NOERROR", aa: true, answer, authority: "none" };
  }
}

function lines(owner: readonly string[], set: readonly NaiveRecord[]): string[] {
  return [...new Set(set.map((record) => `${owner.join(".")} ${record.type} ${record.data.join(".")}`))].sort();
}

function same(left: readonly string[], right: readonly string[]): boolean {
  return left.join(".") === right.join(".");
}

function isSuffix(name: readonly string[], suffix: readonly string[]): boolean {
  return name.length >= suffix.length && same(name.slice(name.length - suffix.length), suffix);
}

/** A name exists if it or anything below it owns records; the apex always does. */
function exists(records: readonly NaiveRecord[], name: readonly string[]): boolean {
  return name.length === 0 || records.some((record) => isSuffix(record.owner, name));
}

function topmostCut(records: readonly NaiveRecord[], name: readonly string[]): readonly string[] | undefined {
  for (let length = 1; length <= name.length; length++) {
    const ancestor = name.slice(name.length - length);
    if (records.some((record) => record.type === "NS" && same(record.owner, ancestor))) return ancestor;
  }
  return undefined;
}

function wildcardFor(records: readonly NaiveRecord[], name: readonly string[]): readonly string[] | undefined {
  for (let drop = 1; drop <= name.length; drop++) {
    const encloser = name.slice(drop);
    if (!exists(records, encloser)) continue;
    const source = ["*", ...encloser];
    return exists(records, source) ? source : undefined;
  }
  return undefined;
}
