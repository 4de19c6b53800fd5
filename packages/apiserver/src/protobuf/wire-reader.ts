/** A body that is no protobuf, or protobuf beyond the limits. */
export class WireError extends Error {
  override readonly name = "WireError";
}

/** The value of a field as it stands on the wire. */
export type WireValue =
  | { readonly kind: "varint"; readonly value: bigint }
  | { readonly kind: "fixed64"; readonly octets: Uint8Array }
  | { readonly kind: "fixed32"; readonly octets: Uint8Array }
  | { readonly kind: "octets"; readonly octets: Uint8Array };

/** Reads the fields of one message in order. @throws WireError */
export function* readFields(octets: Uint8Array): Generator<readonly [number: number, value: WireValue]> {
  const cursor = { octets, at: 0 };
  while (cursor.at < octets.length) {
    const tag = readVarint(cursor);
    const number = Number(tag >> 3n);
    if (number < 1 || number > 0x1fff_ffff) throw new WireError(`field number ${number} is out of range`);
    switch (Number(tag & 7n)) {
      case 0:
        yield [number, { kind: "varint", value: readVarint(cursor) }];
        break;
      case 1:
        yield [number, { kind: "fixed64", octets: take(cursor, 8) }];
        break;
      case 2:
        yield [number, { kind: "octets", octets: take(cursor, Number(readVarint(cursor))) }];
        break;
      case 5:
        yield [number, { kind: "fixed32", octets: take(cursor, 4) }];
        break;
      default:
        throw new WireError(`wire type ${Number(tag & 7n)} is not supported`);
    }
  }
}

interface Cursor {
  readonly octets: Uint8Array;
  at: number;
}

function readVarint(cursor: Cursor): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const octet = cursor.octets[cursor.at];
    if (octet === undefined) throw new WireError("the message ends within a number");
    cursor.at++;
    value |= BigInt(octet & 0x7f) << shift;
    if (octet < 0x80) return BigInt.asUintN(64, value);
  }
  throw new WireError("a number is longer than ten octets");
}

function take(cursor: Cursor, length: number): Uint8Array {
  const end = cursor.at + length;
  if (!(end <= cursor.octets.length)) throw new WireError("the message ends within a field");
  const taken = cursor.octets.subarray(cursor.at, end);
  cursor.at = end;
  return taken;
}
