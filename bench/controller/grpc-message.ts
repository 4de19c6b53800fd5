/** A message with these texts as its fields 1, 2 and so on, as gRPC frames it: not compressed, its length, itself. */
export function grpcMessage(fields: readonly string[]): Buffer {
  const message = Buffer.concat(fields.map((text, at) => field(at + 1, text)));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** A field of octets in Protocol Buffers: number and type 2, length, octets. */
function field(number: number, text: string): Buffer {
  const octets = Buffer.from(text);
  const length: number[] = [];
  for (let rest = octets.length; ; rest >>>= 7) {
    length.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) break;
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), octets]);
}
