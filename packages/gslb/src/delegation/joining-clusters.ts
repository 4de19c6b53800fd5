import type { DnsClient } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import { canonicalName } from "../decide/dns-name.ts";
import { Ending } from "../tasks/ending.ts";

/** A cluster that may join. */
export interface JoiningCluster {
  readonly geoTag: string;
  /** The name of its DNS server. */
  readonly name: string;
  /** Where that is reached. */
  readonly servers: readonly Endpoint[];
}

/**
 * The geo tags of those whose own server answers a zone with authority and names itself in the zone's NS set. The servers of
 * another cluster, to which a wildcard in the parent may lead, answer with authority too, but do not name it.
 */
export async function clustersThatAnswer(
  loadBalancedZone: string,
  clusters: readonly JoiningCluster[],
  of: {
    readonly dnsClient: Pick<DnsClient, "query">;
    readonly deadlineMs: number;
    readonly signal: AbortSignal;
  },
): Promise<readonly string[]> {
  const zone = canonicalName(loadBalancedZone);
  using asking = new Ending(of.signal);
  const found = await Promise.all(
    clusters.map(async ({ geoTag, name, servers }) => {
      if (servers.length === 0) return [];
      const { deadlineMs, dnsClient } = of;
      const verdict = await dnsClient.query({
        ...{ name: zone, type: "NS", servers, deadlineMs, signal: asking.signal },
      });
      const isThere =
        verdict.state === "answered" &&
        verdict.authoritative &&
        verdict.records.some(
          (record) =>
            record.type === "NS" &&
            canonicalName(record.name) === zone &&
            canonicalName(record.data) === canonicalName(name),
        );
      return isThere ? [geoTag] : [];
    }),
  );
  return found.flat();
}
