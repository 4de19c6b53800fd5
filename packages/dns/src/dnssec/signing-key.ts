import { createECDH, createHash } from "node:crypto";
import { DnsError } from "../dns-error.ts";
import { rdataToText } from "../message/rdata.ts";
import { typeDs } from "../message/type-numbers.ts";
import { foldName, nameFromText, type Name } from "../name/name.ts";

/** ECDSA P-256 with SHA-256, the only algorithm that is signed with here (RFC 6605). */
export const algorithmEcdsaP256 = 13;
/** Flags of a DNSKEY: a zone key, and one that a DS record in the parent may point to (RFC 4034 §2.1.1). */
export const dnskeyFlags = { zone: 0x0100, secureEntryPoint: 0x0001 } as const;
const digestSha256 = 2;
const publicOctets = 64;
const privateOctets = 32;

/** When a key is what, in seconds since the epoch. Absent: not yet known. They follow each other. */
export interface KeyTimes {
  /** In the DNSKEY set from here on, and with the SEP flag in the CDS set. */
  readonly publish: number;
  /** Signs from here on. Absent: it waits, until caches, peers and the parent know it. */
  readonly activate?: number;
  /** Signs zone data no more, and is no more in the CDS set; still published, since caches hold its signatures. */
  readonly retire?: number;
  /** Gone. */
  readonly remove?: number;
}

/**
 * One of our key pairs. Plain data, so that threads can be sent it; secret, so never to be logged.
 *
 * With the SEP flag it signs the key sets (KSK); without it the zone's data (ZSK). Where a zone has no ZSK at all, its SEP
 * keys sign everything (CSK).
 */
export interface SigningKey {
  readonly secureEntryPoint: boolean;
  /** x and y of the public point, 64 octets (RFC 6605 §4). */
  readonly publicKey: Uint8Array;
  /** The private scalar, 32 octets. */
  readonly privateKey: Uint8Array;
  readonly times: KeyTimes;
}

/** A key of another cluster that answers the same zone (RFC 8901 model 2): published here, never signed with. */
export interface ForeignKey {
  /** The rdata of its DNSKEY record. */
  readonly dnskey: Uint8Array;
  /** Whether its owner wants a DS record for it now. */
  readonly wantsDs: boolean;
}

/** Everything that a zone is signed with. Structured-cloneable. */
export interface SigningKeys {
  readonly own: readonly SigningKey[];
  readonly foreign: readonly ForeignKey[];
}

/** What a key is at a moment. */
export type KeyState = "hidden" | "published" | "active" | "retired" | "removed";

export function keyState({ times }: SigningKey, now: number): KeyState {
  if (times.remove !== undefined && now >= times.remove) return "removed";
  if (times.retire !== undefined && now >= times.retire) return "retired";
  if (times.activate !== undefined && now >= times.activate) return "active";
  return now >= times.publish ? "published" : "hidden";
}

/** Whether a key is in the DNSKEY set. */
export function isPublished(key: SigningKey, now: number): boolean {
  const state = keyState(key, now);
  return state === "published" || state === "active" || state === "retired";
}

/** The DNSKEY rdata of a key of ours (RFC 4034 §2.1, RFC 6605 §4). */
export function dnskeyOf({ secureEntryPoint, publicKey }: SigningKey): Uint8Array {
  const flags = dnskeyFlags.zone | (secureEntryPoint ? dnskeyFlags.secureEntryPoint : 0);
  return Uint8Array.of(flags >>> 8, flags & 0xff, 3, algorithmEcdsaP256, ...publicKey);
}

/** The key tag of DNSKEY rdata (RFC 4034 appendix B). */
export function keyTagOf(dnskey: Uint8Array): number {
  let sum = 0;
  for (let index = 0; index < dnskey.length; index++)
    sum += (index & 1) === 0 ? dnskey[index]! << 8 : dnskey[index]!;
  return (sum + ((sum >>> 16) & 0xffff)) & 0xffff;
}

/** The DS record of a key in presentation form, for a parent that does not look for CDS. */
export function dsToText(zone: string, key: SigningKey): string {
  return rdataToText(typeDs, dsOf(nameFromText(zone), dnskeyOf(key)));
}

/** The DS rdata, digest SHA-256, of a key of the zone (RFC 4034 §5.1.4, RFC 4509). */
export function dsOf(zone: Name, dnskey: Uint8Array): Uint8Array {
  const tag = keyTagOf(dnskey);
  const digest = createHash("sha256").update(foldName(zone)).update(dnskey).digest();
  return Uint8Array.of(tag >>> 8, tag & 0xff, dnskey[3]!, digestSha256, ...digest);
}

/**
 * A key from its private scalar.
 *
 * @throws DnsError `BadKey` when it is none
 */
export function keyFromScalar(
  privateKey: Uint8Array,
  { secureEntryPoint, times }: Pick<SigningKey, "secureEntryPoint" | "times">,
): SigningKey {
  if (privateKey.length !== privateOctets)
    throw new DnsError("BadKey", `a P-256 private key has ${privateOctets} octets, not ${privateKey.length}`);
  checkTimes(times);
  const exchange = createECDH("prime256v1");
  try {
    exchange.setPrivateKey(privateKey);
  } catch (cause) {
    throw new DnsError("BadKey", "the private key is not a scalar of P-256; generate another one", { cause });
  }
  const point = exchange.getPublicKey();
  return {
    secureEntryPoint,
    publicKey: Uint8Array.from(point.subarray(1, 1 + publicOctets)),
    privateKey: Uint8Array.from(privateKey),
    times,
  };
}

function checkTimes({ publish, activate, retire, remove }: KeyTimes): void {
  const given = [publish, activate, retire, remove].filter((time) => time !== undefined);
  if (!given.every((time, index) => Number.isFinite(time) && (index === 0 || time >= given[index - 1]!)))
    throw new DnsError(
      "BadKey",
      "the times of a key do not follow each other; publish, activate, retire, remove",
    );
  if ((remove !== undefined || retire !== undefined) && activate === undefined)
    throw new DnsError("BadKey", "a key is retired that never signed; give it a time to activate");
}
