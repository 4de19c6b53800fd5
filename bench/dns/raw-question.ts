// Messages by hand: the bench must not judge a server with that server's own code.

const types = { A: 1, NS: 2, SOA: 6, AAAA: 28 } as const;

export interface RawQuestion {
  readonly id: number;
  readonly name: string;
  readonly type: keyof typeof types;
  /** The content of a COOKIE option to send (RFC 7873). */
  readonly cookie?: Uint8Array;
}

/** A query with RD and EDNS (1232 octets). */
export function composeRawQuestion(question: RawQuestion): Buffer {
  const cookie = question.cookie ?? new Uint8Array();
  const optionLength = cookie.length === 0 ? 0 : 4 + cookie.length;
  const header = Buffer.alloc(12);
  header.writeUInt16BE(question.id, 0);
  header.writeUInt16BE(0x0100, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(1, 10);
  const tail = Buffer.alloc(4);
  tail.writeUInt16BE(types[question.type], 0);
  tail.writeUInt16BE(1, 2);
  const opt = Buffer.alloc(11 + optionLength);
  opt.writeUInt16BE(41, 1);
  opt.writeUInt16BE(1232, 3);
  opt.writeUInt16BE(optionLength, 9);
  if (optionLength > 0) {
    opt.writeUInt16BE(10, 11);
    opt.writeUInt16BE(cookie.length, 13);
    opt.set(cookie, 15);
  }
  return Buffer.concat([header, rawName(question.name), tail, opt]);
}

/** A name in wire form. */
export function rawName(name: string): Buffer {
  const labels = name.split(".").filter((label) => label !== "");
  return Buffer.concat([
    ...labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, "ascii")])),
    Buffer.from([0]),
  ]);
}

export interface RawHeader {
  readonly id: number;
  readonly rcode: number;
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly answers: number;
  readonly authorities: number;
}

export function parseRawHeader(message: Buffer): RawHeader {
  return {
    id: message.readUInt16BE(0),
    rcode: message[3]! & 15,
    authoritative: (message[2]! & 4) !== 0,
    truncated: (message[2]! & 2) !== 0,
    answers: message.readUInt16BE(6),
    authorities: message.readUInt16BE(8),
  };
}
