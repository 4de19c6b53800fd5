import { networkInterfaces } from "node:os";

import { ipv4FromText, ipv4ToText, ipv6FromText, ipv6ToText } from "../../ip-address.ts";
import type { Endpoint } from "../../network.ts";

/** Linux's numbers of the address families. */
export const addressFamily = { v4: 2, v6: 10 } as const;

/** Sizes and places in `struct sockaddr_in` and `struct sockaddr_in6`, by the octets of an address. */
export const socketAddress = {
  4: { octets: 16, addressAt: 4 },
  16: { octets: 28, addressAt: 8 },
} as const;

/** `struct sockaddr_in` or `struct sockaddr_in6` of an endpoint; `undefined` where the address is none. */
export function composeSocketAddress({ address, port }: Endpoint): Uint8Array | undefined {
  const [text = "", zone] = address.split("%");
  const octets = ipv4FromText(text) ?? ipv6FromText(text);
  if (octets === undefined) return undefined;
  const isV4 = octets.length === 4;
  const place = socketAddress[isV4 ? 4 : 16];
  const composed = new Uint8Array(place.octets);
  composed[0] = isV4 ? addressFamily.v4 : addressFamily.v6;
  composed[2] = port >>> 8;
  composed[3] = port;
  composed.set(octets, place.addressAt);
  if (zone !== undefined && !isV4) new DataView(composed.buffer).setUint32(24, scopeOf(zone), true);
  return composed;
}

/** The endpoint in such a structure; the zone of a link-local address is left out. */
export function parseSocketAddress(octets: Uint8Array): Endpoint {
  const isV4 = octets[0] === addressFamily.v4;
  const port = (octets[2]! << 8) | octets[3]!;
  const { addressAt } = socketAddress[isV4 ? 4 : 16];
  const address = octets.subarray(addressAt, addressAt + (isV4 ? 4 : 16));
  return { address: isV4 ? ipv4ToText(address) : ipv6ToText(address), port };
}

/** The number of an interface that is given by name or number. */
function scopeOf(zone: string): number {
  if (/^\d+$/.test(zone)) return Number(zone);
  const addresses = networkInterfaces()[zone] ?? [];
  return addresses.find((info) => info.family === "IPv6")?.scopeid ?? 0;
}
