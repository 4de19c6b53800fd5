import type { Clock } from "@meridian/runtime";
import { SignedRequest, type SingleReplyVerdict } from "../tsig/signed-request.ts";
import type { TsigKey } from "../tsig/tsig-key.ts";

/** What a reply that fits its question came to, before anybody reads it. */
export type SealedReply = SingleReplyVerdict;

/** A message as it leaves, and what tells whether a reply to it may be believed. */
export interface SealedMessage {
  readonly octets: Uint8Array;
  readonly accept: (reply: Uint8Array) => SealedReply;
}

/** Makes a message ready to leave once its id is known. */
export type Sealer = (message: Uint8Array) => SealedMessage;

/** Leaves messages as they are and believes every reply. */
const unsealed: Sealer = (message) => ({
  octets: message,
  accept: (reply) => ({ kind: "verified", message: reply }),
});

/** Signs messages, and believes only what is signed in return. */
export function sealerFor(options: {
  readonly key: TsigKey | undefined;
  readonly clock: Clock;
  /** What the server's clock is ahead of ours. */
  readonly offsetSeconds: number;
}): Sealer {
  const { key, clock, offsetSeconds } = options;
  if (key === undefined) return unsealed;
  return (message) => {
    const signed = new SignedRequest(message, { key, clock, offsetSeconds });
    return { octets: signed.message, accept: (reply) => signed.verify(reply) };
  };
}

/** Why a reply is not believed, for people. */
export function unprovedText({ reason, error }: Extract<SealedReply, { readonly kind: "unproved" }>): string {
  return error === undefined || reason.includes(error) ? reason : `${reason}; it claims ${error}`;
}
