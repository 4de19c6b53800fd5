import type { Clock } from "@meridian/runtime";
import { equalNames, foldName, nameToText } from "../name/name.ts";
import { wallSeconds } from "../wall-seconds.ts";
import { preparedKey } from "./prepared-key.ts";
import { macOctets } from "./tsig-key.ts";
import type { TsigKeyring } from "./tsig-keyring.ts";
import { computeMac, isStartOfMac, withId } from "./tsig-mac.ts";
import { appendTsig, findTsig, stripTsig, type TsigRecord } from "./tsig-record.ts";
import { tsigError, TsigSigner } from "./tsig-signer.ts";

/** What the signature of a request came to. */
export type RequestVerdict =
  | { readonly kind: "unsigned" }
  /** To be answered FORMERR. */
  | { readonly kind: "malformed" }
  | {
      readonly kind: "verified";
      /** Folded, without the trailing dot. */
      readonly key: string;
      /** A copy without the signature. */
      readonly message: Uint8Array;
      readonly signer: TsigSigner;
      /** All of the signature, and until when it is good, in seconds since the epoch. */
      readonly signature: { readonly mac: Uint8Array; readonly validUntilSeconds: number };
    }
  /** To be answered NOTAUTH; `seal` puts the TSIG record behind that answer which tells why (RFC 8945 §5.2). */
  | {
      readonly kind: "failed";
      readonly error: "BADKEY" | "BADSIG" | "BADTIME" | "BADTRUNC";
      /** As the request says, folded: nobody proved it where the error is BADKEY or BADSIG. */
      readonly key: string;
      readonly seal: (answer: Uint8Array) => Uint8Array;
    };

const noOctets = new Uint8Array();

/**
 * Verifies the octets of a request as they were received, in the order of RFC 8945 §5.2: key, MAC, time, truncation.
 * A key counts only with its own algorithm. Never throws.
 */
export function verifyRequest(
  message: Uint8Array,
  { keyring, clock }: { readonly keyring: TsigKeyring; readonly clock: Clock },
): RequestVerdict {
  const search = findTsig(message);
  if (search.kind !== "found") return { kind: search.kind === "none" ? "unsigned" : "malformed" };
  const { record } = search;
  const key = keyring.find(record.keyName);
  if (key === undefined || !equalNames(record.algorithm, preparedKey(key).algorithm))
    return unsignedFailure(record, "BADKEY");
  const octetsMax = macOctets(key.algorithm);
  // RFC 8945 §5.2.2.1: no longer than the hash, and not cut below half of it or 10 octets.
  if (record.mac.length > octetsMax) return { kind: "malformed" };
  if (record.mac.length < Math.max(10, octetsMax / 2))
    return record.mac.length === 0 ? unsignedFailure(record, "BADSIG") : { kind: "malformed" };
  const stripped = stripTsig(message, record);
  const whole = computeMac(key, { messages: [withId(stripped, record.originalId)], fields: record });
  if (!isStartOfMac(record.mac, whole)) return unsignedFailure(record, "BADSIG");
  const signer = new TsigSigner({ key, clock, request: record });
  if (Math.abs(wallSeconds(clock) - record.timeSigned) > record.fudge)
    return { kind: "failed", error: "BADTIME", key: key.name, seal: (answer) => signer.signBadTime(answer) };
  if (record.mac.length < (key.macOctetsMin ?? octetsMax))
    return {
      kind: "failed",
      error: "BADTRUNC",
      key: key.name,
      seal: (answer) => signer.signBadTrunc(answer),
    };
  const signature = { mac: whole, validUntilSeconds: record.timeSigned + record.fudge };
  return { kind: "verified", key: key.name, message: stripped, signer, signature };
}

/** Without a key there is nothing to sign with, and a wrong MAC proves nobody: the TSIG record then has no MAC. */
function unsignedFailure(record: TsigRecord, error: "BADKEY" | "BADSIG"): RequestVerdict {
  return {
    kind: "failed",
    error,
    key: nameToText(foldName(record.keyName)),
    seal: (answer) =>
      appendTsig(answer, {
        keyName: record.keyName,
        algorithm: record.algorithm,
        timeSigned: record.timeSigned,
        fudge: record.fudge,
        mac: noOctets,
        originalId: (answer[0]! << 8) | answer[1]!,
        error: error === "BADKEY" ? tsigError.badKey : tsigError.badSig,
        otherData: noOctets,
      }),
  };
}
