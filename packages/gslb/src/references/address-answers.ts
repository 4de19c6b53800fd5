import type { DnsClient } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import type { AddressFamily } from "../decide/address-family.ts";
import { hostNameProblem } from "../decide/dns-name.ts";

/** Whom to ask, and for how long. */
export interface AddressQuestion {
  readonly dnsClient: Pick<DnsClient, "query">;
  /** Asked in this order. */
  readonly servers: readonly Endpoint[];
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** What edge servers say of a name: addresses by family, or why there are none to be had of one. */
export interface AddressAnswers {
  readonly A: FamilyAnswer;
  readonly AAAA: FamilyAnswer;
  /** How long it is true; 0 where a family has failed. */
  readonly ttlSeconds: number;
}

/** The addresses of one family, or why nobody could tell. */
export type FamilyAnswer = { readonly addresses: readonly string[] } | { readonly verdict: string };

/** Asks edge servers for a name's addresses of both families, following aliases. An answer without any is an answer. */
export async function askAddresses(name: string, options: AddressQuestion): Promise<AddressAnswers> {
  const { dnsClient, servers, deadlineMs, signal } = options;
  const unasked = questionProblem(name, servers);
  if (unasked !== undefined) return { A: { verdict: unasked }, AAAA: { verdict: unasked }, ttlSeconds: 0 };
  const ttls: number[] = [];
  let isNoName = false;
  const ask = async (family: AddressFamily): Promise<FamilyAnswer> => {
    const verdict = await dnsClient.query({
      ...{ name, type: family, servers, deadlineMs, signal },
      recursionDesired: true,
    });
    ttls.push(verdict.state === "answered" ? Math.min(...verdict.records.map(({ ttl }) => ttl)) : 0);
    if (verdict.state === "unreachable") return { verdict: verdict.reason };
    if (verdict.state === "refused") return { verdict: verdict.rcode };
    if (verdict.outcome === "referral") return { verdict: "a referral in place of an answer" };
    if (family === "A" && verdict.outcome === "nxdomain") isNoName = true;
    const found = verdict.records.filter((record) => record.type === family).map(({ data }) => data);
    // Who has looked for what an alias stands for says by an SOA record that there is nothing (RFC 2308 §2.2).
    const isAlias = verdict.records.some(({ type }) => type === "CNAME");
    const isWhole = verdict.outcome !== "nodata" || verdict.authority.some(({ type }) => type === "SOA");
    if (found.length === 0 && isAlias && !isWhole) return { verdict: "too long a chain of aliases" };
    return { addresses: found.sort() };
  };
  const [A, AAAA] = await Promise.all([ask("A"), ask("AAAA")]);
  const ttlSeconds = Math.min(...ttls);
  // A name that is not there has nothing of any type (RFC 8020 §2). Only A tells so: there are balancers that deny a name to
  // who asks for AAAA because it has none (RFC 4074 §4.2).
  return isNoName && "verdict" in AAAA ? { A, AAAA: { addresses: [] }, ttlSeconds } : { A, AAAA, ttlSeconds };
}

/** Why nobody is asked at all. Names come from objects of the cluster, which may hold anything. */
function questionProblem(name: string, servers: readonly Endpoint[]): string | undefined {
  if (servers.length === 0) return "no edge DNS server can be asked; set EDGE_DNS_SERVERS";
  const problem = hostNameProblem(name);
  return problem === undefined ? undefined : `${JSON.stringify(name)} is no host name: ${problem}`;
}
