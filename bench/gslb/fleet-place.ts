import type { Endpoint } from "@meridian/runtime";

/** Where a cluster's servers listen. */
export interface BenchPlace {
  readonly apiServer: Endpoint;
  readonly operator: Endpoint;
  readonly dns: Endpoint;
}

export const benchZone = "cloud.example.com";
export const benchParentZone = "example.com";
/** Of every DNS server of a fleet, each on a loopback address of its own. */
export const dnsPort = 10_053;

/** The geo tags of a fleet's clusters; the first is the primary of every host. */
export const tagsOf = (clusterCount: number): readonly string[] =>
  Array.from({ length: clusterCount }, (_, index) => `c${index + 1}`);

/** `127.a.b` of a fleet: runs beside each other must not meet. */
export function freeNetwork(): string {
  const octet = (): number => 1 + Math.floor(Math.random() * 250);
  return `127.${octet()}.${octet()}`;
}

/** The place of one cluster. */
export function placeOf(network: string, tag: string): BenchPlace {
  const address = `${network}.${tag.slice(1)}`;
  return {
    apiServer: { address, port: 10_443 },
    operator: { address, port: 10_444 },
    dns: { address, port: dnsPort },
  };
}

/** Where the parent zone's server is, which only clusters that find each other through it ask. */
export const parentPlace = (network: string): { readonly address: string; readonly port: number } => ({
  address: `${network}.250`,
  port: dnsPort,
});

export const appName = (index: number): string => `app-${index}`;
export const hostName = (index: number): string => `${appName(index)}.${benchZone}`;
/** Where a cluster serves every application. */
export const targetOf = (tag: string): string => `192.0.2.${tag.slice(1)}`;
