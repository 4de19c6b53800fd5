import { DnsError } from "../dns-error.ts";
import { foldName, nameFromText, nameToText } from "../name/name.ts";

/** The HMACs that are taken (RFC 8945 §6). MD5 and SHA-1 are refused. */
export type TsigAlgorithm = "hmac-sha224" | "hmac-sha256" | "hmac-sha384" | "hmac-sha512";

/** A shared secret, and the one algorithm that it is used with. */
export interface TsigKey {
  /** Folded to lower case, without the trailing dot. */
  readonly name: string;
  readonly algorithm: TsigAlgorithm;
  readonly secret: Uint8Array;
  /** Least octets of a MAC that are believed (RFC 8945 §5.2.4). Absent: all. */
  readonly macOctetsMin?: number;
}

/** A key as it stands in a Secret or a configuration. */
export interface TsigKeyText {
  readonly name: string;
  /** Such as `hmac-sha256`; `hmac-sha256-128` also believes MACs cut to 128 bits. */
  readonly algorithm: string;
  /** Base64. */
  readonly secret: string;
}

const macOctetsByAlgorithm: Readonly<Record<TsigAlgorithm, number>> = {
  "hmac-sha224": 28,
  "hmac-sha256": 32,
  "hmac-sha384": 48,
  "hmac-sha512": 64,
};
const algorithmsByName: ReadonlyMap<string, TsigAlgorithm> = new Map(
  (Object.keys(macOctetsByAlgorithm) as TsigAlgorithm[]).map((algorithm) => [algorithm, algorithm]),
);
/** Shorter secrets can be guessed. */
const secretOctetsMin = 8;

/** Reads a key. The message of an error never has the secret. @throws DnsError `BadKey` */
export function parseTsigKey({ name, algorithm, secret }: TsigKeyText): TsigKey {
  let folded: string;
  try {
    folded = nameToText(foldName(nameFromText(name)));
  } catch (cause) {
    throw new DnsError(
      "BadKey",
      `the name of a key, ${JSON.stringify(name)}, is no domain name; write it as both sides have it`,
      { cause },
    );
  }
  const known = readAlgorithm(algorithm, folded);
  const octets = readBase64(secret);
  if (octets === undefined) {
    throw new DnsError("BadKey", `the secret of key ${folded} is not base64; copy it again`);
  }
  if (octets.length < secretOctetsMin) {
    throw new DnsError(
      "BadKey",
      `the secret of key ${folded} has ${octets.length} octets, under ${secretOctetsMin}; make a longer one`,
    );
  }
  return { name: folded, secret: octets, ...known };
}

/** Octets of a whole MAC. */
export function macOctets(algorithm: TsigAlgorithm): number {
  return macOctetsByAlgorithm[algorithm];
}

function readAlgorithm(text: string, key: string): Pick<TsigKey, "algorithm" | "macOctetsMin"> {
  const [, base = "", bits] = /^(.*?)(?:-(\d+))?\.?$/.exec(text.toLowerCase()) ?? [];
  const algorithm = algorithmsByName.get(base);
  if (algorithm === undefined) {
    throw new DnsError(
      "BadKey",
      `algorithm ${JSON.stringify(text)} of key ${key} is not taken; use one of ${[...algorithmsByName.keys()].join(", ")}`,
    );
  }
  if (bits === undefined) return { algorithm };
  const octets = Number(bits) / 8;
  // RFC 8945 §5.2.2.1: not under 10 octets, nor under half of the hash.
  if (
    !Number.isInteger(octets) ||
    octets < Math.max(10, macOctets(algorithm) / 2) ||
    octets > macOctets(algorithm)
  ) {
    throw new DnsError(
      "BadKey",
      `${text} of key ${key} cuts the MAC to a length that is not allowed; leave out the -${bits}`,
    );
  }
  return { algorithm, macOctetsMin: octets };
}

function readBase64(text: string): Uint8Array | undefined {
  const packed = text.replace(/\s+/g, "");
  if (packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(packed)) return undefined;
  return Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
}
