/** A small generator of numbers (mulberry32): the same seed, the same packets. */
export function seededIntegers(seed: number): (limit: number) => number {
  let state = seed | 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000) * limit);
  };
}

const interesting = [0, 1, 0x3f, 0x40, 0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xc1, 0xff, 41, 250, 255];

/** A packet made from one of a corpus by a few random changes: bits, octets, counts, cuts, joints, pointers. */
export function mutate(corpus: readonly Uint8Array[], integer: (limit: number) => number): Uint8Array {
  let packet = corpus[integer(corpus.length)]!.slice();
  for (let change = integer(6); change >= 0; change--) {
    const at = integer(packet.length + 1);
    switch (integer(8)) {
      case 0:
        if (at < packet.length) packet[at]! ^= 1 << integer(8);
        break;
      case 1:
        if (at < packet.length) packet[at] = interesting[integer(interesting.length)]!;
        break;
      case 2:
        if (at < packet.length) packet[at] = integer(256);
        break;
      case 3:
        packet = packet.slice(0, at);
        break;
      case 4:
        packet = Uint8Array.from([...packet, ...Array.from({ length: integer(30) }, () => integer(256))]);
        break;
      case 5: {
        const other = corpus[integer(corpus.length)]!;
        packet = Uint8Array.from([...packet.subarray(0, at), ...other.subarray(integer(other.length))]);
        break;
      }
      case 6:
        // One of the counts.
        if (packet.length >= 12) packet[4 + integer(8)] = interesting[integer(interesting.length)]!;
        break;
      default:
        if (at + 1 < packet.length) {
          packet[at] = 0xc0 | integer(2);
          packet[at + 1] = integer(256);
        }
    }
  }
  return packet;
}
