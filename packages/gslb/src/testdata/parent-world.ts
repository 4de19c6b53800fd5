import {
  Authority,
  createRequestPipeline,
  DnsClient,
  parseTsigKey,
  parseZoneFile,
  serveDns,
  TsigKeyring,
  UpdateServer,
  type TsigKey,
  type UpdateRule,
  type Zone,
} from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { Simulation, type SimNode } from "@meridian/runtime/sim";
import type { DelegatedZone } from "../delegation/delegation-provider.ts";
import { Rfc2136Provider, type Rfc2136ProviderOptions } from "../delegation/rfc2136-provider.ts";

const parentAddress = "10.0.0.53";
const child = "cloud.example.com";

/** The zone of a cluster that is reached at an address of either family, or of both. */
export function delegated(geoTag: string, own: Partial<DelegatedZone> = {}): DelegatedZone {
  const ownNameServer = `gslb-ns-${geoTag}-${child.split(".")[0]}.example.com`;
  return {
    ...{ loadBalancedZone: child, parentZone: "example.com", ttlSeconds: 30 },
    ...{ ownNameServer, nameServers: [ownNameServer], isLast: false },
    ownAddresses: { A: ["192.0.2.1"], AAAA: [] },
    ...own,
  };
}

/** A TSIG key that the parent knows. */
export const keyOf = (name: string): TsigKey =>
  parseTsigKey({ name, algorithm: "hmac-sha256", secret: "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=" });

/** A parent zone that takes updates, and the clusters that write into it. */
export interface ParentWorld {
  readonly sim: Simulation;
  readonly parent: SimNode;
  readonly zone: Zone;
  /** The data of a set of the parent zone, with its TTL in front. */
  readonly setOf: (name: string, type: string) => readonly string[];
  /** Has the parent's server serve another zone. */
  readonly serve: (zoneText: string) => void;
  /** A client at a cluster, to which the parent tells nothing where it is `blind`. */
  readonly client: (geoTag: string, options?: { readonly blind: boolean }) => DnsClient;
  /** What writes for one cluster, with a key `k` unless told otherwise. */
  readonly provider: (geoTag: string, options?: Partial<Rfc2136ProviderOptions>) => Rfc2136Provider;
}

/** Opens one with further records in it, in the form of a zone file. */
export async function openParent(
  options: { readonly records?: string; readonly rules?: readonly UpdateRule[] } = {},
): Promise<ParentWorld> {
  const sim = new Simulation({ seed: 1 });
  const parent = sim.node({ name: "parent", addresses: [parentAddress] });
  const { zone, problems } = parseZoneFile(`$ORIGIN example.com.
$TTL 60
@ SOA ns hostmaster 1 3600 600 86400 30
@ NS ns
ns A ${parentAddress}
${options.records ?? ""}
`);
  if (zone === undefined) throw new Error(JSON.stringify(problems));
  const { runtime } = parent;
  const authority = new Authority(runtime);
  authority.setZone(zone);
  const rules = options.rules ?? [{ key: "k", match: "subdomain", types: ["ANY"] }];
  const updates = await sim.complete(
    UpdateServer.open(runtime, { authority, zones: [{ zone, journal: "example.com", rules }] }),
  );
  authority.requests = createRequestPipeline({
    ...{ clock: runtime.clock, log: silentLogger, authority, update: updates.handle },
    keyring: new TsigKeyring(["k", "other"].map(keyOf)),
  });
  await sim.complete(serveDns(runtime, { authority, listen: [{ address: parentAddress, port: 53 }] }));
  let clusters = 0;
  const client: ParentWorld["client"] = (geoTag, { blind } = { blind: false }) => {
    const node = sim.node({ name: geoTag, addresses: [`10.0.0.${++clusters}`] });
    const own = new DnsClient(node.runtime);
    const server = { address: parentAddress, port: 53 };
    if (blind) own.query = () => Promise.resolve({ state: "refused", rcode: "REFUSED", server });
    return own;
  };
  return {
    ...{ sim, parent, zone },
    setOf: (name, type) => {
      const set = zone.recordSetsOf(name).find((each) => each.type === type);
      return set === undefined ? [] : [String(set.ttl), ...set.data.toSorted()];
    },
    serve: (text) => authority.setZone(parseZoneFile(text).zone!),
    client,
    provider: (geoTag, more = {}) =>
      new Rfc2136Provider({
        dnsClient: more.dnsClient ?? client(geoTag),
        servers: [{ host: parentAddress, port: 53 }],
        edgeServers: () => [{ address: parentAddress, port: 53 }],
        keys: { keyFor: () => Promise.resolve(keyOf("k")) },
        ...more,
      }),
  };
}
