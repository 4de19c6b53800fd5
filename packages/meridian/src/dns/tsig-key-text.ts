import { parseTsigKey } from "@meridian/dns";
import type { Random } from "@meridian/runtime";

/** How many random octets make a secret of each algorithm: as many as its hash has. */
export const tsigSecretOctets = { "hmac-sha256": 32, "hmac-sha384": 48, "hmac-sha512": 64 } as const;

/** An algorithm that TSIG keys are made for. */
export type TsigKeyAlgorithm = keyof typeof tsigSecretOctets;

/** A new random TSIG key, as a key file in the form of `tsig-keygen`. @throws DnsError for what can be no name of a key */
export function tsigKeyText(
  random: Random,
  { name, algorithm }: { readonly name: string; readonly algorithm: TsigKeyAlgorithm },
): string {
  const secret = Buffer.from(random.bytes(tsigSecretOctets[algorithm])).toString("base64");
  // Whoever reads it back must get this key: a name that cannot be one is refused here.
  const key = parseTsigKey({ name, algorithm, secret });
  return `key "${key.name}" {\n\talgorithm ${algorithm};\n\tsecret "${secret}";\n};`;
}
