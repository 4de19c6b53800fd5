import { nameOctetsMax, type Name } from "../name/name.ts";

const labelOctetsMax = 63;

/**
 * The name that follows directly in canonical order (RFC 4034 §6.1), so that an NSEC record covers nothing but its owner:
 * `\000.name`, and where that is too long the successor of RFC 4471 §3.1.2 that RFC 4470 asks for. The name must be in
 * lower case and below an origin that is not itself too long.
 */
export function successorName(name: Name): Name {
  if (name.length + 2 <= nameOctetsMax) return Uint8Array.of(1, 0, ...name);
  const labelOctets = name[0]!;
  if (name.length < nameOctetsMax && labelOctets < labelOctetsMax) {
    return Uint8Array.of(
      labelOctets + 1,
      ...name.subarray(1, 1 + labelOctets),
      0,
      ...name.subarray(1 + labelOctets),
    );
  }
  return increased(name);
}

/** The name with its first label increased by one step; a label that cannot be increased goes. */
function increased(name: Name): Name {
  let length = name[0]!;
  while (length > 0 && name[length] === 0xff) length--;
  const rest = name.subarray(name[0]! + 1);
  if (length === 0) return increased(rest);
  const label = name.slice(0, length + 1);
  label[0] = length;
  // Capital letters do not occur in canonical names, so what follows @ is [.
  label[length] = label[length] === 0x40 ? 0x5b : label[length]! + 1;
  return Uint8Array.of(...label, ...rest);
}

/** NSEC rdata (RFC 4034 §4.1) that says which types a name has, and nothing of any other name. */
export function composeNsec(owner: Name, types: Iterable<number>): Uint8Array {
  return Uint8Array.of(...successorName(owner), ...composeTypeBitmap(types));
}

/** The windows of RFC 4034 §4.1.2. */
function composeTypeBitmap(types: Iterable<number>): number[] {
  const sorted = [...new Set(types)].sort((left, right) => left - right);
  const octets: number[] = [];
  for (let at = 0; at < sorted.length;) {
    const window = sorted[at]! >>> 8;
    const bits: number[] = [];
    for (; at < sorted.length && sorted[at]! >>> 8 === window; at++) {
      const low = sorted[at]! & 0xff;
      while (bits.length <= low >>> 3) bits.push(0);
      bits[low >>> 3]! |= 0x80 >>> (low & 7);
    }
    octets.push(window, bits.length, ...bits);
  }
  return octets;
}
