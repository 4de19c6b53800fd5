import { createPrivateKey } from "node:crypto";
import { DnsError } from "../dns-error.ts";
import { octetsFromBase64, octetsToBase64 } from "../message/rdata-field.ts";
import { rdataFromText, rdataToText } from "../message/rdata.ts";
import { typeDnskey } from "../message/type-numbers.ts";
import { equalNames, nameFromText, nameToAbsoluteText, type Name } from "../name/name.ts";
import {
  algorithmEcdsaP256,
  dnskeyFlags,
  dnskeyOf,
  keyFromScalar,
  keyTagOf,
  type KeyTimes,
  type SigningKey,
} from "./signing-key.ts";

/** The two texts of a key pair as BIND keeps them: `Kname.+013+12345.key` and `.private`. */
export interface KeyFiles {
  readonly publicText: string;
  readonly privateText: string;
}

/** Key files, and what both are called before `.key` and `.private`. */
export interface NamedKeyFiles extends KeyFiles {
  readonly baseName: string;
}

const timeFields: ReadonlyMap<string, keyof KeyTimes> = new Map([
  ["Publish", "publish"],
  ["Activate", "activate"],
  ["Inactive", "retire"],
  ["Delete", "remove"],
]);

/**
 * Reads a key pair from BIND's files (Private-key-format v1.2 and v1.3) with its times. Without any time it is published
 * and active. BIND's SyncPublish and SyncDelete are left aside: a SEP key's DS is wanted from publish to retire.
 *
 * @throws DnsError `BadKey`, never with anything of the private text
 */
export function keyFromFiles(zone: string, { publicText, privateText }: KeyFiles): SigningKey {
  const fields = new Map<string, string>();
  for (const line of privateText.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
  }
  if (!(fields.get("Private-key-format") ?? "").startsWith("v1."))
    throw new DnsError(
      "BadKey",
      "the private key file has no Private-key-format of v1; take the file ending in .private",
    );
  const algorithm = Number.parseInt(fields.get("Algorithm") ?? "", 10);
  if (algorithm !== algorithmEcdsaP256)
    throw new DnsError(
      "BadKey",
      `the key is of algorithm ${algorithm}; only 13 (ECDSAP256SHA256) signs here`,
    );
  const dnskey = readPublicText(publicText, nameFromText(zone));
  const flags = (dnskey[0]! << 8) | dnskey[1]!;
  const key = keyFromScalar(scalarFromText(fields.get("PrivateKey") ?? ""), {
    secureEntryPoint: (flags & dnskeyFlags.secureEntryPoint) !== 0,
    times: readTimes(fields),
  });
  if (Buffer.compare(dnskeyOf(key), dnskey) !== 0)
    throw new DnsError(
      "BadKey",
      `the .key file (tag ${keyTagOf(dnskey)}) is not that of the .private file; give both of one pair`,
    );
  return key;
}

/** Writes a key pair as BIND's tools read it. The private text is secret. */
export function keyToFiles(zone: string, key: SigningKey): NamedKeyFiles {
  const owner = nameToAbsoluteText(nameFromText(zone));
  const dnskey = dnskeyOf(key);
  const tag = String(keyTagOf(dnskey)).padStart(5, "0");
  const lines = [
    "Private-key-format: v1.3",
    "Algorithm: 13 (ECDSAP256SHA256)",
    `PrivateKey: ${octetsToBase64(key.privateKey)}`,
    `Created: ${momentToText(key.times.publish)}`,
  ];
  for (const [field, time] of timeFields) {
    const seconds = key.times[time];
    if (seconds !== undefined) lines.push(`${field}: ${momentToText(seconds)}`);
  }
  return {
    baseName: `K${owner}+013+${tag}`,
    publicText: `${owner} IN DNSKEY ${rdataToText(typeDnskey, dnskey)}\n`,
    privateText: `${lines.join("\n")}\n`,
  };
}

/**
 * Reads a private key in PEM (PKCS8, or SEC1 as OpenSSL writes it), which tells neither its part nor its times.
 *
 * @throws DnsError `BadKey`, never with anything of the text
 */
export function keyFromPem(pem: string, fields: Pick<SigningKey, "secureEntryPoint" | "times">): SigningKey {
  let jwk: { readonly crv?: string; readonly d?: string };
  try {
    jwk = createPrivateKey(pem).export({ format: "jwk" });
  } catch {
    // The cause is left out: it may quote the text.
    throw new DnsError(
      "BadKey",
      "the text is no private key in PEM without a passphrase; write one by openssl genpkey",
    );
  }
  if (jwk.crv !== "P-256" || jwk.d === undefined)
    throw new DnsError(
      "BadKey",
      "the private key is not of P-256; write one by openssl genpkey -algorithm EC",
    );
  return keyFromScalar(Uint8Array.from(Buffer.from(jwk.d, "base64url")), fields);
}

function readPublicText(text: string, zone: Name): Uint8Array {
  for (const line of text.split(/\r?\n/)) {
    const match = /^(\S+)\s+(?:\d+\s+)?(?:IN\s+)?DNSKEY\s+([^;]+)/i.exec(line);
    if (match === null) continue;
    if (!equalNames(nameFromText(match[1]!), zone))
      throw new DnsError(
        "BadKey",
        `the key is of zone ${match[1]!}, not ${nameToAbsoluteText(zone)}; give that one's`,
      );
    return rdataFromText(typeDnskey, match[2]!.trim());
  }
  throw new DnsError("BadKey", "the public key file has no DNSKEY record; take the file ending in .key");
}

function scalarFromText(text: string): Uint8Array {
  try {
    return octetsFromBase64(text);
  } catch {
    throw new DnsError("BadKey", "the PrivateKey of the private key file is not base64; copy the file again");
  }
}

function readTimes(fields: ReadonlyMap<string, string>): KeyTimes {
  const times: Partial<Record<keyof KeyTimes, number>> = {};
  for (const [field, time] of timeFields) {
    const text = fields.get(field);
    if (text !== undefined) times[time] = momentFromText(text, field);
  }
  if (times.publish !== undefined) return { ...times, publish: times.publish };
  const publish = Math.min(0, times.activate ?? 0);
  return { activate: 0, ...times, publish };
}

function momentFromText(text: string, field: string): number {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)/.exec(text);
  if (parts === null)
    throw new DnsError("BadKey", `${field} of the private key file is no time; write YYYYMMDDHHMMSS`);
  const [year, month, day, hour, minute, second] = parts.slice(1).map(Number);
  return Date.UTC(year!, month! - 1, day, hour, minute, second) / 1000;
}

function momentToText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace(/[-:T]/g, "");
}
