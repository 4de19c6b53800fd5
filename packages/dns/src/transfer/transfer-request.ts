import { headerOctets, rcode } from "../message/header.ts";
import { composeMessage, parseMessage, type Message } from "../message/message.ts";
import { OctetReader } from "../message/octets.ts";
import { typeOpt } from "../message/type-numbers.ts";
import { readName } from "../message/wire-name.ts";
import { foldName, nameToText, type Name } from "../name/name.ts";

/** What a peer asks for: a whole zone, or what is newer than a serial. */
export interface TransferQuestion {
  readonly id: number;
  /** In the case that was sent. */
  readonly zone: Name;
  /** Folded, without the trailing dot. */
  readonly origin: string;
  /** The serial that the peer has (RFC 1995 §3); `undefined` for AXFR. */
  readonly haveSerial: number | undefined;
  /** Name, type and class as sent. */
  readonly question: Uint8Array;
  readonly hasEdns: boolean;
  /** What fits into a datagram to the peer. */
  readonly payloadSize: number;
}

/** Why a transfer does not happen, as rcode and extended error (RFC 8914). */
export interface TransferRefusal {
  readonly rcode: number;
  readonly extendedError?: number;
}

/** Reads an AXFR or IXFR request; a number is the rcode to refuse it with. */
export function readTransferRequest(octets: Uint8Array): TransferQuestion | number {
  let message: Message;
  try {
    message = parseMessage(octets);
  } catch {
    return rcode.formErr;
  }
  const [asked] = message.questions;
  if (asked === undefined || message.questions.length !== 1 || message.opcode !== 0) return rcode.formErr;
  if (asked.class !== 1) return rcode.refused;
  let haveSerial: number | undefined;
  if (asked.type === "IXFR") {
    const soa = message.authority.find((record) => record.type === "SOA");
    if (soa === undefined) return rcode.formErr;
    haveSerial = Number(soa.data.split(" ")[2]);
  } else if (asked.type !== "AXFR") {
    return rcode.formErr;
  }
  const reader = new OctetReader(octets, headerOctets);
  const zone = readName(reader);
  return {
    id: message.id,
    zone,
    origin: nameToText(foldName(zone)),
    haveSerial,
    question: octets.slice(headerOctets, reader.at + 4),
    hasEdns: message.edns !== undefined,
    payloadSize: Math.min(1232, Math.max(512, message.edns?.payloadSize ?? 512)),
  };
}

/** The answer that refuses: no records, the question, and the reason where the peer speaks EDNS. */
export function composeRefusal(
  request: Uint8Array,
  { rcode: code, extendedError }: TransferRefusal,
): Uint8Array {
  let asked: Message | undefined;
  try {
    asked = parseMessage(request);
  } catch {
    // Then the header is all there is to reply to.
  }
  const options =
    extendedError === undefined
      ? []
      : [{ code: 15, octets: Uint8Array.of(extendedError >>> 8, extendedError) }];
  return composeMessage({
    id: (request[0]! << 8) | request[1]!,
    response: true,
    rcode: code,
    questions: asked?.questions ?? [],
    ...(asked?.edns === undefined
      ? {}
      : { edns: { payloadSize: 1232, version: 0, dnssecOk: false, options } }),
  });
}

/** An OPT record that says only that EDNS is spoken (RFC 6891 §6.1.2). */
export const plainOpt: Uint8Array = Uint8Array.of(0, 0, typeOpt, 1232 >>> 8, 1232 & 0xff, 0, 0, 0, 0, 0, 0);
