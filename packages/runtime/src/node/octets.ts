/**
 * The same octets as a plain `Uint8Array`. Node's `Buffer` is a `Uint8Array` whose `slice` does not copy, which
 * would surprise whoever relies on the interfaces; so no `Buffer` leaves this folder.
 */
export function plainOctets(octets: Uint8Array): Uint8Array {
  return new Uint8Array(octets.buffer, octets.byteOffset, octets.byteLength);
}

/** A copy that nobody else writes to, also of a `Buffer`. */
export function copyOctets(octets: Uint8Array): Uint8Array {
  return new Uint8Array(octets);
}
