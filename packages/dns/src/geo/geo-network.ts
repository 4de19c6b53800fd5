import { ipv4FromText, ipv6FromText } from "../name/address.ts";

/** An address prefix: of clients, of proxies, of whoever may do something. */
export interface GeoNetwork {
  /** In network order, zero beyond the prefix. */
  readonly octets: Uint8Array;
  readonly octetCount: 4 | 16;
  readonly prefix: number;
}

/** Reads `192.0.2.0/24`, `2001:db8::/32`, or an address alone; what is wrong with it, where it is none. */
export function networkFromText(text: string): GeoNetwork | string {
  const [address = "", length, ...more] = text.split("/");
  const octets = address.includes(":") ? ipv6FromText(address) : ipv4FromText(address);
  if (octets === undefined || more.length > 0)
    return `${text} is no network; write it like 192.0.2.0/24 or 2001:db8::/32`;
  const octetCount = octets.length === 4 ? 4 : 16;
  const prefix = length === undefined ? 8 * octetCount : /^\d{1,3}$/.test(length) ? Number(length) : Infinity;
  if (prefix > 8 * octetCount) return `${text} has no prefix length from 0 to ${8 * octetCount}`;
  const isSpare = (bit: number): boolean => ((octets[bit >>> 3]! >>> (7 - (bit & 7))) & 1) !== 0;
  for (let bit = prefix; bit < 8 * octetCount; bit++)
    if (isSpare(bit)) return `${text} has bits set beyond its prefix; clear them or lengthen the prefix`;
  return { octets, octetCount, prefix };
}

/** Whether an address, whose octets may be followed by others, is in the network. */
export function isInNetwork(
  { octets, octetCount, prefix }: GeoNetwork,
  address: Pick<GeoNetwork, "octets" | "octetCount">,
): boolean {
  if (address.octetCount !== octetCount) return false;
  const whole = prefix >>> 3;
  for (let index = 0; index < whole; index++) if (octets[index] !== address.octets[index]) return false;
  const spare = 8 - (prefix & 7);
  return spare === 8 || octets[whole]! >>> spare === address.octets[whole]! >>> spare;
}
