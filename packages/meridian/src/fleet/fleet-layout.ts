import { defaultNameServerPrefix, nameServerName as gslbNameServerName } from "@meridian/gslb/decide";
import type { Endpoint } from "@meridian/runtime";

/** The names that a playground's clusters get, in order; the name is the geo tag as well. */
export const clusterNames: readonly string[] = ["eu", "us", "za", "ap", "af", "ru", "uk", "ca"];

/** The zone that the playground balances, and the zone that delegates it. */
export const playgroundZone: {
  readonly name: string;
  readonly parent: string;
  readonly negativeTtl: number;
} = {
  name: "cloud.example.com",
  parent: "example.com",
  negativeTtl: 30,
};

/** Where one cluster's servers listen. */
export interface ClusterPlace {
  readonly name: string;
  readonly geoTag: string;
  readonly apiServer: Endpoint;
  /** The operator's own endpoint, which `meridian explain` asks. */
  readonly operator: Endpoint;
  readonly dns: Endpoint;
  /** Where the cluster tells its metrics and health in the clear. */
  readonly metrics: Endpoint;
}

/** Where everything of a fleet listens. */
export interface FleetLayout {
  /** With a loopback address for each cluster every DNS server has the same port, as on a real network. */
  readonly addressing: Addressing;
  readonly clusters: readonly ClusterPlace[];
  readonly parent: { readonly dns: Endpoint };
  /** A TCP endpoint that `meridian up` holds while it runs, so that two fleets never choose the same places. */
  readonly claim: Endpoint;
}

/**
 * How the servers of a fleet are told apart: by addresses `127.0.<network>.*`, or by ports of one address, those of the
 * API servers and operators moved by an offset.
 */
export type Addressing =
  | { readonly kind: "own-addresses"; readonly network: number }
  | { readonly kind: "single-address"; readonly offset: number };

/** How many clusters, and their DNS port. */
export interface LayoutOptions {
  readonly clusterCount: number;
  /** Of every DNS server, or with a single address of the parent's: the clusters have the next ones. */
  readonly dnsPort: number;
}

/** How far apart the ports of two single-address fleets are. */
export const singleAddressStep = 30;
const singleAddress = "127.0.0.1";
const apiPort = 6443;
const operatorPort = 6444;
const metricsPort = 6445;

/** The places of a fleet; the same input gives the same places. */
export function fleetLayout(addressing: Addressing, options: LayoutOptions): FleetLayout {
  const names = clusterNames.slice(0, options.clusterCount);
  if (addressing.kind === "own-addresses") {
    const address = (host: number): string => `127.0.${addressing.network}.${host}`;
    return {
      addressing,
      parent: { dns: { address: address(53), port: options.dnsPort } },
      claim: { address: address(254), port: apiPort },
      clusters: names.map((name, index) => ({
        name,
        geoTag: name,
        apiServer: { address: address(index + 1), port: apiPort },
        operator: { address: address(index + 1), port: operatorPort },
        dns: { address: address(index + 1), port: options.dnsPort },
        metrics: { address: address(index + 1), port: metricsPort },
      })),
    };
  }
  const at = (port: number): Endpoint => ({ address: singleAddress, port });
  const { offset } = addressing;
  return {
    addressing,
    parent: { dns: at(options.dnsPort) },
    claim: at(apiPort + offset + singleAddressStep - 1),
    clusters: names.map((name, index) => ({
      name,
      geoTag: name,
      apiServer: at(apiPort + offset + 2 * index),
      operator: at(operatorPort + offset + 2 * index),
      dns: at(options.dnsPort + 1 + index),
      metrics: at(apiPort + offset + 2 * clusterNames.length + index),
    })),
  };
}

/** The name of a cluster's DNS server, whose address the parent zone gives. */
export function nameServerName(geoTag: string): string {
  const { name: loadBalancedZone, parent: parentZone } = playgroundZone;
  return gslbNameServerName({ loadBalancedZone, parentZone }, geoTag, defaultNameServerPrefix);
}
