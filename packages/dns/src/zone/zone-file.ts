import { DnsError, dnsErrorText } from "../dns-error.ts";
import { classFromText, isTypeText, typeFromText, typeToText } from "../message/codes.ts";
import { rdataFromTokens, rdataToText } from "../message/rdata.ts";
import type { TextToken } from "../message/rdata-text.ts";
import { foldName, foldNameText, nameFromText, nameToText, type Name } from "../name/name.ts";
import { compileChanges } from "./record-check.ts";
import type { RecordSet } from "./record-set.ts";
import { readEntries, type ZoneEntry, type ZoneFileProblem } from "./zone-text.ts";
import { Zone, type ZoneSoa } from "./zone.ts";

/** The zone of a master file, or everything that is wrong with the file. */
export type ZoneFileResult =
  | { readonly zone: Zone; readonly problems?: undefined }
  | { readonly zone?: undefined; readonly problems: readonly ZoneFileProblem[] };

interface ParsedRecord {
  readonly line: number;
  readonly owner: string;
  readonly type: string;
  /** Absent where neither the record nor anything before it gives one. */
  readonly ttl: number | undefined;
  readonly data: string;
}

/** What stands for the fields that an entry leaves out. */
interface Defaults {
  origin: Name | undefined;
  owner: Name | undefined;
  ttl: number | undefined;
}

const problemsMax = 100;
const ttlMax = 0x7fff_ffff;
const secondsPerUnit: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/**
 * Reads a master file (RFC 1035 §5, RFC 2308 §4 `$TTL`, RFC 3597 `\#`) into a zone, or reports every problem with its
 * line. `$INCLUDE` and `$GENERATE` are refused: a file stands for itself.
 *
 * The zone's origin is the owner of the SOA record; `origin`, where given, must be the same and is what relative names
 * start from. Several TTLs in one set become the least. Addresses rotate.
 */
export function parseZoneFile(text: string, options: { readonly origin?: string } = {}): ZoneFileResult {
  const problems: ZoneFileProblem[] = [];
  const report = (problem: ZoneFileProblem): void =>
    void (problems.length < problemsMax && problems.push(problem));
  const defaults: Defaults = { origin: undefined, owner: undefined, ttl: undefined };
  const records: ParsedRecord[] = [];
  try {
    if (options.origin !== undefined) defaults.origin = nameFromText(options.origin);
  } catch (error) {
    return { problems: [{ line: 0, message: dnsErrorText(error) }] };
  }
  for (const entry of readEntries(text, report)) {
    try {
      const record = readEntry(entry, defaults);
      if (record !== undefined) records.push(record);
    } catch (error) {
      report({ line: entry.line, message: dnsErrorText(error) });
    }
  }
  const zone = buildZone(records, { origin: options.origin, report });
  // Problems of single lines are why later checks fail, so they come first.
  if (problems.length > 0 || zone === undefined)
    return { problems: problems.sort((a, b) => a.line - b.line) };
  return { zone };
}

/** A time in seconds, or with units as in `1h30m`; `undefined` when it is neither. */
export function secondsFromText(text: string): number | undefined {
  if (/^[0-9]{1,10}$/.test(text)) return Number(text) <= 0xffff_ffff ? Number(text) : undefined;
  if (!/^([0-9]{1,10}[smhdw])+$/i.test(text)) return undefined;
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/([0-9]+)([smhdw])/gi)) {
    seconds += Number(amount) * secondsPerUnit[unit!.toLowerCase()]!;
  }
  return seconds <= 0xffff_ffff ? seconds : undefined;
}

function readEntry(entry: ZoneEntry, defaults: Defaults): ParsedRecord | undefined {
  const [first] = entry.tokens;
  if (first!.text.startsWith("$") && !first!.quoted) {
    readDirective(entry, defaults);
    return undefined;
  }
  let index = 0;
  if (!entry.continued) defaults.owner = readName(entry.tokens[index++]!, defaults);
  const { owner } = defaults;
  if (owner === undefined) throw bad("the first record has no owner; start its line with the name");
  let ttl: number | undefined;
  let classSeen = false;
  for (; index < entry.tokens.length; index++) {
    const { text } = entry.tokens[index]!;
    const recordClass = classFromText(text);
    const seconds = secondsFromText(text);
    if (ttl === undefined && seconds !== undefined) {
      if (seconds > ttlMax) throw bad(`TTL ${text} is over ${ttlMax} seconds; write less`);
      ttl = seconds;
    } else if (!classSeen && recordClass !== undefined && !isTypeText(text)) {
      if (recordClass !== 1) throw bad(`class ${text} is not served; write IN or leave it out`);
      classSeen = true;
    } else {
      break;
    }
  }
  const typeToken = entry.tokens[index++];
  if (typeToken === undefined) throw bad("the record has no type; write it as NAME TTL TYPE DATA");
  const type = typeFromText(typeToken.text);
  if (ttl !== undefined && defaults.ttl === undefined) defaults.ttl = ttl;
  const mnemonic = typeToText(type);
  const data = entry.tokens.slice(index);
  const rdata = rdataFromTokens(type, mnemonic === "SOA" ? data.map(soaToken) : data, defaults.origin);
  return {
    line: entry.line,
    owner: nameToText(owner),
    type: mnemonic,
    ttl: ttl ?? defaults.ttl,
    data: rdataToText(type, rdata),
  };
}

