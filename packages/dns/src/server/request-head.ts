import { headerOctets, rcode } from "../message/header.ts";
import { OctetReader, OctetWriter } from "../message/octets.ts";
import { typeOpt } from "../message/type-numbers.ts";
import { readName, skipName } from "../message/wire-name.ts";
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
        /** The data of a client subnet option with scope 0, to be repeated (RFC 7871 §7.2.1), if there is one. */
        readonly subnet: Uint8Array | undefined;
      }
    | undefined;
  /** Whether any section is cut short, OPT is misplaced, or octets follow the last record. */
  readonly malformed: boolean;
}

/** Largest datagram to a client without EDNS, and the size that we advertise. */
const plainOctetsMax = 512;
const payloadSize = 1232;
/** Family, two prefix lengths and up to a whole IPv6 address. */
const subnetOctetsMin = 4;
const subnetOctetsMax = 20;
/** The options that speak of something else than the EDNS version have no place beside this (RFC 6891 §6.1.3). */

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
      head.edns = { payloadSize: payload, version, dnssecOk, ...readOptions(data) };
    }
    if (reader.remaining > 0) head.malformed = true;
  } catch {
    head.malformed = true;
  }
  return head;
}

/** What answers of any kind have to repeat. @throws DnsError `BadMessage` where an option is cut */
function readOptions(options: Uint8Array): Pick<NonNullable<RequestHead["edns"]>, "cookie" | "subnet"> {
  const reader = new OctetReader(options);
  let cookie: Uint8Array | undefined;
  let subnet: Uint8Array | undefined;
  while (reader.remaining > 0) {
    const code = reader.uint16();
    const data = reader.take(reader.uint16());
    const isCookie = code === optionCode.cookie && (data.length === 8 || data.length >= 16);
    if (isCookie) cookie ??= data.slice(0, 8);
    const isSubnet =
      code === optionCode.clientSubnet && data.length >= subnetOctetsMin && data.length <= subnetOctetsMax;
    if (isSubnet) subnet ??= Uint8Array.of(...data.subarray(0, 3), 0, ...data.subarray(4));
  }
  return { cookie, subnet };
}

/** Most octets of a datagram to the client. */
export function datagramOctetsMax({ edns }: RequestHead): number {
  return edns === undefined
    ? plainOctetsMax
    : Math.min(payloadSize, Math.max(plainOctetsMax, edns.payloadSize));
}

/** What an answer without records says. */
export interface EmptyAnswer {
  /** 12 bits, of which 8 need OPT. */
  readonly rcode: number;
  /** Then it is as short as can be. */
  readonly truncated?: boolean;
  /** Why (RFC 8914 §4). */
  readonly extendedError?: number | undefined;
}

/** An answer without records: header, question and, where the request had one, OPT. */
export function composeEmptyAnswer(
  head: RequestHead,
  { rcode: code, truncated = false, extendedError }: EmptyAnswer,
): Uint8Array {
  const writer = new OctetWriter();
  writer.uint16(head.id);
  writer.uint8(0x80 | (head.opcode << 3) | (truncated ? 2 : 0) | (head.recursionDesired ? 1 : 0));
  writer.uint8(code & 15);
  writer.uint16(head.question.length > 0 ? 1 : 0);
  writer.uint32(0);
  writer.uint16(head.edns === undefined ? 0 : 1);
  writer.octets(head.question);
  if (head.edns === undefined) return writer.take();
  const { dnssecOk, subnet } = head.edns;
  const hasOptions = !truncated && code !== rcode.badVers;
  const options = new OctetWriter();
  if (hasOptions && subnet !== undefined) writeOption(options, optionCode.clientSubnet, subnet);
  if (hasOptions && extendedError !== undefined)
    writeOption(options, optionCode.extendedError, Uint8Array.of(extendedError >>> 8, extendedError));
  const written = options.take();
  writer.uint8(0);
  writer.uint16(typeOpt);
  writer.uint16(payloadSize);
  writer.uint8(code >>> 4);
  writer.uint8(0);
  writer.uint16(dnssecOk ? 0x8000 : 0);
  writer.uint16(written.length);
  writer.octets(written);
  return writer.take();
}

function writeOption(writer: OctetWriter, code: number, data: Uint8Array): void {
  writer.uint16(code);
  writer.uint16(data.length);
  writer.octets(data);
}

/** The answer with everything but header, question and OPT taken out, and TC set. */
export function truncateAnswer(answer: Uint8Array, head: RequestHead): Uint8Array {
  const truncated = composeEmptyAnswer(head, { rcode: rcodeOf(answer), truncated: true });
  // AA and RD are the answer's.
  truncated[2] = answer[2]! | 2;
  return truncated;
}

/** All 12 bits of the response code of an answer, which is one of our own. */
function rcodeOf(answer: Uint8Array): number {
  const count = (at: number): number => (answer[at]! << 8) | answer[at + 1]!;
  let at = headerOctets;
  for (let left = count(4); left > 0; left--) at = skipName(answer, at) + 4;
  for (let left = count(6) + count(8) + count(10); left > 0; left--) {
    at = skipName(answer, at);
    if (count(at) === typeOpt) return (answer[at + 4]! << 4) | (answer[3]! & 15);
    at += 10 + count(at + 8);
  }
  return answer[3]! & 15;
}

/** Octets of an OPT record without options, and of a COOKIE option. */
const optOctets = 11;
const cookieOptionOctets = 4 + cookieOctets;

/**
 * An answer that has no record but OPT, with a COOKIE option put into it (RFC 7873 §5.2); any other answer, one that has a
 * cookie, and one that would be longer than `octetsMax`, as it is.
 */
export function addCookie(answer: Uint8Array, cookie: Uint8Array, octetsMax: number): Uint8Array {
  const counts = answer.subarray(6, 12);
  const hasOnlyOpt = counts.every((octet, index) => octet === (index === 5 ? 1 : 0));
  if (!hasOnlyOpt || answer.length + cookieOptionOctets > octetsMax) return answer;
  const optAt = answer[5] === 0 ? headerOctets : skipName(answer, headerOctets) + 4;
  if (answer[optAt + 2] !== typeOpt || readOptions(answer.subarray(optAt + optOctets)).cookie !== undefined)
    return answer;
  const whole = new Uint8Array(answer.length + cookieOptionOctets);
  whole.set(answer);
  const length = whole.length - optAt - optOctets;
  whole.set([length >>> 8, length], optAt + 9);
  whole.set([0, optionCode.cookie, 0, cookieOctets], answer.length);
  whole.set(cookie, answer.length + 4);
  return whole;
}
