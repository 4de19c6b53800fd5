import type { DnsClient, ResourceRecord, TsigKey } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import { splitFamilies } from "../decide/address-family.ts";
import { canonicalName, isInZone } from "../decide/dns-name.ts";
import type { ZonePair } from "../decide/zone-names.ts";
import type { ParentRecords, ParentSet } from "./parent-update.ts";

/** Whom to ask for what a parent zone has, and how. */
export interface ParentQuestion {
  readonly dnsClient: Pick<DnsClient, "query">;
  /** Servers of the parent zone, asked in this order. */
  readonly servers: readonly Endpoint[];
  /** Signs the questions; then only signed answers count. */
  readonly key: TsigKey | undefined;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/**
 * Asks a server of the parent zone for the delegation of a zone and for the addresses of one of its name servers. What it
 * refuses to tell is left out. That it cannot be asked, or does not serve the parent, rejects: half an answer is none.
 */
export async function parentRecords(
  zone: ZonePair & { readonly ownNameServer: string },
  question: ParentQuestion,
): Promise<ParentRecords> {
  const [NS, A, AAAA] = await Promise.all([
    delegationSet(zone, question),
    ...(["A", "AAAA"] as const).map((type) =>
      askSet({ parent: zone.parentZone, name: zone.ownNameServer, type }, question),
    ),
  ]);
  return {
    ...(NS === undefined ? {} : { NS }),
    ...(A === undefined ? {} : { A }),
    ...(AAAA === undefined ? {} : { AAAA }),
  };
}

/** The names of the servers that a zone is delegated to; `undefined` where the parent's server does not tell. */
export function delegationSet(zone: ZonePair, question: ParentQuestion): Promise<ParentSet | undefined> {
  return askSet({ parent: zone.parentZone, name: zone.loadBalancedZone, type: "NS" }, question);
}

interface AskedSet {
  readonly parent: string;
  readonly name: string;
  readonly type: "NS" | "A" | "AAAA";
}

async function askSet(asked: AskedSet, question: ParentQuestion): Promise<ParentSet | undefined> {
  const { dnsClient, ...how } = question;
  const { parent, type } = asked;
  const name = canonicalName(asked.name);
  const { key, ...unsigned } = how;
  const verdict = await dnsClient.query({
    ...{ name, type },
    ...unsigned,
    ...(key === undefined ? {} : { key }),
  });
  const what = `cannot read ${name} ${type} of parent zone ${parent}`;
  if (verdict.state === "unreachable") throw new Error(`${what}: ${verdict.reason}`);
  const at = `${verdict.server.address}:${verdict.server.port}`;
  if (verdict.state === "refused") {
    // Whoever may not ask may still be allowed to update.
    if (verdict.rcode === "REFUSED" || verdict.rcode === "NOTIMP") return undefined;
    throw new Error(`${what}: ${at} answers ${verdict.rcode}`);
  }
  const { outcome, authoritative, records, authority } = verdict;
  if (outcome === "referral" || (outcome === "data" && type === "NS")) {
    // A server of both zones answers by the child's own set, which says nothing of the parent's (RFC 2181 §6.1).
    if (outcome === "data" && authoritative) return undefined;
    const set = setOf(asked, outcome === "data" ? records : authority);
    if (type === "NS" && set.data.length > 0) return set;
    if (type === "NS" && authority.some((record) => isCutBetween(record, { parent, name }))) return undefined;
    throw new Error(`${what}: ${at} refers to other servers; it must be one that serves ${parent}`);
  }
  if (!authoritative)
    throw new Error(`${what}: ${at} answers without authority; it must be one that serves ${parent}`);
  return setOf(asked, records);
}

/**
 * Whether the parent delegates another zone that the asked one is inside of: all its server can say of what is below is
 * where that one is served. It still takes what is written there, above all the addresses of name servers.
 */
function isCutBetween(
  { type, name: cut }: ResourceRecord,
  { parent, name }: { readonly parent: string; readonly name: string },
): boolean {
  const isBelow = canonicalName(cut) !== canonicalName(parent) && isInZone(cut, parent);
  return type === "NS" && isBelow && isInZone(name, cut);
}

function setOf({ name, type }: AskedSet, records: readonly ResourceRecord[]): ParentSet {
  const found = records.filter(
    (record) => record.type === type && canonicalName(record.name) === canonicalName(name),
  );
  const data = found.map((record) => record.data);
  return {
    data: type === "NS" ? data.map(canonicalName) : splitFamilies(data).targets[type],
    ttl: found[0]?.ttl ?? 0,
  };
}
