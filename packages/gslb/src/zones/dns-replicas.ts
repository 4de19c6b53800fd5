import type { EndpointSlice } from "@meridian/kube";
import type { Endpoint } from "@meridian/runtime";

/**
 * Where the replicas of a DNS server are, by the slices of its Service: the ready endpoints, at the ports for UDP, each once. Of a
 * cluster of two families the addresses of the first slice's family: a replica with both needs to be told once.
 */
export function dnsReplicas(slices: readonly EndpointSlice[]): readonly Endpoint[] {
  const family = slices.find(({ addressType }) => addressType !== "FQDN")?.addressType;
  const found = new Map<string, Endpoint>();
  for (const { addressType, endpoints, ports } of slices) {
    if (addressType !== family) continue;
    for (const { port, protocol } of ports ?? []) {
      if (typeof port !== "number" || protocol !== "UDP") continue;
      for (const { addresses, conditions } of endpoints ?? []) {
        const [address] = addresses;
        if (address === undefined || conditions?.ready === false) continue;
        found.set(`${address} ${port}`, { address, port });
      }
    }
  }
  return [...found.values()];
}
