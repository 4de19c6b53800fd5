import type { DnsClient, Verdict } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import { splitFamilies, type FamilyTargets } from "../decide/address-family.ts";
import { canonicalName } from "../decide/dns-name.ts";
import type { ZonePair } from "../decide/zone-names.ts";
import { lookUpAddresses } from "../references/address-book.ts";

/** Whom the parent zone delegates to, or why nobody could say. */
export type ParentDelegation =
  | {
      readonly state: "known";
      /** Canonical, sorted; none where the zone is not delegated. */
      readonly nameServers: readonly string[];
      /** How long resolvers may keep it. */
      readonly ttlSeconds: number;
      /** The glue that came along, by name. */
      readonly glue: ReadonlyMap<string, FamilyTargets>;
    }
  | { readonly state: "failed"; readonly verdict: string };

/** Whom to ask, and for how long each question may take. */
export interface DelegationLookup {
  readonly dnsClient: Pick<DnsClient, "query">;
  readonly edgeServers: readonly Endpoint[];
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

type Answer = Extract<Verdict, { state: "answered" }>;

/**
 * Asks the servers of the parent zone whom they delegate a load-balanced zone to. Who they are, the edge servers tell:
 * one that is itself among them is asked first, then each by all addresses that came along with the NS set, or that are
 * looked up where none came. An answer counts whether its NS records stand in the authority or in the answer section.
 */
export async function lookUpDelegation(zone: ZonePair, lookup: DelegationLookup): Promise<ParentDelegation> {
  const { dnsClient, deadlineMs, signal } = lookup;
  const servers = await parentServers(zone.parentZone, lookup);
  if (typeof servers === "string") return { state: "failed", verdict: servers };
  const name = canonicalName(zone.loadBalancedZone);
  const verdict = await dnsClient.query({ name, type: "NS", servers, deadlineMs, signal });
  if (verdict.state !== "answered") return { state: "failed", verdict: failureText(verdict) };
  const records = [...verdict.authority, ...verdict.records].filter(
    (record) => record.type === "NS" && canonicalName(record.name) === name,
  );
  if (records.length === 0 && verdict.outcome === "referral")
    return { state: "failed", verdict: `a referral to other servers than those of ${name}` };
  return {
    state: "known",
    nameServers: [...new Set(records.map(({ data }) => canonicalName(data)))].sort(),
    ttlSeconds: Math.max(0, ...records.map(({ ttl }) => ttl)),
    glue: addressesIn(verdict),
  };
}

async function parentServers(
  parentZone: string,
  lookup: DelegationLookup,
): Promise<readonly Endpoint[] | string> {
  const { dnsClient, edgeServers, deadlineMs, signal } = lookup;
  if (edgeServers.length === 0) return "no edge DNS server is configured; set EDGE_DNS_SERVERS";
  const verdict = await dnsClient.query({
    ...{ name: parentZone, type: "NS", servers: edgeServers, deadlineMs, signal },
    recursionDesired: true,
  });
  if (verdict.state !== "answered") return failureText(verdict);
  const names = [...verdict.records, ...verdict.authority]
    .filter(({ type, name }) => type === "NS" && canonicalName(name) === canonicalName(parentZone))
    .map(({ data }) => canonicalName(data));
  if (names.length === 0) return `nobody serves the parent zone ${parentZone}, says the edge DNS`;
  const glue = addressesIn(verdict);
  const known = names.flatMap((name) => listed(glue.get(name)));
  const addresses = known.length > 0 ? known : await lookUpAll(names, lookup);
  const servers = [...new Set(addresses)].map((address) => ({ address, port: verdict.server.port }));
  if (verdict.authoritative) return [verdict.server, ...servers];
  return servers.length > 0 ? servers : `no address of a server of ${parentZone} can be found`;
}

async function lookUpAll(names: readonly string[], lookup: DelegationLookup): Promise<readonly string[]> {
  const found = await Promise.all(
    names.map((name) => lookUpAddresses(name, { ...lookup, servers: lookup.edgeServers })),
  );
  return found.flatMap((each) => (each.state === "known" ? listed(each.targets) : []));
}

function addressesIn({ additional, records }: Answer): ReadonlyMap<string, FamilyTargets> {
  const byName = new Map<string, string[]>();
  for (const { name, type, data } of [...additional, ...records]) {
    if (type !== "A" && type !== "AAAA") continue;
    const key = canonicalName(name);
    byName.set(key, [...(byName.get(key) ?? []), data]);
  }
  return new Map([...byName].map(([name, addresses]) => [name, splitFamilies(addresses).targets]));
}

function listed(targets: FamilyTargets | undefined): readonly string[] {
  return targets === undefined ? [] : [...targets.A, ...targets.AAAA];
}

function failureText(verdict: Exclude<Verdict, Answer>): string {
  return verdict.state === "refused" ? verdict.rcode : verdict.reason;
}
