/** The longest header taken, with its TLVs. */
export const proxyHeaderOctetsMax = 512;

const signature = Uint8Array.of(0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a);
const fixedOctets = 16;
const commandLocal = 0x20;
const commandProxy = 0x21;
/** Octets of both addresses and both ports, by address family. */
const addressOctets = { 1: 12, 2: 36 } as const;
/** Octets of `::ffff:`, by which a proxy that listens to both families has IPv4 clients (RFC 4291 §2.5.5.2). */
const mappedPrefixOctets = 12;
const transportStream = 1;
const transportDatagram = 2;

/**
 * Reads PROXY protocol v2 headers in place. One object is used for all: the fields hold until the next `read`.
 *
 * Source: the PROXY protocol, version 2, §2.2.
 */
export class ProxyHeader {
  /** Octets of the header; what it precedes starts behind them. */
  length = 0;
  /** Whether the proxy speaks for itself (LOCAL): the peer is then the client. */
  local = false;
  /** Where the client's address starts in the octets read, and how long it is; ::ffff:a.b.c.d is IPv4. */
  addressAt = 0;
  addressOctets: 4 | 16 = 4;
  port = 0;

  /**
   * Reads the header at `octets[at]`.
   *
   * @returns `ok`; `short` when more octets are needed, never for more than 512 in all; `bad` when it is no header that is
   *   meant for this transport
   */
  // oxlint-disable-next-line max-params -- an options object per datagram would be the hot path's only allocation
  read(
    octets: Uint8Array,
    at: number,
    end: number,
    transport: "stream" | "datagram",
  ): "ok" | "short" | "bad" {
    const present = end - at;
    for (let index = 0; index < signature.length && index < present; index++) {
      if (octets[at + index] !== signature[index]) return "bad";
    }
    if (present < fixedOctets) return "short";
    const command = octets[at + 12]!;
    const family = octets[at + 13]! >>> 4;
    const dataOctets = (octets[at + 14]! << 8) | octets[at + 15]!;
    this.length = fixedOctets + dataOctets;
    if ((command !== commandLocal && command !== commandProxy) || this.length > proxyHeaderOctetsMax)
      return "bad";
    // What LOCAL says of addresses is to be passed over, whatever it is.
    this.local = command === commandLocal;
    if (!this.local) {
      const expected = transport === "stream" ? transportStream : transportDatagram;
      if ((family !== 1 && family !== 2) || (octets[at + 13]! & 15) !== expected) return "bad";
      if (dataOctets < addressOctets[family]) return "bad";
    }
    if (present < this.length) return "short";
    if (this.local) return "ok";
    this.addressAt = at + fixedOctets;
    this.addressOctets = family === 1 ? 4 : 16;
    const portAt = this.addressAt + 2 * this.addressOctets;
    this.port = (octets[portAt]! << 8) | octets[portAt + 1]!;
    if (this.addressOctets === 16 && isMapped(octets, this.addressAt)) {
      this.addressAt += mappedPrefixOctets;
      this.addressOctets = 4;
    }
    return "ok";
  }
}

function isMapped(octets: Uint8Array, at: number): boolean {
  for (let index = 0; index < mappedPrefixOctets; index++)
    if (octets[at + index] !== (index < mappedPrefixOctets - 2 ? 0 : 0xff)) return false;
  return true;
}
