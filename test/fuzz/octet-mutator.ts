import { pick, type Integers } from "./fuzz-seed.ts";

const telling = [0, 1, 10, 13, 0x22, 0x3f, 0x40, 0x5c, 0x7b, 0x7f, 0x80, 0xbf, 0xc0, 0xc1, 0xff];

/** Octets made from one sample by a few random changes: bits, octets, cuts, joints, repetitions, pointers. */
export function mutateOctets(samples: readonly Uint8Array[], integer: Integers): Uint8Array {
  let octets: Uint8Array = pick(samples, integer).slice();
  for (let change = integer(6); change >= 0; change--) {
    const at = integer(octets.length + 1);
    switch (integer(8)) {
      case 0:
        if (at < octets.length) octets[at]! ^= 1 << integer(8);
        break;
      case 1:
        if (at < octets.length) octets[at] = pick(telling, integer);
        break;
      case 2:
        if (at < octets.length) octets[at] = integer(256);
        break;
      case 3:
        octets = octets.slice(0, at);
        break;
      case 4:
        octets = joined(
          octets,
          Uint8Array.from({ length: integer(40) }, () => integer(256)),
        );
        break;
      case 5: {
        const other = pick(samples, integer);
        octets = joined(octets.subarray(0, at), other.subarray(integer(other.length)));
        break;
      }
      case 6: {
        const end = at + integer(30);
        octets = joined(octets.subarray(0, end), octets.subarray(at));
        break;
      }
      default:
        // A compression pointer of DNS; to others two octets.
        if (at + 1 < octets.length) {
          octets[at] = 0xc0 | integer(2);
          octets[at + 1] = integer(256);
        }
    }
  }
  return octets;
}

/** The same over text; what is no UTF-8 becomes U+FFFD. */
export function mutateText(samples: readonly string[], integer: Integers): string {
  const octets = samples.map((sample) => new TextEncoder().encode(sample));
  return new TextDecoder().decode(mutateOctets(octets, integer));
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
