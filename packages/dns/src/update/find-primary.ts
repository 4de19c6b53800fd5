import type { Endpoint } from "@meridian/runtime";
import type { DnsClient } from "../client/dns-client.ts";
import type { ResourceRecord } from "../message/resource-record.ts";
import { foldNameText } from "../name/name.ts";

/** The addresses of a zone's primary, or why they are not known. */
export type PrimaryResult =
  | { readonly servers: readonly Endpoint[]; readonly reason?: undefined }
  | { readonly servers?: undefined; readonly reason: string };

/**
 * Finds the primary of a zone: the addresses of the MNAME in its SOA (RFC 2136 §4.3), all asked of `servers`. With
 * recursion, so that these may be resolvers or servers of the zone.
 */
export async function findPrimary(
  client: DnsClient,
  options: {
    readonly zone: string;
    readonly servers: readonly Endpoint[];
    /** Where the primary listens. */
    readonly port: number;
    readonly deadlineMs: number;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<PrimaryResult> {
  const { zone, servers, port, deadlineMs, signal } = options;
  const ask = async (name: string, type: string): Promise<readonly ResourceRecord[] | string> => {
    const verdict = await client.query({
      name,
      type,
      servers,
      deadlineMs,
      recursionDesired: true,
      ...(signal === undefined ? {} : { signal }),
    });
    if (verdict.state === "unreachable") return `cannot ask for ${name} ${type}: ${verdict.reason}`;
    if (verdict.state === "refused") return `cannot ask for ${name} ${type}: ${verdict.rcode}`;
    return verdict.records.filter((record) => record.type === type);
  };
  const soas = await ask(zone, "SOA");
  if (typeof soas === "string") return { reason: soas };
  const soa = soas.find((record) => foldNameText(record.name) === foldNameText(zone));
  if (soa === undefined) return { reason: `${zone} is no zone there: it has no SOA` };
  const mname = soa.data.split(" ")[0]!;
  const answers = await Promise.all([ask(mname, "A"), ask(mname, "AAAA")]);
  const addresses = answers.flatMap((answer) => (typeof answer === "string" ? [] : answer));
  if (addresses.length > 0) return { servers: addresses.map(({ data }) => ({ address: data, port })) };
  const reason = answers.find((answer) => typeof answer === "string");
  return { reason: reason ?? `the primary of ${zone}, ${mname}, has no address there` };
}
