import { headerOctets } from "../message/header.ts";
import { OctetReader, OctetWriter } from "../message/octets.ts";
import { typeOpt } from "../message/type-numbers.ts";
import { readName } from "../message/wire-name.ts";
import { optionCode } from "./query.ts";
import { cookieOctets } from "./server-cookie.ts";

/** What all requests have in common: header, question, EDNS. */
export interface RequestHead {
  readonly id: number;
  readonly opcode: number;
  readonly recursionDesired: boolean;
  readonly questionCount: number;
  /** Type and class of the first question; 0 where there is none. */
  readonly type: number;
  readonly class: number;
  /** The first question as it was sent, to be repeated; empty where there is none. */
  readonly question: Uint8Array;
  readonly edns:
    | {
        readonly payloadSize: number;
        readonly version: number;
        readonly dnssecOk: boolean;
        /** The client's part of a COOKIE option (RFC 7873 §4), if there is a well-formed one. */
        readonly cookie: Uint8Array | undefined;
      }
    | undefined;
  /** Whether any section is cut short, OPT is misplaced, or octets follow the last record. */
  readonly malformed: boolean;
}

/** Largest datagram to a client without EDNS, and the size that we advertise. */
const plainOctetsMax = 512;
const payloadSize = 1232;

/** Reads the head of a message of at least 12 octets; what cannot be read is left at its zero. Never throws. */
export function readRequestHead(message: Uint8Array): RequestHead {
  const reader = new OctetReader(message);
  const head = {
    id: reader.uint16(),
    opcode: (message[2]! >>> 3) & 15,
    recursionDesired: (message[2]! & 1) !== 0,
    questionCount: (message[4]! << 8) | message[5]!,
    type: 0,
    class: 0,
    question: new Uint8Array(),
    edns: undefined as RequestHead["edns"],
    malformed: false,
  };
  try {
    reader.take(4);
    const others = reader.uint16() + reader.uint16();
    const total = others + reader.uint16();
    for (let index = 0; index < head.questionCount; index++) {
      readName(reader);
      const type = reader.uint16();
      const recordClass = reader.uint16();
      if (index > 0) continue;
      head.type = type;
      head.class = recordClass;
      head.question = message.slice(headerOctets, reader.at);
    }
    for (let index = 0; index < total; index++) {
      const name = readName(reader);
      const type = reader.uint16();
      const payload = reader.uint16();
      reader.uint8();
      const version = reader.uint8();
      const dnssecOk = (reader.uint16() & 0x8000) !== 0;
      const data = reader.take(reader.uint16());
      if (type !== typeOpt) continue;
      if (index < others || name[0] !== 0 || head.edns !== undefined) head.malformed = true;
      head.edns = { payloadSize: payload, version, dnssecOk, cookie: readCookie(data) };
    }
    if (reader.remaining > 0) head.malformed = true;
  } catch {
    head.malformed = true;
  }
  return head;
}

/** The client's part of the first COOKIE option of an OPT record. @throws DnsError `BadMessage` where an option is cut */
function readCookie(options: Uint8Array): Uint8Array | undefined {
  const reader = new OctetReader(options);
  let cookie: Uint8Array | undefined;
  while (reader.remaining > 0) {
    const code = reader.uint16();
    const data = reader.take(reader.uint16());
    const isCookie = code === optionCode.cookie && (data.length === 8 || data.length >= 16);
    if (isCookie) cookie ??= data.slice(0, 8);
  }
  return cookie;
}

/** Most octets of a datagram to the client. */
export function datagramOctetsMax({ edns }: RequestHead): number {
  return edns === undefined
    ? plainOctetsMax
    : Math.min(payloadSize, Math.max(plainOctetsMax, edns.payloadSize));
}

/**
 * An answer without records: header, question and, where the request had one, OPT. `rcode` has 12 bits, of which 8 need
 * OPT.
 */
export function composeEmptyAnswer(
  head: RequestHead,
  { rcode, truncated = false }: { readonly rcode: number; readonly truncated?: boolean },
): Uint8Array {
  const writer = new OctetWriter();
  writer.uint16(head.id);
  writer.uint8(0x80 | (head.opcode << 3) | (truncated ? 2 : 0) | (head.recursionDesired ? 1 : 0));
  writer.uint8(rcode & 15);
  writer.uint16(head.question.length > 0 ? 1 : 0);
  writer.uint32(0);
  writer.uint16(head.edns === undefined ? 0 : 1);
  writer.octets(head.question);
  if (head.edns !== undefined) {
    writer.uint8(0);
    writer.uint16(typeOpt);
    writer.uint16(payloadSize);
    writer.uint8(rcode >>> 4);
    writer.uint8(0);
    writer.uint16(head.edns.dnssecOk ? 0x8000 : 0);
    writer.uint16(0);
  }
  return writer.take();
}

/** The answer with everything but header, question and OPT taken out, and TC set. */
export function truncateAnswer(answer: Uint8Array, head: RequestHead): Uint8Array {
  const truncated = composeEmptyAnswer(head, { rcode: answer[3]! & 15, truncated: true });
  // AA and RD are the answer's.
  truncated[2] = answer[2]! | 2;
  return truncated;
}

/** Octets of an OPT record without options, and of a COOKIE option. */
const optOctets = 11;
const cookieOptionOctets = 4 + cookieOctets;

/**
 * An answer that has no record but an empty OPT, with a COOKIE option put into it (RFC 7873 §5.2); any other answer, and one
 * that would be longer than `octetsMax`, as it is.
 */
export function addCookie(answer: Uint8Array, cookie: Uint8Array, octetsMax: number): Uint8Array {
  const counts = answer.subarray(6, 12);
  const isBare = counts.every((octet, index) => octet === (index === 5 ? 1 : 0));
  const optAt = answer.length - optOctets;
  if (!isBare || answer[optAt + 2] !== typeOpt || answer[answer.length - 1] !== 0) return answer;
  if (answer.length + cookieOptionOctets > octetsMax) return answer;
  const whole = new Uint8Array(answer.length + cookieOptionOctets);
  whole.set(answer);
  whole[answer.length - 1] = cookieOptionOctets;
  whole.set([0, optionCode.cookie, 0, cookieOctets], answer.length);
  whole.set(cookie, answer.length + 4);
  return whole;
}
