import type { DatagramClient, LogFields } from "@meridian/runtime";

/** A message that needs more than a lookup, from whichever transport. */
export interface DnsRequest {
  /** As received, the TSIG record included. The request's own: nobody writes to it any more. */
  readonly message: Uint8Array;
  readonly client: Readonly<DatagramClient>;
  /** Aborts when the client is gone or the server closes. */
  readonly signal: AbortSignal;
}

/** Answers such messages: one message, several for a transfer, none for silence. */
export interface RequestPipeline {
  handle(request: DnsRequest): AsyncIterable<Uint8Array>;
}

/** What tells one signed message from all others, however often it is sent. */
export interface RequestSignature {
  /** All of it, whatever part was sent. */
  readonly mac: Uint8Array;
  /** Its time and fudge, since the epoch. */
  readonly validUntilSeconds: number;
}

/** A request whose signature, if it had one, was verified and taken off. */
export interface VerifiedRequest extends DnsRequest {
  /** The name of the key that signed it, folded, without the trailing dot; `undefined` where nobody signed. */
  readonly key: string | undefined;
  /** Present where there is a key. */
  readonly signature?: RequestSignature;
  /** Most octets of each answer; the signature has its own room beside them. */
  readonly octetsMax: number;
  /** Takes why the request is refused, for the log: the client learns no more than an rcode. The reason is constant. */
  readonly onRefused?: (reason: string, details?: LogFields) => void;
}

/** Answers one kind of request with plain messages, which are signed behind it where the request was. */
export type RequestHandler = (request: VerifiedRequest) => AsyncIterable<Uint8Array>;