function readDirective({ tokens }: ZoneEntry, defaults: Defaults): void {
  const directive = tokens[0]!.text.toUpperCase();
  const value = tokens[1];
  switch (directive) {
    case "$ORIGIN":
      if (value === undefined) throw bad("$ORIGIN needs a name");
      defaults.origin = readName(value, defaults);
      break;
    case "$TTL": {
      const seconds = secondsFromText(value?.text ?? "");
      if (seconds === undefined || seconds > ttlMax) throw bad("$TTL needs a time such as 300 or 5m");
      defaults.ttl = seconds;
      break;
    }
    case "$INCLUDE":
      throw bad("$INCLUDE is not supported; put the other file's records here");
    case "$GENERATE":
      throw bad("$GENERATE is not supported; write the records out");
    default:
      throw bad(`${directive} is no directive; use $ORIGIN or $TTL`);
  }
}

function readName(token: TextToken, { origin }: Defaults): Name {
  const isRelative = token.text === "@" || !endsWithDot(token.text);
  if (isRelative && origin === undefined) {
    throw bad(
      `${JSON.stringify(token.text)} is relative and there is no origin; add $ORIGIN or end the name with a dot`,
    );
  }
  return nameFromText(token.text, origin);
}

/** Whether the last dot is a dot, and not an escaped one. */
function endsWithDot(text: string): boolean {
  let backslashes = 0;
  while (text[text.length - 2 - backslashes] === "\\") backslashes++;
  return text.endsWith(".") && backslashes % 2 === 0;
}

/** Times in the SOA may have units. */
function soaToken(token: TextToken, index: number): TextToken {
  const seconds = index > 2 ? secondsFromText(token.text) : undefined;
  return seconds === undefined ? token : { text: String(seconds), quoted: false };
}

function buildZone(
  records: readonly ParsedRecord[],
  context: { readonly origin: string | undefined; readonly report: (problem: ZoneFileProblem) => void },
): Zone | undefined {
  const { report } = context;
  const soas = records.filter((record) => record.type === "SOA");
  const soa = soas[0];
  if (soa === undefined) {
    report({ line: 0, message: "the zone has no SOA record; add one for its apex" });
    return undefined;
  }
  for (const other of soas.slice(1))
    report({ line: other.line, message: `there is an SOA on line ${soa.line} already; keep one` });
  const origin = foldName(nameFromText(soa.owner));
  const originText = nameToText(origin);
  if (context.origin !== undefined && foldNameText(context.origin) !== originText) {
    report({
      line: soa.line,
      message: `the SOA is of ${soa.owner}, not of the zone ${context.origin}; correct one of them`,
    });
    return undefined;
  }
  const values = readSoa(soa);
  const apexNs = records.filter(
    (record) => record.type === "NS" && foldNameText(record.owner) === originText,
  );
  if (apexNs.length === 0) {
    report({ line: 0, message: `the zone has no NS record at ${originText}; name at least one server` });
    return undefined;
  }
  const rest = records.filter((record) => record.type !== "SOA" && !apexNs.includes(record));
  const { changes, lines } = groupRecords(rest, values.minimum);
  const problems = compileChanges(changes, origin).problems;
  for (const { owner, type, message } of problems)
    report({ line: lines.get(`${owner} ${type}`) ?? 0, message });
  if (problems.length > 0) return undefined;
  try {
    const zone = new Zone({
      origin: originText,
      soa: values,
      nameServers: [...new Set(apexNs.map((record) => record.data))],
      nameServerTtl: Math.min(...apexNs.map((record) => record.ttl ?? values.minimum)),
    });
    zone.load(changes, values.serial);
    return zone;
  } catch (error) {
    report({ line: soa.line, message: dnsErrorText(error) });
    return undefined;
  }
}

function readSoa({ data, ttl }: ParsedRecord): ZoneSoa {
  const [mname, rname, ...numbers] = data.split(" ");
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

function groupRecords(
  records: readonly ParsedRecord[],
  defaultTtl: number,
): { readonly changes: Map<string, RecordSet[]>; readonly lines: Map<string, number> } {
  const changes = new Map<string, RecordSet[]>();
  const lines = new Map<string, number>();
  const data = new Map<string, string[]>();
  for (const record of records) {
    const owner = foldNameText(record.owner);
    const key = `${owner} ${record.type}`;
    const ttl = record.ttl ?? defaultTtl;
    const sets = changes.get(owner) ?? [];
    changes.set(owner, sets);
    const index = sets.findIndex((set) => set.type === record.type);
    const known = data.get(key);
    if (known === undefined) {
      lines.set(key, record.line);
      data.set(key, [record.data]);
      const rotates = record.type === "A" || record.type === "AAAA";
      sets.push({
        name: record.owner,
        type: record.type,
        ttl,
        data: data.get(key)!,
        ...(rotates ? { policy: { kind: "rotate" } } : {}),
      });
    } else {
      known.push(record.data);
      if (ttl < sets[index]!.ttl) sets[index] = { ...sets[index]!, ttl };
    }
  }
  return { changes, lines };
}

function bad(message: string): DnsError {
  return new DnsError("BadZone", message);
}
